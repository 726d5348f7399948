"""Section: how long other tasks of the event loop have to wait while a large tool call is read.

A task that asks for a turn every millisecond stands for the rest of a server. The longest time between two of its turns
is shown for ``parse_stream`` and for the transformers parser in a task of the same loop, which gets the same pieces and
lets others run after each. For ``pump``, where the call is one of two generations, the longest time between two events
of the other one is shown too, of which the source gives a word every millisecond.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
from transformers.utils import chat_parsing

from benchmarks.table import Table, show_progress
from streamparse import End, KeyedParser, load_response_template, parse_stream, pump

SIZE, SIZE_QUICK = 800_000, 200_000  # below Limits.structured_text
PIECE = 65_536
TAG_PATTERN = r"<(?P<key>\w+)>(?P<value>.*?)</\1>"


def rows(size: int) -> str:
    """Many small objects."""
    count = size // 78
    return json.dumps([{"id": i, "name": f"the name of number {i}", "ok": True, "share": i / 7} for i in range(count)])


def one_string(size: int) -> str:
    """A file as an argument."""
    line = 'print("a line of a file")\n'
    return json.dumps({"name": "write", "arguments": {"content": line * (size // (len(line) + 3))}})


def numbers(size: int) -> str:
    """A list of numbers."""
    return json.dumps([0.25] * (size // 6))


def tags(size: int) -> str:
    """Many arguments in tags."""
    return "".join(f"<key{i}>some value of a key</key{i}>" for i in range(size // 44))


def python_calls(size: int) -> str:
    """Many calls as Python writes them."""
    return "[" + ", ".join(f"call(number={i}, text='some text', flag=True)" for i in range(size // 52)) + "]"


CALLS: dict[str, tuple[str, Callable[[int], str]]] = {
    "JSON, many objects": ("json", rows),
    "JSON, one string": ("json", one_string),
    "JSON, numbers": ("json", numbers),
    "tags": ("xml-inline", tags),
    "Python calls": ("python-call-list", python_calls),
}


def template(content: str) -> dict[str, Any]:
    """A template with one structured field."""
    arguments = {"content_args": {"tag_pattern": TAG_PATTERN}} if content == "xml-inline" else {}
    field = {"open": "<call>", "close": "</call>", "content": content, **arguments}
    return {"start_anchor": "<|im_start|>", "fields": {"content": {}, "calls": field}}


async def pieces(text: str) -> AsyncIterator[str]:
    """A source that never waits."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


async def longest_gap(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """The longest time between two turns of a task beside the work, and how long the work took, in seconds."""
    longest, last, done = 0.0, time.perf_counter(), False

    async def tick() -> None:
        nonlocal longest, last
        while not done:
            await anyio.sleep(0.001)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    gc.collect()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        await anyio.sleep(0.02)
        begun = last = time.perf_counter()
        longest = 0.0
        await work()
        took = time.perf_counter() - begun
        await anyio.sleep(0.005)
        done = True
    return longest, took


def reading(content: str, text: str, errors: Any) -> Callable[[], Awaitable[object]]:
    """``parse_stream``."""
    loaded = load_response_template(template(content))

    async def work() -> object:
        async with parse_stream(pieces(text), loaded, prefix="", errors=errors) as stream:
            async for _ in stream:
                pass
            return stream.message

    return work


def beside(content: str, text: str, gaps: list[float]) -> Callable[[], Awaitable[object]]:
    """``pump`` over a call and another generation, whose longest time between two events is added to ``gaps``."""
    loaded = load_response_template(template(content))
    told = False

    async def steps() -> AsyncIterator[list[tuple[str, object]]]:
        async for piece in pieces(text):
            yield [("call", piece), ("other", "word ")]
        yield [("call", End("stop"))]
        while not told:
            await anyio.sleep(0.001)
            yield [("other", "word ")]

    async def work() -> object:
        nonlocal told
        longest, last = 0.0, time.perf_counter()
        async with pump(steps(), KeyedParser(loaded, prefix="")) as batches:
            async for batch in batches:
                now = time.perf_counter()
                for key, events in batch:
                    if key == "other":
                        longest, last = max(longest, now - last), now
                    elif events[-1]["type"] == "message":
                        told = True
        gaps.append(longest)
        return told

    return work


def peer(content: str, text: str) -> Callable[[], Awaitable[object]]:
    """The transformers parser, with a turn for others after each piece."""
    source = template(content)

    async def work() -> object:
        parser = chat_parsing.ResponseParser(source, prefix="")
        async for piece in pieces(text):
            parser.feed(piece)
            await anyio.lowlevel.checkpoint()
        return parser.finalize()

    return work


def report(*, quick: bool) -> None:
    """Print the section: for each call, the longest gap beside each reader, and how long the reading took."""
    size = SIZE_QUICK if quick else SIZE
    title = f"Longest gap of a ticker beside a call of {size:,} characters in pieces of {PIECE:,}, ms (seconds in all)"
    columns = ("asyncio", "trio", "strict, asyncio", "pump, asyncio", "its other generation", "transformers")
    table = Table(title, ("call", *columns))
    for name, (content, make) in CALLS.items():
        show_progress(name)
        text = f"Here it is: <call>{make(size)}</call> Done."
        figures = []
        of_the_other: list[float] = []
        for work, backend in (
            (reading(content, text, "report"), "asyncio"),
            (reading(content, text, "report"), "trio"),
            (reading(content, text, "strict"), "asyncio"),
            (beside(content, text, of_the_other), "asyncio"),
            (peer(content, text), "asyncio"),
        ):
            gap, took = anyio.run(longest_gap, work, backend=backend)
            figures.append(f"{gap * 1e3:.0f} ({took:.1f} s)")
        figures.insert(-1, f"{of_the_other[0] * 1e3:.0f}")
        table.row(name, *figures)
