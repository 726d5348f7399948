"""``async for`` over a graph: the short way of a piece, from the source to whoever iterates, in one coroutine.

In:  a graph. Out: its items.

``async for`` and ``anext()`` differ in what a cancellation means. Who cancels an ``async for`` has no more use for the
source, which is pulled in the reader's own task and closed before the cancellation goes on. Who cancels an ``anext()``,
as a deadline does, means that one wait: it must not reach the source, which costs a task (``shield.py``).
"""

from __future__ import annotations

import dis
import sys
from typing import TYPE_CHECKING, Any, Self

from streamparse.graph.direct import PIECE, SMALL, UNTIL_REST

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
        """Give the next item; most pieces of most generations take the direct way, in this one coroutine."""
        graph = self._graph
        direct = graph._direct_now
        if direct is None or direct.taken is not None:
            return await graph._next()
        direct.taken = direct.who()
        feeding = False
        try:
            if direct.go_on is None:
                piece = await direct.pull()
            else:
                waiting = direct.pull()
                try:
                    trap = waiting.send(None)
                except StopIteration as given:
                    piece = given.value
                else:
                    piece = await direct.go_on(waiting, trap)
            if type(piece) is str and len(piece) < SMALL:
                direct.passed = passed = direct.passed + PIECE + len(piece)
                feeding = True
                made = direct.feed(piece)
                if type(made) is not list:  # a machine of the user's may give anything that can be iterated over
                    made = list(made)
                if len(made) == 1 and passed & UNTIL_REST:
                    return made[0]
                feeding = False
                graph._take(made, direct)
            else:
                graph._feed(graph._reader.accept(piece))
        except BaseException as error:
            if feeding:
                direct.not_one += 1
                await graph._fail(error, direct.name)
            elif isinstance(error, StopAsyncIteration):
                graph._ended = True
            elif not graph._reader.was_interrupted(error):
                await graph._fail(error)
        finally:
            direct.taken = None
        return await graph._next()
