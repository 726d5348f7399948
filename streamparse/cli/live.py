"""The view for a person: text as it is written, calls as they take shape, faults marked.

In: the events of a stream. Out: a terminal, through rich. Text regions are printed straight on, so that a long answer
scrolls as any program's output does; only a structured region, while it is open, has a small area that is drawn again.
Without a terminal the same lines come out plain, each structured region once it has closed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from io import TextIOWrapper
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType
from rich.text import Text

from streamparse.cli.lines import in_terms_of_flags, lines_of_value, problem_line, shown
from streamparse.cli.wrap import Erase, WordWrap
from streamparse.events import RawEvent as Event
from streamparse.template import ResponseTemplate
from streamparse.template.end_mark import is_end_mark

WRAPPED_AT_LEAST = 8
"""Cells a line must have beside its indentation to be wrapped."""

MARKS = {True: {"call": "▸", "fault": "✗", "note": "·"}, False: {"call": ">", "fault": "x", "note": "-"}}
"""What stands at the start of a line, where the output can show it and where it can't."""


def console_on(stream: Any = None, *, plain: bool = False) -> Console:
    """Make a console on a stream (standard output if none is given) that survives every character.

    What the locale can't write is escaped. ``plain`` turns off colours and redrawing, as if there were no terminal.
    """
    stream = sys.stdout if stream is None else stream
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return _Console(file=stream, highlight=False, markup=False, emoji=False, force_terminal=False if plain else None)


class _Console(Console):
    """A console that leaves it to the command to end when nobody reads on."""

    def on_broken_pipe(self) -> None:
        """Raise, where rich would exit with a code of its own."""
        raise BrokenPipeError


class LiveView:
    """Shows the events of a stream, read with a template, on a console."""

    def __init__(self, console: Console, template: ResponseTemplate) -> None:
        self._page = _Page(console)
        self._template = template
        self._mark = MARKS[console.encoding.lower().startswith("utf")]
        self._region: _TextRegion | _GrowingRegion | None = None
        self._show: dict[str, Callable[[Event], None]] = {
            "region_open": self._end_region,
            "region_chunk": self._chunk,
            "region_close": self._close,
            "region_malformed": self._malformed,
            "region_unclaimed": self._unclaimed,
            "message": self._message,
        }

    def write(self, event: Event) -> None:
        """Show one event; kinds that have no look of their own are passed over."""
        show = self._show.get(event["type"])
        if show is not None:
            show(event)

    def close(self) -> None:
        """Give the terminal back: no area that is drawn again, the cursor on a line of its own."""
        self._end_region()

    def _chunk(self, event: Event) -> None:
        field, text = shown(event["field"]), shown(event["text"])
        if self._region is None and event["dirty"]:
            self._region = _GrowingRegion(self._page, f"{self._mark['call']} {field}")
        elif self._region is None:
            heading = None if field == "content" else f"{self._mark['note']} {field}"
            self._region = _TextRegion(self._page, heading)
        self._region.add(text)

    def _close(self, event: Event) -> None:
        written_out = isinstance(self._region, _TextRegion)
        self._end_region()
        if not written_out and event["value"] not in ("", None):
            self._page.paragraph(*lines_of_value(event["field"], event["value"], self._mark["call"]))
        if event.get("repaired"):
            mended = shown("; ".join(event["repaired"]))
            self._page.lines(Text(f"    {self._mark['note']} repaired: {mended}", "yellow"))

    def _malformed(self, event: Event) -> None:
        self._end_region()
        what = "cut off" if event["incomplete"] else "malformed"
        self._page.paragraph(
            Text(
                f"{self._mark['fault']} {shown(event['field'])} {what}: {shown(in_terms_of_flags(event['error']))}",
                "bold red",
            ),
            *(Text(f"    {line}", "red") for line in shown(event["text"]).strip().splitlines()),
        )

    def _unclaimed(self, event: Event) -> None:
        text = shown(event["text"].strip())
        if text and not is_end_mark(self._template, event["text"]):
            self._end_region()
            self._page.paragraph(Text(f"{self._mark['note']} unclaimed: {text}", "dim"))

    def _message(self, event: Event) -> None:
        """Name the problems that no region showed: a field that is missing, a prompt that doesn't fit."""
        self._end_region()
        for problem in event["problems"]:
            if problem["type"] != "region_malformed":
                self._page.paragraph(Text(f"{self._mark['fault']} {problem_line(problem)}", "bold red"))

    def _end_region(self, _event: Event | None = None) -> None:
        if self._region is not None:
            self._region.end()
            self._region = None


class _Page:
    """A console on which paragraphs stand apart."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._gap_is_due = False

    def paragraph(self, *lines: Text) -> None:
        """Print lines, after an empty one where something stands above."""
        self.gap()
        self._gap_is_due = True
        self.lines(*lines)

    def gap(self) -> None:
        """Print an empty line where something stands above."""
        if self._gap_is_due:
            self.console.print()
        self._gap_is_due = False

    def lines(self, *lines: Text) -> None:
        """Print lines: on a terminal wrapped between words, each with its indentation, else as long as they are."""
        for line in lines:
            for part in self._wrapped(line):
                self.console.print(part, soft_wrap=True)

    def text(self, text: str, style: str, wrap: WordWrap) -> None:
        """Print a piece of a text, on a terminal wrapped between words."""
        for part in wrap.feed(text, self.console.width) if self.redraws else [text]:
            if isinstance(part, Erase):
                self.console.control(
                    Control((ControlType.CURSOR_MOVE_TO_COLUMN, part.column), (ControlType.ERASE_IN_LINE, 0))
                )
            else:
                self.console.print(Text(part, style, end=""), end="", soft_wrap=True)

    @property
    def redraws(self) -> bool:
        """Whether what was printed can be changed: a terminal, and none without such commands."""
        return self.console.is_terminal and not self.console.is_dumb_terminal

    def _wrapped(self, line: Text) -> Iterable[Text]:
        indentation = line.plain[: len(line.plain) - len(line.plain.lstrip(" "))]
        width = self.console.width - len(indentation)
        if not self.redraws or width < WRAPPED_AT_LEAST:
            return [line]
        parts = line[len(indentation) :].wrap(self.console, width)
        return [Text(indentation).append_text(part) for part in parts]


class _TextRegion:
    """A region whose text is printed piece by piece, each where the last one ended.

    Line ends at the edges of the region are left out; so they wait for the text that follows them.
    """

    def __init__(self, page: _Page, heading: str | None) -> None:
        self._page = page
        self._heading = heading
        self._style = "" if heading is None else "dim"
        self._begun = False
        self._line_ends = ""
        self._wrap = WordWrap()

    def add(self, text: str) -> None:
        """Print a piece."""
        printed = text.rstrip("\n")
        if printed and not self._begun:
            self._page.paragraph(*([] if self._heading is None else [Text(self._heading, "dim bold")]))
            self._begun, self._line_ends = True, ""
            printed, text = printed.lstrip("\n"), text.lstrip("\n")
        if printed:
            printed = self._line_ends + printed
            self._page.text(printed, self._style, self._wrap)
            self._line_ends = ""
        self._line_ends += text[len(text.rstrip("\n")) :]

    def end(self) -> None:
        """Leave the line."""
        if self._begun:
            self._page.console.print()


class _GrowingRegion:
    """A structured region while it is open: on a terminal, the last lines of its raw text, in place."""

    LINES = 6
    TEXT_KEPT = 4000

    def __init__(self, page: _Page, heading: str) -> None:
        self._heading = heading
        self._tail = ""
        self._live: Live | None = None
        console = page.console
        if page.redraws:
            page.gap()
            self._live = Live(self, console=console, transient=True, refresh_per_second=12)
            self._live.start()

    def add(self, text: str) -> None:
        """Let the region grow; what has scrolled out of its area is not kept."""
        self._tail = (self._tail + text)[-self.TEXT_KEPT :]

    def end(self) -> None:
        """Take the area away."""
        if self._live is not None:
            self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the heading and the last lines."""
        yield Text(f"{self._heading} ...", "cyan", no_wrap=True, overflow="crop")
        wrapped = Text(self._tail.strip(), "dim").wrap(console, max(options.max_width, 1))
        yield from wrapped[-self.LINES :]
