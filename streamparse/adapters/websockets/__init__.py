"""Events over websockets: a server, the message format, a client for browsers, and sockets as sources.

server.py              a server of generations: ``EventServer``
generations.py         … its generations, by name
session.py             … one client of it
messages.py            … what clients and servers say; messages.schema.json is the same as a JSON Schema
socket.py              a socket as the above see it; close codes and errors
library.py             … over the websockets library: ``serve``, ``LibrarySocket``
asgi.py                … over ASGI: ``EventApp``, ``AsgiSocket``
source.py              a socket as a source of text, bytes or token ids: ``SocketSource``
client.js              the client for browsers, an ES module
fold.py                what a UI shows, folded from events; the same fold as in client.js
"""

from streamparse.adapters.websockets.fold import fold, new_state
from streamparse.adapters.websockets.server import EventServer
from streamparse.adapters.websockets.socket import ProtocolError, RefusedError, SocketClosedError
from streamparse.adapters.websockets.source import SocketSource, token_ids

__all__ = [
    "EventServer",
    "ProtocolError",
    "RefusedError",
    "SocketClosedError",
    "SocketSource",
    "fold",
    "new_state",
    "token_ids",
]
