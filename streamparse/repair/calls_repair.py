"""Mends the content of ``python-call-list`` regions: calls in the syntax of Python.

In comes a text that leaves the grammar of ``python-call-list``; out come the calls that it certainly stands for. What
is mended: everything that is in JSON values, and raw line breaks and Python's escapes in strings, strings that are
joined, in triple quotes or with a prefix, tuples (as lists), integers beyond 2^53, trailing commas, missing commas, and
missing outer brackets, with the calls on lines of their own.

A call with a value that has no name, with an argument given twice, or with a value that is none (a variable, an
expression) is left out of the value and told of as a fault, and the other calls are delivered. Where it can't be told
where a string ends, all that follows is in doubt, and nothing is delivered.

Each character is read at most twice: once by the reader, and once more to find the end of a call that can't be read.
"""

from __future__ import annotations

import re
from typing import Any

from streamparse.errors import ContentError
from streamparse.formats.reading import Reading, TooDoubtful
from streamparse.repair.frame import CLOSERS, Frame
from streamparse.repair.json_repair import CLOSING_FENCE, FENCE
from streamparse.repair.nested import Grammar, NestedReader
from streamparse.repair.outcome import Damaged, Mended, Unmended
from streamparse.stages.content import SourcedDict
from streamparse.stages.content.table import content_error

NAME = re.compile(r"[A-Za-z_]\w*+(?:[-.:/]\w++)*+", re.ASCII)
ARGUMENT = re.compile(r"([A-Za-z_][\w-]*+)\s*+=(?!=)\s*+")
STRING_OR_BRACKET = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|['"()\[\]{}]""", re.DOTALL)
BRACKETS_AT_END = re.compile(r"[\])\s]*+(?:`++\s*+)?\Z")


def mend_calls(damaged: Damaged) -> Mended:
    """Read a text as calls, tolerantly.

    >>> mended = mend_calls(Damaged("[get_weather('Paris', unit='C'), ping(n=1,)]"))
    >>> mended.value, [(fault.name, fault.text) for fault in mended.faults]
    ([{'name': 'ping', 'arguments': {'n': 1}}], [('get_weather', "get_weather('Paris', unit='C')")])
    """
    reader = CallsReader(damaged)
    reader.read()
    if reader.faults and not reader.calls:
        raise reader.faults[0].error
    return Mended(reader.calls, [*reader.reading.repaired], reader.faults)


class CallsReader:
    """Reads the calls of one text into ``calls``, and those that it can't read into ``faults``."""

    def __init__(self, damaged: Damaged) -> None:
        self.reading = Reading(damaged.text)
        self.calls: list[dict[str, Any]] = []
        self.faults: list[Unmended] = []
        self._damaged = damaged
        grammar = Grammar(python=True, depth_limit=damaged.limits.json_depth, allow_truncated=damaged.allow_truncated)
        self._values = NestedReader(self.reading, grammar)

    def read(self) -> None:
        """Read the whole text; raises ContentError."""
        reading = self.reading
        reading.blanks()
        if fence := FENCE.match(reading.text, reading.position):
            reading.position = fence.end()
            reading.mends("a code fence around the calls")
        if reading.at("["):
            self._list()
            while self._another_list_follows():
                self._list()
        else:
            if self._damaged.arguments.get("brackets", True):
                reading.mends("missing outer brackets")
            self._lines()
        self._end()

    def _list(self) -> None:
        """Read calls in brackets."""
        reading = self.reading
        reading.position += 1
        reading.blanks()
        comma = True
        while not reading.take("]"):
            if reading.ended or reading.at("```"):
                if not self._damaged.allow_truncated:
                    reading.fail("the text ends before the list of calls does")
                reading.mends("a missing closing bracket")
                return
            if not comma:
                reading.mends("a missing comma")
            self._call()
            reading.blanks()
            comma = reading.take(",")
            reading.blanks()
            if comma and reading.at("]"):
                reading.mends("a trailing comma")

    def _another_list_follows(self) -> bool:
        reading = self.reading
        start = reading.position
        reading.blanks()
        if reading.take(",") or reading.take(";"):
            reading.blanks()
        if reading.at("["):
            reading.mends("several lists")
            return True
        reading.position = start
        return False

    def _lines(self) -> None:
        """Read calls without brackets."""
        reading = self.reading
        while True:
            self._call()
            end = reading.position
            reading.blanks()
            comma = reading.take(",") or reading.take(";")
            reading.blanks()
            if NAME.match(reading.text, reading.position) is None:
                if comma:
                    reading.mends("a trailing comma")
                return
            if not comma and "\n" not in reading.text[end : reading.position]:
                reading.fail("expected a comma or a line break between calls")

    def _end(self) -> None:
        """Refuse whatever stands after the calls but closing brackets and a fence."""
        reading = self.reading
        if fence := CLOSING_FENCE.match(reading.text, reading.position):
            reading.position = fence.end()
        reading.blanks()
        if reading.ended:
            return
        if not BRACKETS_AT_END.match(reading.text, reading.position):
            reading.fail("there is more after the calls")
        reading.mends("a closing bracket too many")

    def _call(self) -> None:
        """Read one call; one that can't be read, but ends in a certain place, is a fault."""
        reading, start = self.reading, self.reading.position
        name = NAME.match(reading.text, start)
        if name is None:
            reading.fail("expected a function's name")
        reading.position = name.end()
        reading.blanks()
        if not reading.take("("):
            reading.fail("expected '(' after the function's name")
        arguments: dict[str, Any] = SourcedDict()
        repaired = dict(reading.repaired)
        if ":" in name[0] or "/" in name[0]:
            reading.mends("a name that Python could not have")
        try:
            error = self._arguments(arguments)
        except TooDoubtful:
            raise
        except ContentError as found:
            # Kept without its traceback, which would keep all that the reader had in hand.
            error = ContentError(found.reason, position=found.position, excerpt=found.excerpt)
            reading.position = self._end_of_call(name.end(), found)
        if error is None:
            self.calls.append({"name": name[0], "arguments": plain(arguments)})
            return
        reading.repaired = repaired
        index = len(self.calls) + len(self.faults)
        text = reading.text[start : reading.position]
        self.faults.append(Unmended(index, name[0], text, start, error, dict(arguments)))

    def _arguments(self, arguments: dict[str, Any]) -> ContentError | None:
        """Read arguments up to the closing parenthesis; the result is why the call is a fault all the same."""
        reading, frame = self.reading, Frame("(")
        error: ContentError | None = None
        comma = True
        reading.blanks()
        while not reading.take(")"):
            if reading.ended:
                reading.doubt("the text ends before the call does")
            place = reading.position
            argument = ARGUMENT.match(reading.text, place)
            if not comma:
                if argument is None:
                    reading.fail("expected a comma or a closing parenthesis")
                reading.mends("a missing comma")
            if argument is not None:
                reading.position = argument.end()
            reading.blanks()
            value = self._values.value(frame)
            if argument is None:
                error = error or content_error("an argument has no name", reading.text, place)
            elif argument[1] in arguments:
                error = error or content_error(f"the argument {argument[1]!r} is repeated", reading.text, place)
            else:
                put(arguments, argument[1], value, self._values.source)
            reading.blanks()
            comma = reading.take(",")
            reading.blanks()
            if comma and reading.at(")"):
                reading.mends("a trailing comma")
        return error

    def _end_of_call(self, start: int, error: ContentError) -> int:
        """Find where a call whose parenthesis opens at ``start`` ends, by its strings and brackets alone."""
        due: list[str] = []
        for match in STRING_OR_BRACKET.finditer(self.reading.text, start):
            found = match[0]
            if found in CLOSERS:
                due.append(CLOSERS[found])
            elif found in ("'", '"') or (len(found) == 1 and found != due.pop()):
                break
            if not due:
                return match.end()
        raise TooDoubtful(error.reason, position=error.position, excerpt=error.excerpt)


def put(arguments: dict[str, Any], name: str, value: Any, source: str | None) -> None:
    """Store an argument, and its text where that says more."""
    arguments[name] = value
    if source is not None and isinstance(arguments, SourcedDict):
        arguments.sources[name] = source


def plain(arguments: dict[str, Any]) -> dict[str, Any]:
    """Give the arguments as a plain dictionary unless there are texts to remember."""
    return arguments if isinstance(arguments, SourcedDict) and arguments.sources else dict(arguments)
