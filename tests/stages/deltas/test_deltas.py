"""What is given out of a tool call while it is being written adds up to the call, whatever it says."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import ResponseParser
from streamparse.template import ResponseTemplate, load_response_template

Check = Callable[..., list[dict[str, Any]]]


def cut(text: str, places: list[int]) -> list[str]:
    bounds = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in itertools.pairwise(bounds)]


def template(content: str, arguments: dict[str, Any] | None = None, **field: Any) -> ResponseTemplate:
    call = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
    defaults = {"open_pattern": "<call (?P<name>\\w+)>", "close": "</call>", "repeats": True, "transform": call}
    return load_response_template(
        {
            "start_anchor": "<|assistant|>",
            "fields": {
                "content": {},
                "tool_calls": {
                    key: value
                    for key, value in ({"content": content, "content_args": arguments or {}} | defaults | field).items()
                    if value is not None
                },
            },
        }
    )


GEMMA = {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]}
TAG = r"<p=(?P<key>\w+)>\s*(?P<value>.*?)\s*</p>"
LINE_TAG = r"<p=(?P<key>[^>\n]+)>\n?(?P<value>.*?)\n?</p>"
GUESS = {"name": "json", "args": {"allow_non_json": True}}


KEYS = st.sampled_from(["a", "b", "c", "d"])
TEXTS = st.one_of(
    st.text(st.sampled_from("ab \n\t\\\"'{}[],:/é😀\u2028\x7f"), max_size=8),
    st.sampled_from(
        ["null", "None", "nul", " null ", "null x", "12", "1.0", "true", "1e3", '{"a": "5"}', '["1", 2]', '"q"']
    ),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_nan=False), TEXTS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
ARGUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)
PLACES = st.lists(st.integers(0, 10_000), max_size=8)
MODES = st.booleans()

SCHEMAS = st.deferred(
    lambda: st.one_of(
        st.sampled_from(
            [
                {},
                {"type": "string"},
                {"type": "integer"},
                {"type": "number"},
                {"type": "boolean"},
                {"type": ["string", "null"]},
                {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                {"anyOf": [{"type": "string"}, {"type": "null"}]},
                {"type": ["integer", "string"]},
                {"type": "string", "enum": ["12", "x"]},
                {"type": "array"},
                {"type": "object"},
                {"enum": [1, "a", None]},
                {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object"}]},
            ]
        ),
        st.builds(lambda items: {"type": "array", "items": items}, SCHEMAS),
        st.builds(
            lambda members: {"type": "object", "properties": members}, st.dictionaries(KEYS, SCHEMAS, max_size=2)
        ),
        st.builds(lambda members: {"type": "object", "additionalProperties": members}, SCHEMAS),
    )
)
TOOLS = st.none() | st.builds(
    lambda properties: [{"name": "f", "parameters": {"type": "object", "properties": properties}}],
    st.dictionaries(KEYS, SCHEMAS, max_size=4),
)
BLANKS = st.sampled_from(["", " ", "\n", " \t"])


def json_text(draw: Any, value: Any) -> str:
    """One of the ways in which JSON writes a value."""
    blank = lambda: draw(BLANKS)  # noqa: E731
    if isinstance(value, dict):
        members = [f"{json_text(draw, key)}{blank()}:{blank()}{json_text(draw, item)}" for key, item in value.items()]
        return f"{{{blank()}{f'{blank()},{blank()}'.join(members)}{blank()}}}"
    if isinstance(value, list):
        return f"[{blank()}{f'{blank()},{blank()}'.join(json_text(draw, item) for item in value)}{blank()}]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def json_arguments(draw: Any) -> str:
    members = draw(st.lists(st.tuples(KEYS, VALUES), max_size=4))
    written = [f"{json_text(draw, key)}:{draw(BLANKS)}{json_text(draw, value)}" for key, value in members]
    return "{" + ",".join(written) + "}"


SCHEMAS_TO_CAST_BY = [
    {},
    {"type": "string"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": ["string", "null"]},
    {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    {"type": ["integer", "string"]},
    {"type": "string", "enum": ["12", "x"]},
    {"enum": [1, "a", None]},
    {"type": "array", "items": {"type": ["string", "null"]}},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}}},
    {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}},
    {"anyOf": [{"type": "object", "required": ["a"], "properties": {"b": {"type": "integer"}}}, {"type": "object"}]},
    {"type": ["string", "object"], "properties": {"a": {"type": "integer"}}},
]
TEXTS_TO_CAST = ["", "x", "null", "None", "nul", " null ", "null x", "12", "1.0", "1e3", "true", "a b\n", "NaN", "-"]
TEXTS_TO_CAST += ['"q"', '{"a": 1', "12 x", "[1] and", "\\"]
VALUES_TO_CAST = [{"a": "5", "b": "null"}, {"b": "5"}, {"a": ["1", 2.50]}, ["1", "null", 2, ["3"]], [{"a": "1"}]]
TEXTS_TO_CAST += [json.dumps(value) for value in VALUES_TO_CAST]


@given(json_arguments(), TOOLS, PLACES, MODES)
def test_json_arguments(check: Check, arguments: str, tools: Any, places: list[int], lenient: bool) -> None:
    text = f"<call f>\n{arguments} </call>"
    check(template("json"), cut(text, places), tools, lenient=lenient)
    check(template("json"), [*text], tools, lenient=lenient)


OPENAI = {"type": "function", "function": "{content}"}
LISTED = {"type": "function", "id": "{id}", "function": {"name": "{tool}", "arguments": "{parameters}"}}


@given(st.data(), TOOLS, PLACES, MODES)
def test_a_call_written_as_an_object(check: Check, data: Any, tools: Any, places: list[int], lenient: bool) -> None:
    members = [("name", '"f"'), ("arguments", data.draw(json_arguments()))]
    extra = [("kind", json_text(data.draw, data.draw(VALUES))), ("extra", '{"name": "g", "arguments": []}')]
    members = data.draw(st.permutations(members + data.draw(st.lists(st.sampled_from(extra), unique=True))))
    text = "<call>{" + ", ".join(f'"{key}": {value}' for key, value in members) + "}</call>"
    written = template("json", open="<call>", open_pattern=None, transform=OPENAI)
    check(written, cut(text, places), tools, lenient=lenient)


@given(st.data(), TOOLS, PLACES, MODES)
def test_a_list_of_calls(check: Check, data: Any, tools: Any, places: list[int], lenient: bool) -> None:
    calls = []
    for number in range(data.draw(st.integers(0, 3))):
        members = [("tool", '"f"'), ("parameters", data.draw(json_arguments())), ("id", f'"id {number}"')]
        written = ", ".join(f'"{key}": {value}' for key, value in data.draw(st.permutations(members)))
        calls.append("{" + written + "}")
    text = "<call>[" + ",\n".join(calls) + "]</call>"
    listed = template("json", open="<call>", open_pattern=None, transform=LISTED, transform_each=True, repeats=False)
    check(listed, cut(text, places), tools, lenient=lenient)


def gemma(value: Any) -> str:
    if isinstance(value, str):
        return f'<|"|>{value}<|"|>'
    if isinstance(value, list):
        return f"[{','.join(map(gemma, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}: {gemma(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


@given(ARGUMENTS, TOOLS, PLACES, MODES)
def test_arguments_in_a_dialect_of_json(
    check: Check, arguments: Any, tools: Any, places: list[int], lenient: bool
) -> None:
    text = f"<call f>{gemma(arguments)}</call>"
    check(template("json", GEMMA), cut(text, places), tools, lenient=lenient)
    check(template("json", GEMMA), [*text], tools, lenient=lenient)


TAG_TEXTS = TEXTS | st.text(st.sampled_from("</p=>ab \n"), max_size=8)
TAGS = st.lists(st.tuples(KEYS, TAG_TEXTS), max_size=4)
VALUE_PARSERS = st.sampled_from(
    [
        None,
        GUESS,
        {"name": "text"},
        {"name": "text", "args": {"strip": False}},
        {"name": "json", "args": {"allow_non_json": True, "strip": False}},
        {"name": "bool"},
        {"name": "json", "args": {"allow_non_json": True, "unquoted_keys": True}},
    ]
)
TAG_PATTERNS = st.sampled_from([(TAG, ""), (LINE_TAG, "\n"), (TAG.replace("\\s*", ""), "")])


@given(TAGS, VALUE_PARSERS, TAG_PATTERNS, TOOLS, PLACES, MODES)
def test_arguments_in_tags(
    check: Check, tags: Any, value_parser: Any, pattern: tuple[str, str], tools: Any, places: list[int], lenient: bool
) -> None:
    tag_pattern, edge = pattern
    body = "\n".join(f"<p={key}>{edge}{value}{edge}</p>" for key, value in tags)
    arguments = {"tag_pattern": tag_pattern} | ({} if value_parser is None else {"value_parser": value_parser})
    text = f"<call f>\n{body}\n</call>"
    check(template("xml-inline", arguments), cut(text, places), tools, lenient=lenient)
    check(template("xml-inline", arguments), [*text], tools, lenient=lenient)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("schema", SCHEMAS_TO_CAST_BY, ids=str)
def test_tags_that_say_what_their_values_are(check: Check, schema: Any, lenient: bool) -> None:
    pattern = r"<p=(?P<key>\w+)(?: string=(?P<string>true|false))?>\n?(?P<value>.*?)</p>"
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}}]
    bodies = [
        "".join(
            f"<p={key} string={kind}>{edge}{text}</p>"
            for key in "ab"
            for edge in ("", "\n ")
            for kind in ("true", "false")
        )
        for text in TEXTS_TO_CAST
    ]
    arguments = {"tag_pattern": pattern, "value_parser": GUESS}
    text = "".join(f"<call f>{body}</call>" for body in bodies)
    check(template("xml-inline", arguments), [*text], tools, lenient=lenient)


@given(TAGS, TOOLS, PLACES)
def test_arguments_in_tags_whose_repeated_keys_are_collected(
    check: Check, tags: Any, tools: Any, places: list[int]
) -> None:
    body = "".join(f"<p={key}>{value}</p>" for key, value in tags)
    arguments = {"tag_pattern": TAG, "merge_duplicates": True}
    check(template("xml-inline", arguments), cut(f"<call f>{body}</call>", places), tools)


LINES = st.lists(st.tuples(KEYS, TEXTS.filter(lambda text: "\n" not in text)), max_size=4)


@given(LINES, VALUE_PARSERS, st.sampled_from(["\n", "\r\n", None]), TOOLS, PLACES, MODES)
def test_arguments_in_lines(
    check: Check, lines: Any, value_parser: Any, separator: Any, tools: Any, places: list[int], lenient: bool
) -> None:
    body = (separator or " ").join(["", *(f"{key}: {value}" for key, value in lines), "no separator"])
    arguments = {"line_sep": separator} | ({} if value_parser is None else {"value_parser": value_parser})
    text = f"<call f>{body}</call>"
    check(template("kv-lines", arguments), cut(text, places), tools, lenient=lenient)
    check(template("kv-lines", arguments), [*text], tools, lenient=lenient)


def python(value: Any, quote: str) -> str:
    if isinstance(value, str):
        body = json.dumps(value, ensure_ascii=False)[1:-1]
        return f'"{body}"' if quote == '"' else "'" + body.replace('\\"', '"').replace("'", "\\'") + "'"
    if isinstance(value, list):
        return f"[{', '.join(python(item, quote) for item in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{python(key, quote)}: {python(item, quote)}" for key, item in value.items()) + "}"
    return repr(value)


PYTHON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
PYTHON_CALLS = st.lists(st.dictionaries(KEYS, PYTHON_VALUES, max_size=3), max_size=3)


@given(PYTHON_CALLS, st.sampled_from("\"'"), TOOLS, PLACES, MODES)
def test_a_python_call_list(check: Check, calls: Any, quote: str, tools: Any, places: list[int], lenient: bool) -> None:
    written = [f"f({', '.join(f'{key}={python(item, quote)}' for key, item in call.items())})" for call in calls]
    text = f"<calls>[{', '.join(written)}]</calls>"
    call = {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}}
    field = {"open": "<calls>", "open_pattern": None, "close": "</calls>", "transform": call, "transform_each": True}
    listed = template("python-call-list", repeats=False, **field)
    check(listed, cut(text, places), tools, lenient=lenient)
    check(listed, [*text], tools, lenient=lenient)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("schema", SCHEMAS_TO_CAST_BY, ids=str)
@pytest.mark.parametrize(
    ("content", "arguments"),
    [
        ("xml-inline", {"tag_pattern": TAG}),
        ("xml-inline", {"tag_pattern": LINE_TAG}),
        ("xml-inline", {"tag_pattern": LINE_TAG, "value_parser": GUESS}),
        ("kv-lines", {}),
        ("kv-lines", {"value_parser": GUESS}),
        ("json", {}),
        ("json", GEMMA),
    ],
    ids=str,
)
def test_every_type_and_every_text_character_by_character(
    check: Check, content: str, arguments: Any, schema: Any, lenient: bool
) -> None:
    write = {
        "xml-inline": lambda text: f"<p=a>\n{text}\n</p><p=z>{text}</p>",
        "kv-lines": lambda text: f"a: {text}\nz:{text}" if "\n" not in text else "",
        "json": (lambda text: gemma({"a": text, "z": text})) if arguments else (lambda text: json.dumps({"a": text})),
    }[content]
    bodies = [write(text) for text in TEXTS_TO_CAST]
    if content == "json":
        bodies += [gemma({"a": value}) if arguments else json.dumps({"a": value}) for value in VALUES_TO_CAST]
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}}]
    check(template(content, arguments), [*"".join(f"<call f>{body}</call>" for body in bodies)], tools, lenient=lenient)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("schema", SCHEMAS_TO_CAST_BY, ids=str)
def test_arguments_before_the_name_wait_for_it_and_are_cast(check: Check, schema: Any, lenient: bool) -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}}]
    written = template("json", open="<call>", open_pattern=None, transform=OPENAI)
    for value in [*TEXTS_TO_CAST, *VALUES_TO_CAST]:
        arguments = json.dumps({"arguments": {"a": value, "b": 1}})
        check(written, [*f'<call>{arguments[:-1]}, "name": "f"}}</call>'], tools, lenient=lenient)


@pytest.mark.parametrize("behind", ["", "x" * 2_000])
def test_what_only_looks_like_a_tag_is_passed_over_however_much_stands_behind_it(behind: str) -> None:
    damaged = "<|DSML|parameter name=\"']</|DSML|parameter>".replace("|", "\uff5c")
    call = (
        '<|DSML|invoke name="f"><|DSML|parameter name="a" string="true">x</|DSML|parameter>DAMAGED'
        f'<|DSML|parameter name="b" string="true">{behind}</|DSML|parameter>'
        '<|DSML|parameter name="a" string="true">y</|DSML|parameter>\n</|DSML|invoke>'
    ).replace("|", "\uff5c")
    text = call.replace("DAMAGED", damaged)
    given_out = []
    for pieces in ([text], list(text)):
        parser = ResponseParser("deepseek_dsml", "", errors="strict", deltas=True)
        events = [event for piece in pieces for event in parser.feed(piece)]
        message, last = parser.finalize()
        assert message["tool_calls"][0]["function"]["arguments"] == {"a": "y", "b": behind}
        given_out.append("".join(event.get("arguments", "") for event in events + last))
    assert given_out[0] == given_out[1]
