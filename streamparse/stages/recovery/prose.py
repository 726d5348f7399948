"""What stands before the present place of an answer, as far as it tells that a mark there is only quoted.

In comes the answer's text, as it is given out; nothing is held for it. Out come facts about the present place:
whether it is code in Markdown (in a fence, a code span, or an indented block), and whether it stands in the middle of a
sentence, where only a word can stand. A third is known where the source is token ids: whether a mark that is a token
was written right before, but in ordinary tokens. Of the text itself nothing but a few characters is kept.

Fences are read as CommonMark has them, but with any indentation, as in lists; a code span is taken to end with its
line, so that a single backtick doesn't quote all that follows.
"""

from __future__ import annotations

import re
from typing import Any

from streamparse.tokens.marks import is_mark

MARKS = re.compile(r"`+|~+")
LONGEST_RUN = 100
FENCE_AT_LEAST = 3
INDENTED = 4
KEPT = 8
UNREAD_AT_MOST = 64
LONG = 4096

BETWEEN_WORDS = re.compile(r"[\w,–—-][ \t]+\Z")
"""The end of text after which a word of the same sentence follows."""

QUOTED_FROM = tuple("\"'“‘«„([*_/")
"""What stands right before a word that is quoted, in brackets or emphasized."""

CLOSED_BY = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“"}
"""Quotation marks that stand right before what they quote, and what closes them."""

OPENS_BEHIND = ("", " ", "\t", "(", "[", "*", "_")
"""What stands before a quotation mark that opens."""

AFTER_WORD = tuple(" \t.,;:!?…\"'”’»)]*_/")
"""What stands right after a word of a sentence."""


class Prose:
    r"""Follows an answer.

    >>> prose = Prose()
    >>> prose.feed("So:\n```json\n")
    >>> prose.in_code, prose.in_sentence
    (True, False)
    >>> prose.feed("1\n```\nAs the ")
    >>> prose.in_code, prose.in_sentence
    (False, True)
    """

    __slots__ = (
        "_after_blank",
        "_begun",
        "_blank",
        "_closing",
        "_end",
        "_fence",
        "_followed",
        "_indent",
        "_info",
        "_last",
        "_mentions",
        "_run",
        "_span",
        "_unread",
    )

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """An answer begins."""
        self._unread: list[str] = []  # pieces that are followed only when somebody asks, or when there are many
        self._followed = False  # whether any was followed, and so whether there is a state

    def _begin(self) -> None:
        self._followed = True
        self._run = ""  # backticks or tildes at the end of the text, of which more may come
        self._fence = ""  # what opened the fence that is open
        self._info = ""  # what opened a fence if this line has no backtick in it any more
        self._closing = False  # whether this line closes the fence if nothing but blanks follows in it
        self._span = ""  # what opened the code span that is open in this line
        self._blank = True  # whether the line has had nothing but blanks
        self._indent = 0  # how wide those are
        self._after_blank = False  # whether the line before is blank
        self._begun = False  # whether there was anything but blanks
        self._end = ""  # the end of the line
        self._last = ""  # the last character that is not blank
        self._mentions = False  # whether a mark stands in this paragraph as a word

    @property
    def in_code(self) -> bool:
        """Whether what comes next is code."""
        self._catch_up()
        self._take_run()
        indented = self._blank and self._begun and self._after_blank and self._indent >= INDENTED
        return bool(self._fence or self._info or self._span) or indented

    @property
    def in_fence(self) -> bool:
        """Whether a fence stands open."""
        self._catch_up()
        return bool(self._fence or self._info)

    @property
    def closed_by(self) -> str:
        """What closes the code span or the quotation that stands open right before what comes next; else nothing."""
        self._catch_up()
        self._take_run()
        if self._fence or self._info:
            return ""
        if not self._span and self._end[-2:-1] in OPENS_BEHIND:
            return CLOSED_BY.get(self._end[-1:], "")
        return self._span

    @property
    def in_line(self) -> bool:
        """Whether something stands before what comes next in the same line."""
        self._catch_up()
        return not self._blank

    @property
    def in_sentence(self) -> bool:
        """Whether what comes next stands where a word of a sentence, or in quotes, would stand."""
        self._catch_up()
        return self._end.endswith(QUOTED_FROM) or BETWEEN_WORDS.search(self._end) is not None

    @property
    def mentions_marks(self) -> bool:
        """Whether this paragraph has a mark in it that is a word of its text, so that more may follow."""
        self._catch_up()
        return self._mentions

    def mention(self, mark: str) -> None:
        """Follow a mark that is a word of the text."""
        self.feed(mark)
        self._catch_up()
        self._mentions = True

    @property
    def after_spelled_mark(self) -> bool:
        """Whether nothing but blanks stands between here and a mark's token that was spelled in ordinary ones."""
        self._catch_up()
        return self._last != "" and is_mark(self._last)

    def feed(self, text: str) -> None:
        """Follow the next piece of the answer."""
        self._unread.append(text)
        if len(self._unread) >= UNREAD_AT_MOST or len(text) >= LONG:
            self._catch_up()

    def _catch_up(self) -> None:
        if not self._followed:
            self._begin()
        if self._unread:
            text = "".join(self._unread)
            self._unread.clear()
            self._follow(text)

    def _follow(self, text: str) -> None:
        if last := text.rstrip()[-1:]:
            self._last = last
        start = 0
        if self._run:
            start = len(text) - len(text.lstrip(self._run[0]))
            self._run = (self._run + text[:start])[:LONGEST_RUN]
            if start == len(text):
                return
            self._take_run()
        if "`" in text or "~" in text:
            for match in MARKS.finditer(text, start):
                self._take_run()
                self._pass(text[start : match.start()])
                self._run, start = match[0][:LONGEST_RUN], match.end()
            if start == len(text):
                return
            self._take_run()
        self._pass(text[start:] if start else text)

    def interrupt(self) -> None:
        """A region stands here: what follows is no longer the same line, but it may be in the same fence."""
        if not self._followed and not self._unread:
            return  # nothing stands here that this could end
        self._catch_up()
        self._take_run()
        self._end_line()
        self._begun = self._after_blank = False
        self._last = ""

    def state(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        self._catch_up()
        return {name: getattr(self, name) for name in self.__slots__ if name not in ("_unread", "_followed")}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`state` gave."""
        self._unread.clear()
        self._followed = True
        for name, value in state.items():
            setattr(self, name, value)

    def _pass(self, text: str) -> None:
        """Text without backticks and tildes."""
        first, line_break, rest = text.partition("\n")
        self._in_line(first)
        if not line_break:
            return
        self._end_line()
        lines, line_break, line = rest.rpartition("\n")
        if line_break:
            earlier, several, last = lines.rpartition("\n")
            if self._mentions and several and any(not each.strip() for each in earlier.split("\n")):
                self._mentions = False
            self._begun = self._begun or (bool(earlier) and not earlier.isspace())
            self._in_line(last)
            self._end_line()
        self._in_line(line)

    def _in_line(self, text: str) -> None:
        if not text:
            return
        self._end = (self._end + text[-KEPT:])[-KEPT:]
        if not self._blank:
            self._closing = self._closing and text.isspace()
            return
        rest = text.lstrip()
        self._indent += len(text[: len(text) - len(rest)].expandtabs(INDENTED))
        if rest:
            self._blank, self._begun = False, True

    def _end_line(self) -> None:
        if self._info:
            self._fence = self._info
        elif self._closing:
            self._fence = ""
        self._after_blank = self._blank
        self._mentions = self._mentions and not self._blank
        self._info, self._closing, self._span = "", False, ""
        self._blank, self._indent, self._end = True, 0, ""

    def _take_run(self) -> None:
        """A run of backticks or tildes is over."""
        run, self._run = self._run, ""
        if not run:
            return
        if self._fence:
            self._closing = self._blank and run.startswith(self._fence)
        elif self._blank and len(run) >= FENCE_AT_LEAST:
            self._info = run
        elif run[0] == "`" and not self._info.startswith("~"):
            opened = self._info or self._span
            self._info, self._span = "", "" if opened == run else opened or run
        self._blank, self._begun, self._end = False, True, run[-1]
