"""Calls in Python's syntax: ``[get_weather(city="Paris"), add_note(text="…")]``, or one in a line without brackets.

What teaches what: a name with a parenthesis behind it and a key with an equals sign; what stands before the list's
bracket and behind it are the marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from streamparse.infer.conversation import FIRST
from streamparse.infer.tools.observe import Observed, surroundings
from streamparse.infer.tools.reading import Reading, call_transform, closing_keys, noise, opening_keys

LOOKS_LIKE_A_LIST = r"(?=\[[A-Za-z_][\w.\-]*\((?:[A-Za-z_]\w*\s*=|\)))"


def read_pythonic(observed: Observed) -> Iterator[Reading]:
    """The readings of calls in Python's syntax."""
    text = observed.one
    key = next(iter(FIRST.arguments))
    found = re.search(rf"(?P<bracket>\[?)\s*{re.escape(FIRST.name)}\(\s*{re.escape(key)}\s*=", text)
    if found is None:
        return
    listed = bool(found["bracket"])
    before, after = text[: found.start()], text[text.rfind(")") + 1 :]
    after = after.partition("]")[2] if listed else after
    if not listed and not before.strip():
        return
    around = surroundings(before, None, after, observed.ends)
    pattern = None if before.strip() else LOOKS_LIKE_A_LIST
    keys = {**opening_keys(before, pattern), **closing_keys(around, observed.ends)}
    field = {
        **keys,
        "content": "python-call-list",
        "transform": call_transform("{name}", "{arguments}", None),
        "transform_each": True,
    }
    markers = {"section open": before, "section close": around.call_close}
    construct = "Python calls in a list" if listed else "Python calls in lines"
    in_lines = {"alternatives": [{"content": "python-call-list", "content_args": {"brackets": False}}]}
    yield Reading(construct, field, noise(around.section_close), before.lstrip(), markers, {} if listed else in_lines)
