"""A streamer for ``generate(streamer=…)`` that hands on token ids, holds the generation back, and can end it.

In:  what ``generate()`` puts: the prompt's ids, of shape (1, tokens) or (tokens,), then those of each step, of shape
     (1,), or (1, tokens) where a step writes several (assisted generation).
Out: an asynchronous source: lists of token ids as they come, then an ``End`` with the finish reason and the usage.

    generating thread                                  event loop
    generate() ▸ put(ids) ▸ [bounded: it waits here] ▸ TokenSource ▸ parse_stream(…, tokenizer=tokenizer)
         ▲                                                  │
         └── stop switch, asked after each token ◂── closed, cancelled, or nobody holds it any more

The interface is that of ``transformers.generation.streamers.BaseStreamer`` (``put`` and ``end``); neither transformers
nor torch is imported, and anything with ``tolist()`` will do for ids.
"""

from __future__ import annotations

from typing import Any, Self

from streamparse.adapters.huggingface.finish import Ending
from streamparse.adapters.huggingface.generation import Generate, GenerationThread
from streamparse.adapters.huggingface.stopping import StopSwitch
from streamparse.errors import ChannelClosedError, SourceError, StreamparseError
from streamparse.graph import End
from streamparse.graph.coalescing import ITEM_WEIGHT
from streamparse.graph.event_loop import soon_caller
from streamparse.graph.mailbox import Mailbox
from streamparse.tokens.ids import as_ids

AHEAD = 256
"""How many tokens a generation may be ahead of its reader if nothing else is said."""


class TokenStreamer:
    """Goes to ``generate(streamer=…)`` and, as a source, to ``parse_stream``; for one generation of one sequence.

    ``ahead`` is how many tokens the generation may be ahead of its reader before ``put`` makes it wait. ``ending``
    tells how the generation's end is to be understood; without it the finish reason is None. Its stop switch,
    ``streamer.stop``, belongs into ``generate(stopping_criteria=[streamer.stop])``: ``generate()`` then returns after
    the token that it is writing once the reader has gone. Without it ``put`` raises ChannelClosedError then, which
    ends ``generate()`` too.

    >>> import numpy as np
    >>> from streamparse import parse_stream
    >>> class Characters:
    ...     decode = staticmethod(lambda ids: "".join(map(chr, ids)))
    >>> streamer = TokenStreamer()
    >>> def generate() -> None:  # stands for model.generate(**inputs, streamer=streamer, …)
    ...     streamer.put(np.array([[1, 2, 3]]))
    ...     for token_id in map(ord, "<think>Hm</think>Hi"):
    ...         streamer.put(np.array([token_id]))
    ...     streamer.end()
    >>> async def main() -> None:
    ...     async with parse_stream(streamer.source(generate), "qwen3", prefix="", tokenizer=Characters()) as events:
    ...         print([event async for event in events][-1]["message"])
    >>> import anyio
    >>> anyio.run(main)
    {'role': 'assistant', 'reasoning_content': 'Hm', 'content': 'Hi'}
    """

    def __init__(self, *, ahead: int = AHEAD, ending: Ending | None = None) -> None:
        self.stop = StopSwitch()
        self._mailbox = Mailbox(ahead * ITEM_WEIGHT)
        self._account = _Account(ending)
        self._has_source = False
        self._ends_with_thread = False

    def put(self, value: Any) -> None:
        """Take the ids of one step, or, the first time, those of the prompt, which are left out.

        Waits while the reader is ``ahead`` tokens behind. Raises SourceError for a batch of several sequences, which
        the reader gets too, and ChannelClosedError once nobody reads any more, unless the stop switch is in use.
        """
        account = self._account
        try:
            ids = _ids_of_one_sequence(value, is_step=account.prompt is not None)
        except StreamparseError as error:
            self._mailbox.end(error)
            raise
        if account.prompt is None:
            account.prompt = len(ids)
            return
        for token_id in ids:
            if not self._mailbox.put(token_id):
                break
            account.tokens += 1
            account.last = token_id
        else:
            return
        if not self.stop.asked:
            self._mailbox.end(None)
            raise ChannelClosedError(
                "nobody reads this generation any more; to have generate() return instead of raising this, call it "
                "with stopping_criteria=[streamer.stop]"
            )

    def end(self) -> None:
        """Take note that ``generate()`` has come to its end."""
        if not self._ends_with_thread:
            self._mailbox.end(None)

    def source(self, generate: Generate | None = None) -> TokenSource:
        """Give the reader's side: a source for ``parse_stream``, once.

        With ``generate``, such as ``functools.partial(model.generate, **inputs, streamer=streamer,
        stopping_criteria=[streamer.stop])``, it is called in a thread of its own when the first event is asked for;
        what it raises is raised to the reader as SourceError, and closing waits for it. Without it ``generate()`` is
        called elsewhere, and what it raises stays there.
        """
        if self._has_source:
            raise SourceError("a TokenStreamer has one reader and serves one generation; make another one")
        self._has_source = True
        self._ends_with_thread = generate is not None
        thread = None if generate is None else GenerationThread(generate, self._end_with_thread)
        return TokenSource(self._mailbox, self._account, self.stop, thread)

    def __aiter__(self) -> TokenSource:
        return self.source()

    def _end_with_thread(self, failure: StreamparseError | None) -> None:
        if failure is None and self._account.prompt is None:
            failure = SourceError("generate() has returned and did not use the streamer: pass it as streamer=streamer")
        self._mailbox.end(failure)


class TokenSource:
    """The reader's side of a ``TokenStreamer``: gives lists of token ids, then an ``End``.

    When it is closed, or nobody holds it any more, the generation ends after the token that it is writing.
    """

    def __init__(self, mailbox: Mailbox, account: _Account, stop: StopSwitch, thread: GenerationThread | None) -> None:
        self._mailbox = mailbox
        self._account = account
        self._stop = stop
        self._thread = thread
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> list[int] | End:
        """Give the ids that have come by now, waiting for some if need be."""
        if self._ended:
            raise StopAsyncIteration
        if self._mailbox.wake is None:
            self._mailbox.wake = soon_caller()
            if self._thread is not None:
                self._thread.start()
        try:
            return await self._mailbox.take()
        except StopAsyncIteration:
            self._ended = True
            return self._account.end(stopped=self._stop.is_set)

    async def aclose(self) -> None:
        """End the generation, and wait until it has ended."""
        self._let_go()
        if self._thread is not None:
            await self._thread.wait()
        elif self._account.prompt is not None:  # it was begun elsewhere
            self._mailbox.wake = soon_caller()
            await self._mailbox.wait_for_end()

    def _let_go(self) -> None:
        self._ended = True
        self._stop.set()
        self._mailbox.stop()

    def __del__(self) -> None:
        self._let_go()


class _Account:
    """What the generating thread notes for the end: tokens of the prompt, tokens since, and the last one."""

    def __init__(self, ending: Ending | None) -> None:
        self._ending = ending
        self.prompt: int | None = None
        self.tokens = 0
        self.last: int | None = None

    def end(self, *, stopped: bool) -> End:
        """Give the end of the source; a generation that was stopped from outside has no finish reason."""
        prompt = self.prompt or 0
        reason = None
        if self._ending is not None and not stopped:
            reason = self._ending.finish_reason(prompt=prompt, tokens=self.tokens, last=self.last)
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": self.tokens,
            "total_tokens": prompt + self.tokens,
        }
        return End(reason, usage)


def _ids_of_one_sequence(value: Any, *, is_step: bool) -> list[int]:
    """The ids as a list; raises SourceError where there are those of several sequences.

    Those are rows in two dimensions, and in one, where it is a step's, elements: one id for each sequence.
    """
    shape: tuple[int, ...] = getattr(value, "shape", ())
    sequences = shape[0] if len(shape) > 1 or (shape and is_step) else 1
    if sequences > 1:
        raise SourceError(
            f"a TokenStreamer takes one sequence, but generate() writes {sequences} at once: call it once for each "
            "prompt, with num_return_sequences=1 and a streamer of its own"
        )
    return as_ids(value[0] if len(shape) > 1 else value)
