"""One text field of a message as it goes out while it is written.

In:  the pieces of the field's regions, as ``region_chunk`` events have them.
Out: the same text as the field's value: without the white space at a region's ends where the value goes without it,
     and with the field's separator between several regions.
"""

from __future__ import annotations

from streamparse.stages.content.table import strips
from streamparse.template.model import Field


class TextField:
    """What has gone out of one field, and the white space that is held back because the region may end after it.

    ``separator`` stands between two regions; ``strips`` says that values go without the white space at their ends.

    >>> content = TextField(separator=" / ")
    >>> content.feed("One"), content.feed("  "), content.end(), content.feed("two")
    ('One', '', None, ' / two')
    """

    def __init__(self, *, separator: str = "\n", strips: bool = True) -> None:
        self._strips = strips
        self._separator = separator
        self._given = False
        self._begun = False
        self._space: list[str] = []

    def feed(self, text: str) -> str:
        """Give what goes out with the next piece of the open region; the empty text if that is nothing."""
        if self._strips:
            text = self._without_ends(text)
        if not text:
            return ""
        if not self._begun and self._given:
            text = self._separator + text
        self._begun = self._given = True
        return text

    def end(self) -> None:
        """Note that the region has ended: the white space that was held back was its end."""
        self._begun = False
        self._space.clear()

    def _without_ends(self, text: str) -> str:
        """Take the white space off that may be at the region's ends, and put back what turned out not to be."""
        if not self._begun:
            text = text.lstrip()
        written = text.rstrip()
        if not written:
            if self._begun and text:
                self._space.append(text)
            return ""
        before = "".join(self._space)
        self._space = [text[len(written) :]] if len(written) < len(text) else []
        return before + written


def text_field(field: Field) -> TextField:
    """Give what reads a field's texts as its template says."""
    separator = field.policy.join if field.join is None else field.join
    return TextField(separator=separator, strips=strips(field.content_arguments))
