"""Where the events of a generation are kept, so that a reader that went away takes up the stream where it left it.

=================  ==============================================================================
``history``        the protocol: ``Store``, its ``Writer`` and its readers, and their errors
``reading``        what all readers have in common
``memory``         a store in this process
``redis_streams``  a store in Redis Streams, which any process reads (the extra ``redis``)
``server_sent``    numbered events as server-sent events, with the number as id
=================  ==============================================================================

A generation has one writer for good. Its readers get each event once and in order, from any number on, in any process
that has the store; they stop when they like, which doesn't stop the generation: that takes ``Store.stop``.
"""

from streamparse.adapters.store.history import (
    FencedError,
    Followed,
    ForgottenError,
    NumberedEvent,
    Store,
    StoreError,
    TakenError,
    Writer,
    WriterLostError,
)
from streamparse.adapters.store.memory import MemoryStore

__all__ = [
    "FencedError",
    "Followed",
    "ForgottenError",
    "MemoryStore",
    "NumberedEvent",
    "Store",
    "StoreError",
    "TakenError",
    "Writer",
    "WriterLostError",
    "open_store",
]


def open_store(where: str) -> Store:
    """Make the store that a text names: ``memory``, or the URL of a Redis, such as ``redis://localhost:6379/0``.

    Raises StoreError for any other text.

    >>> open_store("memory")
    MemoryStore()
    """
    if where == "memory":
        return MemoryStore()
    if where.startswith(("redis://", "rediss://", "unix://")):
        from streamparse.adapters.store.redis_streams import RedisStore

        return RedisStore.at(where)
    raise StoreError(f"there is no store {where!r}; give memory, or a URL such as redis://localhost:6379/0")
