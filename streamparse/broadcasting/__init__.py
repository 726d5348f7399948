"""Broadcast: one generation to many consumers, each at its own pace, also to those that join or reconnect later.

The folder is not called ``broadcast``, since ``streamparse.broadcast`` is the function.
"""

from streamparse.broadcasting.broadcast import Broadcast, broadcast
from streamparse.broadcasting.consumer import Consumer

__all__ = ["Broadcast", "Consumer", "broadcast"]
