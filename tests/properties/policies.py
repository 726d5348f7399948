"""Templates for the lenient modes: random ones with a random policy, and those that ship with the package."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

from streamparse import response_template_names
from streamparse.template.bundled import bundled_source
from tests.properties.templates import CONTENTS, Parts, Sample, samples

FIELD_POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "ends_with_value": st.booleans(),
        "alternatives": st.lists(
            st.sampled_from(
                [
                    {"content": "json"},
                    {"content": "python-call-list"},
                    {"content": "text"},
                    {"content": "xml-inline", "content_args": CONTENTS["xml-inline"][0][0]},
                ]
            ),
            max_size=2,
        ),
        "calls": st.sampled_from(
            [
                {"name": ["name", "function.name"], "arguments": ["arguments", "parameters"], "id": ["id"]},
                {"name": ["name"], "arguments": ["arguments"], "by_key": True},
            ]
        ),
        "strip": st.sampled_from(["all", "newline", "none"]),
        "join": st.sampled_from(["\n", "", " "]),
    },
)


@st.composite
def lenient_samples(draw: st.DrawFn) -> Sample:
    """A random template, now and then with a policy."""
    sample = draw(samples())
    if draw(st.booleans()):
        return sample
    fields: dict[str, dict[str, Any]] = sample.template["fields"]
    policy: dict[str, Any] = {"fields": {name: draw(FIELD_POLICIES) for name in fields if draw(st.booleans())}}
    can_begin = [name for name, field in fields.items() if _has(field, "open") and _has(field, "close")]
    if can_begin and draw(st.booleans()):
        policy["starts_in"] = draw(st.sampled_from(can_begin))
    policy["calls_in_reasoning"] = draw(st.sampled_from(["hold", "text"]))
    return Sample({**sample.template, "streamparse": policy}, sample.regions)


def _has(field: dict[str, Any], key: str) -> bool:
    return key in field or f"{key}_pattern" in field


@st.composite
def familiar_samples(draw: st.DrawFn) -> Sample:
    """A template that ships with the package, with texts of its delimiters and tags."""
    # not loaded here: the cache of regex uses the random module, which strategies must not
    template = bundled_source(draw(st.sampled_from(response_template_names())))
    regions = [Parts(("",), ("Hello. ", "\n\n", "f", '"name"', "{}"), ("",))]
    for field in template["fields"].values():
        bodies = list(CONTENTS[field.get("content", "text")][1])
        if tag := field.get("content_args", {}).get("tag_pattern"):
            bodies += [draw(_matches(tag)) for _ in range(2)]
        regions.append(Parts(draw(_delimiter(field, "open")), tuple(bodies), draw(_delimiter(field, "close"))))
    return Sample(template, tuple(regions))


@st.composite
def _delimiter(draw: st.DrawFn, field: dict[str, Any], key: str) -> tuple[str, ...]:
    """Samples of a field's delimiter."""
    if pattern := field.get(f"{key}_pattern"):
        return tuple(draw(_matches(pattern)) for _ in range(2))
    literals = field.get(key, "")
    return (literals,) if isinstance(literals, str) else tuple(literals)


def _matches(pattern: str) -> st.SearchStrategy[str]:
    """Texts that a pattern of the ``regex`` module matches; group names may be repeated there, but not in ``re``."""
    unnamed = pattern if "(?P=" in pattern else re.sub(r"\(\?P<\w+>", "(?:", pattern)
    return st.from_regex(re.compile(unnamed, re.DOTALL), fullmatch=True)
