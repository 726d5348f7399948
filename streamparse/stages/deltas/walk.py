"""Remembers what pieces of text did to a call's arguments, so that a piece that comes again is not read again.

A model writes its text in tokens, and few tokens make most of a text: the quotes, commas and indentations of JSON, the
words of prose. Where the reading stands at one of its points (``BracketReader.point``, ``Arguments.point``), a piece of
text always does the same: something goes out, and the reading comes to another point. A ``Walk`` goes from ``Step`` to
``Step`` by what is known; what isn't is left to the reader, which is first taken to where the walk has come.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol

from streamparse.formats.brackets import CONSTANTS, POINT_AT_MOST, WORD
from streamparse.formats.compact import SLOT, Passing
from streamparse.formats.reader import NotCertain
from streamparse.stages.deltas.arguments import Arguments

PART = re.compile(r"[-+.\w]++|[^-+.\w]++")
"""What a text that is longer than tokens are is cut into."""

NUMBER_ALONE = re.compile(rf"[ \t\n\r]*+((?!(?:{'|'.join(CONSTANTS)})\Z)[-+.\w]++)")

READ_BEFORE = 32
"""How many pieces are read before anything is remembered: a short call has come to its end by then."""

STEPS_AT_MOST = 500
PIECES_AT_MOST = 20_000
PIECE_AT_MOST = 24
"""How many steps and pieces of text are remembered, and how long the pieces are that are."""

CUT_AT_MOST = 256
"""How long a text is at most that is cut into parts; a longer one costs the reader less as it is."""


class PointReader(Protocol):
    """A reader that can be at points: it reads the same text the same each time it goes on from the same point."""

    @property
    def point(self) -> Any:
        """Where the reading is, but for the ``word``; None where it is at no point."""

    @property
    def passing(self) -> Passing | None:
        """How text goes out that is simply more of the present string; None where no text does."""

    @property
    def word(self) -> str | None:
        """The number that is being read, of which there are too many to be known; None where none is."""

    def go_to(self, point: Any, word: str) -> None:
        """Go to a point that the reading has been at, with the word of a value so far."""

    def compact_word(self, word: str) -> str:
        """The value that a word stands for, as compact JSON; raises NotCertain where it stands for none."""


class Step(dict[str, tuple[str, "Step"]]):
    """A point: for each piece of text that is known there, what goes out, and the step that follows.

    Pieces that lead into a word are in ``begins`` instead, with the beginning of the word. In a word, which differs
    from time to time, those that end it are in ``ends``, also with that of the word they lead into, if they do; where
    the word that has ended stands in what goes out there is a ``SLOT``. ``word`` is the step in the word that begins
    right here.
    """

    __slots__ = ("begins", "ends", "in_word", "passing", "point", "word")

    def __init__(self, point: Any, passing: Passing | None, *, in_word: bool) -> None:
        super().__init__()
        self.point = point
        self.passing = passing
        self.in_word = in_word
        self.begins = self.ends = _NOTHING
        self.word: Step | None = None


_NOTHING: dict[str, tuple[str, Step, str]] = {}
"""Nothing is known yet: most steps stay without any such pieces."""

NOWHERE = Step(None, None, in_word=False)
"""The step where the reading stands at no point: nothing is known."""


class Steps:
    """What is known of the calls of one field: the steps by their points."""

    def __init__(self) -> None:
        self._steps: dict[Any, Step] = {}
        self._pieces = 0
        self._to_read = READ_BEFORE

    def at(self, reader: PointReader, arguments: Arguments) -> Step:
        """The step at which the reading stands."""
        if self._to_read:
            self._to_read -= 1
            return NOWHERE
        reading = reader.point if arguments.passes_on and not arguments.complete else None
        if reading is None:
            return NOWHERE
        point = reading, arguments.point
        step = self._steps.get(point)
        if step is None:
            if len(self._steps) >= STEPS_AT_MOST:
                self._steps.clear()
                self._pieces = 0
            step = self._steps[point] = Step(point, reader.passing, in_word=reader.word is not None)
        return step

    def learn(self, step: Step, text: str, piece: str, following: Step, word: str = "") -> None:
        """Remember what a piece of text did, which led into the ``word`` if the following step is in one."""
        if len(text) > PIECE_AT_MOST or self._pieces >= PIECES_AT_MOST:
            return
        self._pieces += 1
        if step.in_word:
            if step.ends is _NOTHING:
                step.ends = {}
            step.ends[text] = piece, following, word
        elif following.in_word:
            if step.begins is _NOTHING:
                step.begins = {}
            step.begins[text] = piece, following, word
        else:
            step[text] = piece, following


class Walk:
    """Where the reading of one call's arguments stands, by what is known in ``steps``.

    Whoever gives out a piece of the region may go on by what the present ``step`` knows, as :meth:`take` does: what
    goes out is noted with ``note``, and is put into a copy of ``event``.
    """

    __slots__ = ("_reader", "_reader_at", "_steps", "_word", "arguments", "event", "note", "step")

    def __init__(
        self,
        steps: Steps,
        reader: PointReader,
        arguments: Arguments,
        note: Callable[[str], None],
        event: dict[str, Any],
    ) -> None:
        self._steps = steps
        self._reader = reader
        self._reader_at = NOWHERE
        self._word = ""
        self.arguments = arguments
        self.event = event
        self.note = note
        self.step = self._step_here()

    def take(self, text: str) -> str | None:
        """What a piece of text goes out as; None where it takes the reader to tell, and then nothing has changed."""
        step = self.step
        if step.in_word:
            return self._take_in_word(text)
        known = step.get(text)
        if known is not None:
            piece, self.step = known
            return piece
        if (begun := step.begins.get(text)) is not None:
            piece, self.step, self._word = begun
            return piece
        if step.word is not None and (word := NUMBER_ALONE.fullmatch(text)) is not None:
            self._word, self.step = word[1], step.word
            return ""
        if step.passing is None:
            return None
        passed = text if step.passing.search(text) is None else step.passing.encode(text)
        if passed is not None:
            self._steps.learn(step, text, passed, step)
        return passed

    def events(self, piece: str) -> list[dict[str, Any]]:
        """The event of what goes out, if anything does."""
        if not piece:
            return []
        self.note(piece)
        event = self.event.copy()
        event["arguments"] = piece
        return [event]

    def follow(self, text: str, read: Callable[[str], bool]) -> None:
        """Follow a text that :meth:`take` can't tell of; the reader can ``read`` it, and says whether it goes on.

        What goes out is in the ``arguments`` then.
        """
        if len(text) > CUT_AT_MOST:
            self.settle()
            self.step = self._step_here() if read(text) else NOWHERE
            return
        if len(text) <= PIECE_AT_MOST:
            self._learn_from(text, read)
            return
        for part in PART.findall(text):
            piece = self.take(part)
            if piece is None:
                self._learn_from(part, read)
            elif piece:
                self.arguments.out.append(piece)

    def _learn_from(self, text: str, read: Callable[[str], bool]) -> None:
        """Have the reader read a piece of text from where the walk has come, and remember what it did."""
        step, word, out = self.step, None, self.arguments.out
        if step.in_word:
            more = WORD.match(text)
            if more is not None and more.end() < len(text) and len(self._word) < POINT_AT_MOST:
                self._word += more[0]
                text, more = text[more.end() :], None
            if more is None:
                word = self._compact(self._word)
        self._go_to_step(self._word if word is None else SLOT)
        before = len(out)
        goes_on = read(text)
        piece = "".join(out[before:])
        if word is not None:
            out[before:] = [piece.replace(SLOT, word)]
        self.step = self._step_here() if goes_on else NOWHERE
        if step is NOWHERE or self.step is NOWHERE:
            return
        number = NUMBER_ALONE.fullmatch(text) if self.step.in_word and not step.in_word else None
        if number is not None and number[1] == self._word:  # it is not the end of a word that began as a constant
            step.word = self.step
        elif word is not None or not step.in_word:
            self._steps.learn(step, text, piece, self.step, self._word)

    def settle(self) -> None:
        """Take the reader to where the walk has come."""
        self._go_to_step(self._word)

    def _take_in_word(self, text: str) -> str | None:
        word, known = self._word, self.step.ends.get(text)
        if known is None and (more := WORD.match(text)) is not None:
            if len(word) >= POINT_AT_MOST:
                return None
            word += more[0]
            if more.end() == len(text):
                self._word = word
                return ""
            known = self.step.ends.get(text[more.end() :])
        compact = None if known is None else self._compact(word)
        if known is None or compact is None:
            return None
        piece, self.step, self._word = known
        return piece.replace(SLOT, compact)

    def _compact(self, word: str) -> str | None:
        """A word that is whole as compact JSON; None where it stands for no value."""
        try:
            return self._reader.compact_word(word)
        except NotCertain:
            return None

    def _step_here(self) -> Step:
        step = self._reader_at = self._steps.at(self._reader, self.arguments)
        self._word = (self._reader.word or "") if step.in_word else ""
        return step

    def _go_to_step(self, word: str) -> None:
        if self.step is not NOWHERE and (self.step is not self._reader_at or self.step.in_word):
            point, writing = self.step.point
            self._reader.go_to(point, word if self.step.in_word else "")
            self.arguments.go_to(writing)
