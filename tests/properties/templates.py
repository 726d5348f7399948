"""Random response templates, with the pieces that a text for each may be made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.properties.delimiters import Given, delimiters, literal_delimiters, weighted

ANCHOR = "@@"
"""What each of ``ANCHORS`` matches."""

ANCHORS: list[dict[str, Any]] = [
    {"start_anchor": ANCHOR},
    {"start_anchor": [ANCHOR, ANCHOR + "\n", "##"]},
    {"start_anchor_pattern": r"@@\s*"},
    {"start_anchor_pattern": "@@(?=<)|@@"},
]

NAMES = ("calls", "content", "reasoning", "x")

CONTENTS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "text": ([{}, {"strip": False}], [" some text ", "a", "", "a <b>"]),
    "int": ([{}, {"strip": False}], ["7", " -12 ", "1_000"]),
    "float": ([{}], ["1.5", " 2e3\n", "nan"]),
    "bool": ([{}], ["true", " 1 ", "no"]),
    "json": (
        [
            {},
            {"allow_non_json": True},
            {"allow_non_json": True, "strip": False},
            {"unquoted_keys": True},
            {"string_delims": [["<q>", "</q>"]]},
        ],
        [
            '{"name": "f", "arguments": {"a": 1}}',
            '[{"name": "f", "arguments": {"a": "7"}}, {"name": "g", "arguments": {}}]',
            '{"a": "</a>\\n<b>"}',
            "{name: <q>f</q>, arguments: {}}",
            '{"a": 1',
            '{"name": "f", "arguments": {"a": "',
            '"}}',
            "12345678901234567890123",
            "NaN",
            "...",
        ],
    ),
    "xml-inline": (
        [
            {"tag_pattern": r"<p=(?P<key>\w+)>(?P<value>.*?)</p>"},
            {"tag_pattern": r"<p=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</p>", "merge_duplicates": True},
            {
                "tag_pattern": r"<(?P<key>\w+)>(?P<value>.*?)</(?P=key)>",
                "value_parser": {"name": "json", "args": {"allow_non_json": True}},
            },
        ],
        ["<p=a>1</p>", "<p=b>\nx < y\n</p><p=b>2</p>", "<a>{}</a>", "<p=c>", "</p>", "<p=a>{"],
    ),
    "kv-lines": (
        [{}, {"line_sep": "|", "kv_sep": "/"}, {"value_parser": {"name": "int"}}, {"strip": False}],
        ["a: 1", "b: x:y\n", "a/1|b/2", "nothing"],
    ),
    "python-call-list": ([{}], ['[f(a="7", b=[1, None])]', "[f(), g.h(x=1.5)]", "[f(", '[f(a="', '")]', "[]"]),
}
"""By content parser: arguments, and texts of which some are values."""

TRANSFORMS: list[dict[str, Any]] = [
    {"transform": {"type": "function", "function": "{content}"}},
    {"transform": {"function": {"name": "f", "arguments": "{content}"}}},
    {"transform": ["{content}", "plain", 1]},
]

TRANSFORMS_OF_CALLS: list[dict[str, Any]] = [
    {"transform": {"name": "{content.name}", "a": "{content.arguments.a}"}},
    {"transform": {"function": {"name": "{name}", "arguments": "{arguments}"}}, "transform_each": True},
    {"transform": {"only": "{name}"}, "transform_each": True},
]

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": ["number", "null"]}},
            },
        },
    }
]


@dataclass(frozen=True)
class Parts:
    """What a region of one field may be made of."""

    opens: tuple[str, ...]
    bodies: tuple[str, ...]
    closes: tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """A template, and what texts for it may be made of: the parts of each field's regions."""

    template: dict[str, Any]
    regions: tuple[Parts, ...]

    @property
    def pieces(self) -> list[str]:
        """All parts of all regions."""
        return [text for parts in self.regions for group in (parts.opens, parts.bodies, parts.closes) for text in group]


@st.composite
def samples(draw: st.DrawFn, *, literal: bool = False, contents: tuple[str, ...] = tuple(CONTENTS)) -> Sample:
    """A template of one to four fields; with ``literal`` all its delimiters are literals."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    implicit = draw(st.sampled_from([*names, None]))
    fields: dict[str, Any] = {}
    regions: list[Parts] = []
    for name in names:
        fields[name], parts = draw(_fields(implicit=name == implicit, literal=literal, contents=contents))
        regions.append(parts)
    template: dict[str, Any] = {**draw(st.sampled_from(ANCHORS)), "fields": fields}
    usual_defaults = [None, {"role": "assistant"}, {"role": "assistant", names[0]: ""}]
    defaults = draw(st.sampled_from([*usual_defaults, *usual_defaults, {names[0]: []}, {names[0]: None}]))
    if defaults is not None:
        template["defaults"] = defaults
    return Sample(template, tuple(regions))


@st.composite
def _fields(
    draw: st.DrawFn, *, implicit: bool, literal: bool, contents: tuple[str, ...]
) -> tuple[dict[str, Any], Parts]:
    """A field, and what its regions may be made of."""
    content = contents[0] if draw(st.booleans()) else draw(st.sampled_from(contents))
    arguments, texts = CONTENTS[content]
    named = not implicit and draw(st.booleans())
    given = literal_delimiters() if literal else delimiters(named=named)
    open_delimiter: Given | None = None if implicit else draw(given)
    close_delimiter: Given | None = draw(given) if draw(st.integers(0, 3)) else None
    field: dict[str, Any] = {}
    if content != "text" or draw(st.booleans()):
        field["content"] = content
    if content_args := draw(st.sampled_from(arguments)):
        field["content_args"] = content_args
    given_delimiters = {"open": open_delimiter, "close": close_delimiter}
    groups: list[str] = []
    for key, delimiter in given_delimiters.items():
        if delimiter is not None:
            field |= delimiter.under(key)
            groups += delimiter.groups
    field |= (shape := draw(_shapes(content, groups)))
    field |= draw(_repetitions(gives_text=content == "text" and not shape))
    opens, closes = ((("",) if part is None else part.samples) for part in given_delimiters.values())
    return field, Parts(opens, tuple(texts), closes)


def _shapes(content: str, groups: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """The transform of a field, if it has one; where its delimiters have named groups it has to."""
    shapes = list(TRANSFORMS)
    if content in ("json", "python-call-list"):
        shapes += TRANSFORMS_OF_CALLS
    if groups:
        return st.sampled_from([*shapes, {"transform": {"function": {"name": "{name}", "arguments": "{content}"}}}])
    return weighted(st.just({}), st.just({}), st.sampled_from(shapes))


def _repetitions(*, gives_text: bool) -> st.SearchStrategy[dict[str, Any]]:
    """What becomes of several regions of one field, and of none."""
    usual: list[dict[str, Any]] = [{}, {}, {}, {"repeats": True}, {"repeats": True}]
    joined: list[dict[str, Any]] = [{"repeats": True, "join": "\n"}, {"repeats": True, "join": ""}]
    seldom = st.sampled_from([{"optional": False}, joined[0]])
    often = st.sampled_from(usual + joined if gives_text else usual)
    return weighted(*[often] * 15, seldom)
