"""The text streamers of transformers as sources: ``TextIteratorStreamer`` and ``AsyncTextIteratorStreamer``.

In:  such a streamer, and, if it is to be run here, the call of ``generate()`` that writes to it.
Out: an asynchronous source of text for ``parse_stream``; what goes wrong, on either side, is a SourceError.

The texts come as the streamer cuts them, mostly word by word, and its queue has no bound: a slow reader doesn't slow
the generation. ``TokenStreamer`` has neither limit, and tells delimiters from text that only looks like them.
"""

from __future__ import annotations

import queue
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any, Self

from streamparse.adapters.huggingface.generation import Generate, GenerationThread
from streamparse.adapters.huggingface.stopping import StopSwitch
from streamparse.errors import SourceError, StreamparseError
from streamparse.graph.cleanup import close
from streamparse.graph.event_loop import trio_token
from streamparse.graph.thread import ThreadReader


def text_source(
    streamer: Any, generate: Generate | None = None, *, prefix: Any, stop: StopSwitch | None = None
) -> TextSource:
    """Make a source for ``parse_stream`` of a text streamer of transformers.

    ``generate`` is the call that writes to the streamer, such as ``functools.partial(model.generate, **inputs,
    streamer=streamer, stopping_criteria=[stop])``. It is called in a thread of its own when the first event is asked
    for, and what it raises is raised to the reader. Without it the generation is started elsewhere; give the streamer
    a ``timeout`` then, as nothing else tells that it has failed. ``prefix`` is the prompt, as ``parse_stream`` gets it.
    ``stop`` is the switch among the generation's ``stopping_criteria``; it is set when the source is closed.

    Raises SourceError for a streamer that gives what can't be parsed: without its special tokens, with the prompt
    although there is a prefix, or with blanks cleaned up; and for ``generate`` without ``stop``.
    """
    faults = [fault for applies, fault in _FAULTS if applies(streamer, prefix)]
    if faults:
        raise SourceError(f"{type(streamer).__name__} is set up so that its text can't be parsed: {'; '.join(faults)}")
    if generate is not None and stop is None:
        raise SourceError(
            "generate needs stop=: make a StopSwitch, call generate() with stopping_criteria=[stop], and pass it here, "
            "so that the generation ends with its reader"
        )
    return TextSource(streamer, generate, stop)


class TextSource:
    """The texts of a streamer; when it is closed, or nobody holds it any more, it sets the stop switch."""

    def __init__(self, streamer: Any, generate: Generate | None, stop: StopSwitch | None) -> None:
        self._streamer = streamer
        self._stop = stop
        self._outcome = _Outcome(streamer)
        self._thread = None if generate is None else GenerationThread(generate, self._outcome.note)
        is_asynchronous = hasattr(streamer, "__aiter__")
        self._texts = _as_they_come(streamer) if is_asynchronous else ThreadReader(_blocking(streamer))
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        """Give the text that has come by now, waiting for some if need be."""
        if self._ended:
            raise StopAsyncIteration
        if self._thread is not None:
            self._thread.start()
        try:
            return "".join(await anext(self._texts))
        except StopAsyncIteration:
            self._ended = True
            await self._wait_for_thread()
            if self._outcome.failure is not None:
                raise self._outcome.failure from self._outcome.failure.__cause__
            raise

    async def aclose(self) -> None:
        """Set the stop switch, and wait for the end of whatever reads the streamer, or was generating here."""
        self._let_go()
        await close(self._texts)
        await self._wait_for_thread()

    async def _wait_for_thread(self) -> None:
        """Wait until the generation has ended, and leave the streamer empty for the next one."""
        if self._thread is not None:
            await self._thread.wait()
            while not self._streamer.text_queue.empty():
                self._streamer.text_queue.get_nowait()

    def _let_go(self) -> None:
        if not self._ended:
            self._ended = True
            if self._stop is not None:
                self._stop.set()
            _end_text(self._streamer)

    def __del__(self) -> None:
        self._let_go()


class _Outcome:
    """How the generation went, noted by its thread; whoever waits for text then gets to know."""

    def __init__(self, streamer: Any) -> None:
        self._streamer = streamer
        self.failure: StreamparseError | None = None

    def note(self, failure: StreamparseError | None) -> None:
        self.failure = failure
        _end_text(self._streamer)  # generate() does this itself, but not when it has failed


def _end_text(streamer: Any) -> None:
    """Put the streamer's own mark of the end into its queue."""
    with suppress(RuntimeError):  # AsyncTextIteratorStreamer's event loop has ended, and nobody waits there
        streamer.on_finalized_text("", stream_end=True)


def _blocking(streamer: Any) -> Iterator[str]:
    """The texts of a TextIteratorStreamer, to be read in a thread."""
    try:
        yield from streamer
    except queue.Empty as error:
        raise _no_text(streamer) from error


async def _as_they_come(streamer: Any) -> AsyncIterator[list[str]]:
    """The texts of an AsyncTextIteratorStreamer, each as a batch of one."""
    if trio_token() is not None:
        raise SourceError("AsyncTextIteratorStreamer works on asyncio only; on trio use TextIteratorStreamer")
    try:
        async for text in streamer:
            yield [text]
    except TimeoutError as error:
        raise _no_text(streamer) from error


def _no_text(streamer: Any) -> SourceError:
    return SourceError(
        f"no text came for {streamer.timeout:g} seconds, the timeout of {type(streamer).__name__}: the generation has "
        "failed, or is slower than that"
    )


def _drops_special_tokens(streamer: Any, _prefix: Any) -> bool:
    return bool(streamer.decode_kwargs.get("skip_special_tokens"))


def _repeats_the_prompt(streamer: Any, prefix: Any) -> bool:
    return not streamer.skip_prompt and prefix is not None and len(prefix) > 0


def _cleans_up(streamer: Any, _prefix: Any) -> bool:
    name = "clean_up_tokenization_spaces"
    return bool(streamer.decode_kwargs.get(name, getattr(streamer.tokenizer, name, False)))


_FAULTS: tuple[tuple[Callable[[Any, Any], bool], str], ...] = (
    (
        _drops_special_tokens,
        "skip_special_tokens=True leaves out the tokens that tell reasoning, content and calls apart; make it with "
        "skip_special_tokens=False",
    ),
    (
        _repeats_the_prompt,
        "it gives the prompt as if the model had written it, while prefix= has it too; make it with skip_prompt=True",
    ),
    (
        _cleans_up,
        "clean_up_tokenization_spaces, the tokenizer's default or set by hand, removes blanks that the model wrote; "
        "make it with clean_up_tokenization_spaces=False",
    ),
)
"""Settings that would break parsing: the check, and what to do."""
