"""What may be mended in a text that a content parser can't read, and how.

In come a field and its text; out come the value that the text certainly stands for and, in words, what was mended. A
value is never guessed: where two readings are possible, or something is missing that only the model knows, the text
stays malformed. A value that parsed cleanly stays as it is, and a text that was cut off never becomes a value unless
the caller knows that its region was closed.

====================  ===================
content parser        mended by
====================  ===================
``json``              ``json_repair``
``xml-inline``        ``tags_repair``
``python-call-list``  ``calls_repair``
``kv-lines``          ``lines_repair``
====================  ===================
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from streamparse.errors import ContentError
from streamparse.repair.calls_repair import mend_calls
from streamparse.repair.json_repair import mend_json
from streamparse.repair.lines_repair import mend_lines
from streamparse.repair.outcome import Damaged, Mended, Mender, Unmended
from streamparse.repair.tags_repair import check_tags, mend_tags, read_quoting_tags

if TYPE_CHECKING:
    from streamparse.template.model import Field

__all__ = ["MENDERS", "Damaged", "Mended", "Mender", "Unmended", "check_tags", "mend", "read_quoting_tags"]

MENDERS: dict[str, Mender] = {
    "json": mend_json,
    "xml-inline": mend_tags,
    "python-call-list": mend_calls,
    "kv-lines": mend_lines,
}
"""The menders by the name of the content parser whose text they read."""

TAG_NAME = re.compile(r"(?<!P)<(?:\\?/)?([^\W\d][\w:.-]*)")


def mend(
    field: Field,
    text: str,
    *,
    allow_truncated: bool = False,
    settled: bool = False,
    unreadable: ContentError | None = None,
) -> Mended:
    """Mend the text of one of a field's regions, as the field's own content or else as one of its alternatives.

    With ``allow_truncated`` closing brackets and tags that are missing at the end are supplied: for regions whose close
    delimiter has been seen. With ``settled`` a value in tags may end there without a line break. Strings are not closed
    in any case, and no value is made up. ``unreadable`` is what the field's own reading raised, where that is known.

    Where nothing safe can be done it raises the ContentError that the field's own reading raises; where that reading
    gives a value which the markup contradicts (``xml-inline``), the mender's. Raises LimitError for a text that is
    nested too deep.
    """
    readings: list[tuple[str, Mapping[str, Any]]] = [(field.content, field.content_arguments)]
    readings += [(reading.content, reading.arguments) for reading in field.policy.alternatives]
    first: ContentError | None = None
    try:
        for content, arguments in readings:
            if (mender := MENDERS.get(content)) is None:
                continue
            try:
                known = Damaged(
                    text,
                    arguments,
                    allow_truncated,
                    field.policy.calls is not None,
                    wrappers_of(field),
                    settled,
                    field.limits,
                )
                return mender(known)
            except ContentError as error:
                first = first or error
        if unreadable is not None:
            raise unreadable
        field.parse_with_source(text)
        raise first or ContentError(f"a text for {field.content} can't be mended")
    finally:
        first = unreadable = None  # an error's traceback has this frame: if that had the error, both would stay


def wrappers_of(field: Field) -> frozenset[str]:
    """Give the names of the tags that may close around the text of a field's regions: those in its delimiters."""
    return frozenset(
        name
        for delimiter in (field.open, field.close)
        if delimiter is not None
        for name in TAG_NAME.findall(delimiter.pattern)
    )
