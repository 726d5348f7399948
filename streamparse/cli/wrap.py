"""Text that comes in pieces, wrapped between words on a terminal.

What has come of a word is printed at once. Where its next piece doesn't fit into the line any more, its beginning is
erased and the word goes to the next line: nothing waits, and no word is cut, unless it is longer than a line.

In: pieces of text, and how many cells wide the terminal is. Out: what to print, and where to erase.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len

TAB_STOP = 8


@dataclass(frozen=True, slots=True)
class Erase:
    """Go back to this column of the line (0 is the first), and erase from there to its end."""

    column: int


class WordWrap:
    """Wraps the pieces of one text that begins at the first column.

    >>> wrap = WordWrap()
    >>> list(wrap.feed("one tw", 8)), list(wrap.feed("ofold", 8))
    (['one tw'], [Erase(column=4), '\\ntwofold'])
    """

    def __init__(self) -> None:
        self._column = 0
        self._word = ""  # the word that is being written, as far as it stands on this line
        self._begun = 0  # the column where it began

    def feed(self, text: str, width: int) -> Iterator[str | Erase]:
        """What to do for the next piece."""
        printed = ""
        for character in text:
            cells = cell_len(character)
            if character == "\n":
                printed += character
                self._new_line()
            elif character.isspace():
                self._word = ""
                cells = TAB_STOP - self._column % TAB_STOP if character == "\t" else cells
                if self._column + cells > width:  # a space at the edge is the line break
                    printed += "\n"
                    self._new_line()
                else:
                    printed += character
                    self._column += cells
            elif not cells:  # an accent: it belongs to what stands before it
                printed += character
                self._word += character if self._word else ""
            else:
                if cells > 1 or not self._word:  # between wide characters, such as Chinese ones, a line may end
                    self._word, self._begun = "", self._column
                if self._column + cells > width and self._begun > 0:
                    yield from self._moved(printed)
                    printed = "\n" + self._word
                    self._column, self._begun = cell_len(self._word), 0
                elif self._column + cells > width:  # longer than a line: the terminal goes on in the next
                    self._column = 0
                printed += character
                self._word += character
                self._column += cells
        if printed:
            yield printed

    def _moved(self, printed: str) -> Iterator[str | Erase]:
        """Take the beginning of the word away from the end of the line."""
        if len(printed) >= len(self._word):
            kept = printed[: len(printed) - len(self._word)]
            if kept:
                yield kept
            return
        yield Erase(self._begun)

    def _new_line(self) -> None:
        self._column, self._word, self._begun = 0, "", 0
