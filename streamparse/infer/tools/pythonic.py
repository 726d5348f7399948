"""Calls in Python's syntax: ``[get_weather(city="Paris"), add_note(text="…")]``.

What teaches what: a name with a parenthesis behind it and a key with an equals sign; what stands before the list's bracket
and behind it are the marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from streamparse.infer.conversation import FIRST
from streamparse.infer.tools.observe import Observed, surroundings
from streamparse.infer.tools.reading import Reading, call_transform, closing_keys, noise, opening_keys

LOOKS_LIKE_A_LIST = r"(?=\[[A-Za-z_][\w.\-]*\((?:[A-Za-z_]\w*\s*=|\)))"


def read_pythonic(observed: Observed) -> Iterator[Reading]:
    """The reading of calls in a Python list."""
    text = observed.one
    key = next(iter(FIRST.arguments))
    found = re.search(rf"\[\s*{re.escape(FIRST.name)}\(\s*{re.escape(key)}\s*=", text)
    if found is None:
        return
    before, after = text[: found.start()], text[text.rfind(")]") + 2 :]
    around = surroundings(before, None, after, observed.ends)
    pattern = None if before.strip() else LOOKS_LIKE_A_LIST
    keys = {**opening_keys(before, pattern), **closing_keys(around, observed.ends)}
    transform = call_transform("{name}", "{arguments}", None)
    field = {**keys, "content": "python-call-list", "transform": transform, "transform_each": True}
    markers = {"section open": before, "section close": around.call_close}
    yield Reading("Python calls in a list", field, noise(around.section_close), before.lstrip(), markers)
