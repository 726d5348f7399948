"""Calls whose arguments are an object in a dialect of JSON: bare keys, and strings between marks of their own.

What teaches what: the probe's key with a colon behind it and no quotes; the same mark (or pair of marks) around every text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from streamparse.infer.conversation import FIRST, SECOND
from streamparse.infer.tools.head import first_start, head_of, head_pattern, second_start
from streamparse.infer.tools.observe import Observed, surroundings
from streamparse.infer.tools.reading import Reading, call_transform, closing_keys, flexible, noise

(KEY_ONE, VALUE_ONE), (KEY_TWO, VALUE_TWO) = FIRST.arguments.items()


def read_dialect(observed: Observed) -> Iterator[Reading]:
    """The reading of calls with arguments in a dialect of JSON."""
    text = observed.one
    found = re.search(
        rf"\{{\s*(?P<quote>['\"]?){KEY_ONE}(?P=quote)\s*:\s*(?P<open>\S+?){VALUE_ONE}(?P<close>\S+?)\s*,\s*"
        rf"(?P=quote){KEY_TWO}(?P=quote)\s*:\s*(?P=open){VALUE_TWO}(?P=close)\s*\}}",
        text,
    )
    start = first_start(observed)
    if found is None or start > found.start():
        return
    quote, opening, closing = found["quote"], found["open"], found["close"]
    if quote == opening == closing == '"':
        return
    second = second_start(observed)
    between, other = None, None
    if observed.two is not None and second >= 0:
        first_end = observed.two.find("}", observed.two.find(VALUE_TWO)) + 1
        body = observed.two.find("{", second)
        if 0 < first_end <= second and body > second:
            between = observed.two[first_end:second]
            other = head_of(observed.two, SECOND, second, body)
    around = surroundings(text[:start], between, text[found.end() :], observed.ends)
    head = head_of(text, FIRST, start, found.start())
    if head is None:
        return
    arguments: dict[str, object] = {"string_delims": [[opening, closing]]}
    arguments.update({} if quote == '"' else {"unquoted_keys": True})
    field: dict[str, object] = {
        "open_pattern": head_pattern(around.call_open, head, other, ["{"]),
        "content": "json",
        "content_args": arguments,
        "repeats": True,
        "transform": call_transform("{name}", "{content}", "{id}" if "id" in head.kinds else None),
    }
    field.update(closing_keys(around, observed.ends, flexible(around.call_open.strip())))
    markers = {
        "call open": around.call_open,
        "call close": around.call_close,
        "string open": opening,
        "string close": closing,
    }
    loose = noise(around.section_open, around.section_close)
    yield Reading("name, then arguments in a dialect of JSON", field, loose, around.call_open.lstrip(), markers)
