"""Events over websockets: the message format, and what both ends make of it.

messages.schema.json   the messages, as a JSON Schema
client.js              the client for browsers, an ES module
fold.py                what a UI shows, folded from events; the same fold as in client.js
"""

from streamparse.adapters.websockets.fold import fold, new_state

__all__ = ["fold", "new_state"]
