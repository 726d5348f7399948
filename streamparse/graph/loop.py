"""``async for`` over a graph: one coroutine runs the fast path, from the source to the consumer.

In:  a graph. Out: its items.

A cancellation means different things to ``async for`` and ``anext()``. Cancelling an ``async for`` ends the stream: the
source is pulled in the reader's own task and closed before the cancellation propagates. Cancelling an ``anext()``, as a
deadline does, ends that one wait: it must not reach the source, so another task pulls that (``shield.py``).
"""

from __future__ import annotations

import dis
import sys
from typing import TYPE_CHECKING, Any, Self

from streamparse.graph.fast_path import PIECE, SMALL, UNTIL_REST

if TYPE_CHECKING:
    from streamparse.graph.graph import Graph

_GET_AITER = dis.opmap["GET_AITER"]


def is_begun_by_async_for(depth: int = 2) -> bool:
    """Whether the ``__aiter__`` that asks was called by ``async for``, and not by ``aiter()`` or from compiled code.

    To say no is always safe: ``anext()`` gives the same items, and takes longer for each.
    """
    frame = sys._getframe(depth)
    return frame.f_code.co_code[frame.f_lasti] == _GET_AITER


class Loop:
    """What ``async for`` iterates over; items go to one reader, whether by this or by the graph itself."""

    __slots__ = ("_graph",)

    def __init__(self, graph: Graph[Any]) -> None:
        self._graph = graph

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        """Return the next item; nearly every piece takes the fast path, in this coroutine alone."""
        graph = self._graph
        fast = graph._fast_now
        if fast is None or fast.taken is not None:
            return await graph._next()
        fast.taken = fast.who()
        feeding = False
        try:
            if fast.go_on is None:
                piece = await fast.pull()
            else:
                waiting = fast.pull()
                try:
                    trap = waiting.send(None)
                except StopIteration as given:
                    piece = given.value
                else:
                    piece = await fast.go_on(waiting, trap)
            if type(piece) is str and len(piece) < SMALL:
                fast.passed = passed = fast.passed + PIECE + len(piece)
                feeding = True
                made = fast.feed(piece)
                if type(made) is not list:  # a machine of the user's may give anything that can be iterated over
                    made = list(made)
                if len(made) == 1 and passed & UNTIL_REST:
                    return made[0]
                feeding = False
                graph._take(made, fast)
            else:
                graph._feed(graph._reader.accept(piece))
        except BaseException as error:
            if feeding:
                fast.not_one += 1
                await graph._fail(error, fast.name)
            elif isinstance(error, StopAsyncIteration):
                graph._ended = True
            elif not graph._reader.was_interrupted(error):
                await graph._fail(error)
        finally:
            fast.taken = None
        return await graph._next()
