"""Calls whose arguments are an object in a dialect of JSON: bare keys, and texts between marks of their own.

What teaches what: the probe's key with a colon behind it and no quotes; the same pair of marks around every text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from streamparse.infer.conversation import FIRST, SECOND
from streamparse.infer.tools.named_call import Body, named_call
from streamparse.infer.tools.observe import Observed
from streamparse.infer.tools.reading import Reading

(KEY_ONE, VALUE_ONE), (KEY_TWO, VALUE_TWO) = FIRST.arguments.items()
(_, VALUE_THREE) = next(iter(SECOND.arguments.items()))

_OBJECT = re.compile(
    rf"\{{\s*(?P<quote>['\"]?){KEY_ONE}(?P=quote)\s*:\s*(?P<open>\S+?){VALUE_ONE}(?P<close>\S+?)\s*,\s*"
    rf"(?P=quote){KEY_TWO}(?P=quote)\s*:\s*(?P=open){VALUE_TWO}(?P=close)\s*\}}"
)


def read_dialect(observed: Observed) -> Iterator[Reading]:
    """The reading of calls with arguments in a dialect of JSON."""
    found = _OBJECT.search(observed.one)
    if found is None or found["quote"] == found["open"] == found["close"] == '"':
        return
    arguments: dict[str, object] = {"string_delims": [[found["open"], found["close"]]]}
    if found["quote"] != '"':
        arguments["unquoted_keys"] = True
    call = named_call(observed, Body(*found.span()), _bodies(observed), ["{"])
    if call is not None:
        markers = {"string open": found["open"], "string close": found["close"]}
        content = {"content": "json", "content_args": arguments}
        yield call.reading("name, then arguments in a dialect of JSON", content, markers)


def _bodies(observed: Observed) -> tuple[Body, Body] | None:
    """The arguments of both calls in the turn that has two."""
    two = observed.two
    first = _OBJECT.search(two) if two is not None else None
    if two is None or first is None:
        return None
    value = two.find(VALUE_THREE, first.end())
    start, end = two.rfind("{", first.end(), value), two.find("}", value) + 1
    return (Body(*first.span()), Body(start, end)) if first.end() <= start < end else None
