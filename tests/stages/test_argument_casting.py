"""Lenient typing: everything that a schema says, and nothing that a text doesn't."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamparse.errors import ContentError
from streamparse.stages.content import SourcedDict, prepare_content
from streamparse.stages.schema_branches import MAX_VISITS, SchemaReader
from streamparse.stages.schema_typing import ToolSchemas

PARAMETER = r"<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>"


def cast_arguments(arguments: Any, parameters: Any) -> Any:
    schemas = ToolSchemas.from_tools([{"type": "function", "function": {"name": "f", "parameters": parameters}}])
    call = schemas.cast({"function": {"name": "f", "arguments": arguments}}, lenient=True)
    return call["function"]["arguments"]


def cast(value: Any, schema: Any, **root: Any) -> Any:
    return cast_arguments({"x": value}, {"type": "object", "properties": {"x": schema}, **root})["x"]


def same(one: Any, other: Any) -> bool:
    """Equal with their types: 1, 1.0 and True differ."""
    return repr(one) == repr(other)


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("5", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 5),
        ("null", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None),
        ("None", {"type": ["integer", "null"]}, None),
        ("5", {"type": "integer", "nullable": True}, 5),
        ("null", {"type": "integer", "nullable": True}, None),
        ("true", {"type": "boolean"}, True),
        ("False", {"type": "boolean"}, False),
        ("maybe", {"type": "boolean"}, "maybe"),
        ("1", {"type": ["boolean", "integer"]}, True),
        ("1", {"type": ["integer", "boolean"]}, 1),
        ("", {"type": "integer"}, ""),
        ("7", {}, "7"),
        ("7", True, "7"),
        ("7", {"type": "image"}, "7"),
        ("7", {"type": 7}, "7"),
    ],
)
def test_texts_become_what_the_schema_says(text, schema, value):
    assert same(cast(text, schema), value)


@pytest.mark.parametrize("text", ["4", "02134", "true", '{"a": 1}', "[1]", "None", " x ", "1e3", "NaN"])
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": ["string", "null"]},
        {"type": ["integer", "object", "string", "boolean", "array"]},
        {"anyOf": [{"type": "object"}, {"type": "number"}, {"type": "string"}]},
        {"oneOf": [{"enum": [4, True]}, {"type": "string"}]},
        {"allOf": [{"type": "string"}, {"description": "x"}]},
        {"$ref": "#/$defs/Text"},
        {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/Text"}]},
    ],
)
def test_a_text_stays_as_it_is_where_it_may_be_one(text, schema):
    assert cast(text, schema, **{"$defs": {"Text": {"type": "string"}}}) == text


def untyped(text: str, schema: Any, **root: Any) -> Any:
    """What becomes of a text whose type the format doesn't say, such as that between two tags."""
    arguments = SourcedDict()
    arguments["x"] = arguments.sources["x"] = text
    return cast_arguments(arguments, {"type": "object", "properties": {"x": schema}, **root})["x"]


def test_null_is_null_where_the_format_does_not_say_that_it_is_a_text():
    for schema in ({"type": ["string", "null"]}, {"type": "string", "nullable": True}):
        assert untyped("null", schema) is None
        assert cast("null", schema) == "null"
    assert untyped("null", {"type": "string"}) == "null"
    assert cast("null", {"type": ["integer", "null"]}) is None


LISTS = {"type": "array", "items": {"type": "integer"}}
OPTIONS = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("42", {"type": ["integer", "string"]}, 42),
        ("42", {"type": ["string", "integer"]}, 42),
        ("42", {"anyOf": [{"type": "string"}, {"type": "number"}]}, 42),
        ("4.5", {"type": ["string", "number"]}, 4.5),
        ("4.5", {"type": ["string", "integer"]}, "4.5"),
        ("true", {"type": ["string", "boolean"]}, True),
        ("1", {"type": ["string", "boolean"]}, "1"),
        ("True", {"type": ["string", "boolean"]}, "True"),
        ("null", {"type": ["string", "null"]}, None),
        ("None", {"type": ["string", "null"]}, "None"),
        ("null", {"type": ["string", "integer"]}, "null"),
        ("null", {"type": ["integer", "null"]}, None),
        *(
            (text, {"type": ["string", "number"]}, text)
            for text in ("007", "+1", "4.10", " 42", "1e3", "NaN", "", "0x1")
        ),
        ("[1, 2]", {"anyOf": [LISTS, {"type": "string"}]}, [1, 2]),
        ("[1, 2]\n", {"anyOf": [{"type": "string"}, LISTS]}, [1, 2]),
        ('["a"]', {"anyOf": [LISTS, {"type": "string"}]}, '["a"]'),
        ("[1, 2", {"anyOf": [LISTS, {"type": "string"}]}, "[1, 2"),
        ('{"n": 1}', {"anyOf": [{"type": "string"}, OPTIONS]}, {"n": 1}),
        ('{"m": 1}', {"anyOf": [{"type": "string"}, OPTIONS]}, '{"m": 1}'),
        ('"a"', {"type": ["string", "integer"]}, '"a"'),
        ("5", {"anyOf": [{"const": 5}, {"type": "string"}]}, 5),
        ("6", {"anyOf": [{"const": 5}, {"type": "string"}]}, "6"),
        ("1", {"anyOf": [{"const": True}, {"type": "string"}]}, "1"),
        ("42", {"type": "string"}, "42"),
        ("42", {}, "42"),
        ("42", {"type": ""}, "42"),
    ],
)
def test_a_text_of_no_type_is_exactly_a_value_of_another_type_or_stays(text, schema, value):
    assert same(untyped(text, schema), value)


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("null", {"type": "string", "anyOf": [{"type": "string"}, {"type": "null"}]}, "null"),
        ("42", {"$ref": "#/$defs/U", "type": "integer"}, 42),
        ("42", {"type": "integer", "$ref": "#/$defs/U"}, 42),
        ("x", {"$ref": "#/$defs/U", "type": "integer"}, "x"),
        ("5", {"$ref": "#/$defs/Five", "nullable": True}, 5),
        ("null", {"$ref": "#/$defs/Five", "nullable": True}, None),
        ("1", {"enum": ["1", 2], "allOf": [{"enum": [1, 2]}]}, 1),
        ("2", {"enum": ["1", 2], "allOf": [{"enum": [1, 2]}]}, 2),
        ("2", {"enum": [1, 2], "allOf": [{"type": "string"}]}, "2"),
        ("3", {"type": "number", "allOf": [{"type": ["integer", "string"]}]}, 3),
        ("3.0", {"type": "number", "allOf": [{"type": ["integer", "string"]}]}, 3),
        (
            "7",
            {"anyOf": [{"type": "string"}, {"type": "integer"}], "oneOf": [{"type": "integer"}, {"type": "null"}]},
            7,
        ),
        ("true", {"anyOf": [{"type": "boolean"}, {"type": "string"}], "type": ["boolean", "null"]}, True),
        ("7", {"type": "INTEGER"}, 7),
        ("7", {"type": "int"}, 7),
        ("7", {"type": ["", "integer"]}, 7),
    ],
)
def test_the_keywords_of_a_schema_hold_together(text, schema, value):
    definitions = {"U": {"type": ["string", "integer"]}, "Five": {"const": 5}}
    assert same(untyped(text, schema, **{"$defs": definitions}), value)


def test_a_contradiction_leaves_the_text():
    assert untyped("7", {"type": "integer", "allOf": [{"type": "boolean"}]}) == "7"
    assert cast('{"a": 1}', {"type": "object", "allOf": [{"type": "string"}]}) == '{"a": 1}'


@pytest.mark.parametrize("unions", [2, 3, 12])
def test_unions_beside_unions_are_read_within_bounds(unions):
    schema: Any = {"type": "integer"}
    for _ in range(unions):
        schema = {"anyOf": [{"type": "integer", "title": str(number)} for number in range(100)], "allOf": [schema]}
    reader = SchemaReader({})
    assert len(reader.branches([schema])) <= MAX_VISITS
    assert cast("7", schema) in (7, "7")


@pytest.mark.parametrize("kind", ["integer", "number"])
@given(number=st.integers(-(10**40), 10**40))
def test_integers_keep_every_digit(kind, number):
    assert same(cast(str(number), {"type": kind}), number)


@example(number=1e308)
@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_decimals_are_floats_and_whole_numbers_without_a_point_are_exact(number):
    whole = number.is_integer() and "." not in repr(number)
    assert same(cast(repr(number), {"type": "number"}), int(Decimal(repr(number))) if whole else number)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("9223372036854775807", "number", 9223372036854775807),
        ("1234567890123456789", "integer", 1234567890123456789),
        ("9007199254740993.0", "integer", 9007199254740993),
        ("1e22", "integer", 10**22),
        ("1e22", "number", 10**22),
        ("12345678901234567890e2", "number", 1234567890123456789000),
        ("1e400", "number", 10**400),
        ("1.5e400", "number", 15 * 10**399),
        ("3.0", "number", 3.0),
        ("3.0", "integer", 3),
        ("3.5", "integer", "3.5"),
        ("-0", "number", 0),
        ("-0.0", "number", -0.0),
        ("1e-400", "number", 0.0),
        ("inf", "number", "inf"),
        ("NaN", "integer", "NaN"),
        ("1e999999999", "integer", "1e999999999"),
        ("0e999999999", "number", "0e999999999"),
        ("9" * 5000, "number", "9" * 5000),
        ("1e" + "9" * 5000, "number", "1e" + "9" * 5000),
    ],
)
def test_numbers_of_any_size_and_form(text, kind, value):
    assert same(cast(text, {"type": kind}), value)


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("7", {"enum": [7, 8]}, 7),
        ("7", {"const": 7}, 7),
        ("7", {"enum": ["7", 7]}, "7"),
        ("9", {"enum": ["7", 7]}, "9"),
        ("9", {"enum": [7]}, 9),
        ("true", {"enum": [True, None]}, True),
        ("null", {"enum": [1, None]}, None),
        ("null", {"enum": ["null", "x"]}, "null"),
        ("1.5", {"enum": [1.5, "a"]}, 1.5),
        ("a", {"type": "string", "enum": ["a", "b"]}, "a"),
        ("7", {"type": "string", "enum": ["a"]}, "7"),
        ("7", {"type": "string", "enum": [7]}, "7"),
        ("7", {"type": "number", "enum": [7]}, 7),
        ("[1]", {"enum": [[1], [2]]}, [1]),
        ('{"a": 1}', {"const": {"a": 1}}, {"a": 1}),
        (" a ", {"enum": ["a", "b"]}, "a"),
    ],
)
def test_members_of_an_enumeration_are_found_by_their_text(text, schema, value):
    assert same(cast(text, schema), value)


NESTED = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "list": {"type": "array", "items": {"type": "number"}},
        "pair": {"type": "array", "prefixItems": [{"type": "boolean"}], "items": {"type": "integer"}},
        "any": {},
        "name": {"type": "string"},
    },
    "additionalProperties": {"type": "boolean"},
}


@pytest.mark.parametrize("form", [lambda value: value, json.dumps])
def test_members_and_items_are_cast_inside_values_and_inside_texts_of_values(form):
    value = {"n": "7", "list": ["1", 2.5, "x"], "pair": ["true", "2"], "any": {"a": "1"}, "name": "5", "other": "true"}
    assert cast(form(value), NESTED) == {
        "n": 7,
        "list": [1, 2.5, "x"],
        "pair": [True, 2],
        "any": {"a": "1"},
        "name": "5",
        "other": True,
    }


def test_arguments_that_are_not_declared_follow_additional_properties():
    assert cast_arguments({"a": "7"}, {"type": "object", "additionalProperties": {"type": "integer"}}) == {"a": 7}
    assert cast_arguments({"a": "7"}, {"type": "object", "additionalProperties": False}) == {"a": "7"}
    assert cast_arguments({"a": "7"}, {"type": "object"}) == {"a": "7"}
    assert cast_arguments({"a": "7"}, None) == {"a": "7"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"kind": "a", "x": "1"}', {"kind": "a", "x": 1}),
        ('{"kind": "b", "x": "1"}', {"kind": "b", "x": "1"}),
        ('{"y": "true"}', {"y": True}),
        ('{"kind": "c", "x": "1"}', {"kind": "c", "x": 1}),
    ],
)
def test_of_several_kinds_of_objects_the_one_that_fits_is_taken(text, value):
    schema = {
        "anyOf": [
            {"properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind"]},
            {"properties": {"kind": {"const": "b"}, "x": {"type": "string"}}, "required": ["kind"]},
            {"properties": {"y": {"type": "boolean"}}, "required": ["y"]},
        ]
    }
    assert cast(text, {**schema, "type": "object"}) == value


def test_references_are_followed_within_the_tools_own_schema():
    definitions = {
        "Options": {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/Number"}, "more": {"$ref": "#/$defs/Options"}},
        },
        "Number": {"allOf": [{"$ref": "#/definitions/odd~1name~0%25"}]},
    }
    root = {"$defs": definitions, "definitions": {"odd/name~%": {"type": "integer"}}}
    assert cast('{"a": "1", "more": {"a": "2"}}', {"$ref": "#/$defs/Options"}, **root) == {"a": 1, "more": {"a": 2}}
    assert (
        cast("7", {"$ref": "#/properties/y"}, properties={"x": {"$ref": "#/properties/y"}, "y": {"type": "integer"}})
        == 7
    )


@pytest.mark.parametrize(
    "reference",
    [
        "https://example.com/schema.json",
        "file:///etc/passwd",
        "#/$defs/Missing",
        "#/$defs/0/x",
        "#anchor",
        "",
        "other#/a",
    ],
)
def test_references_to_elsewhere_say_nothing_and_are_never_fetched(reference):
    assert cast("7", {"$ref": reference}, **{"$defs": {}}) == "7"


@pytest.mark.parametrize(
    "definitions",
    [
        {"A": {"$ref": "#/$defs/A"}},
        {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
        {"A": {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}, "B": {"allOf": [{"$ref": "#/$defs/A"}]}},
        {name: {"anyOf": [{"$ref": f"#/$defs/{other}"} for other in "ABCDEFGHIJ"]} for name in "ABCDEFGHIJ"},
    ],
)
def test_references_in_circles_end(definitions):
    assert cast("7", {"$ref": "#/$defs/A"}, **{"$defs": definitions}) == "7"


def test_a_branch_that_leads_back_to_itself_adds_nothing():
    definitions = {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "integer"}]}}
    assert cast("7", {"$ref": "#/$defs/A"}, **{"$defs": definitions}) == 7


def test_a_reference_may_be_used_in_several_branches():
    definitions = {"N": {"type": "integer"}}
    schema = {"anyOf": [{"type": "object", "properties": {"a": {"$ref": "#/$defs/N"}}}, {"$ref": "#/$defs/N"}]}
    assert cast("7", schema, **{"$defs": definitions}) == 7
    assert cast('{"a": "7"}', schema, **{"$defs": definitions}) == {"a": 7}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"anyOf": [inner]},
        lambda inner: {"allOf": [inner]},
        lambda inner: {"oneOf": [inner, inner]},
        lambda inner: {"type": "object", "properties": {"a": inner}},
        lambda inner: {"type": "array", "items": inner},
    ],
)
def test_schemas_of_thousands_of_levels_end(wrap):
    schema: Any = {"type": "integer"}
    for _ in range(5000):
        schema = wrap(schema)
    assert cast("7", schema) in ("7", 7)
    assert cast('{"a": {"a": "7"}}', schema)
    assert cast([[["7"]]], schema)


def test_values_of_hundreds_of_levels_are_kept():
    value: Any = "7"
    for _ in range(400):
        value = {"a": [value]}
    schema = {"$ref": "#/$defs/A"}
    node = {"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"a": {"items": {"$ref": "#/$defs/A"}}}}]}
    assert cast(value, schema, **{"$defs": {"A": node}}) == value


def test_a_huge_enumeration_and_a_huge_union_are_read_once():
    reader = SchemaReader({})
    schema = {"anyOf": [{"type": "object", "properties": {"a": {}}}] * 100_000}
    branches = reader.branches([schema])
    assert len(branches) <= MAX_VISITS
    assert reader.branches([schema]) is branches
    assert cast("w99999", {"enum": [f"w{number}" for number in range(100_000)]}) == "w99999"
    assert cast("99999", {"enum": [*range(100_000)]}) == 99999


ODD_SCHEMAS = [
    *(True, None, 5, {}, {"type": "integer"}, {"type": ["string", "null"]}, {"enum": [1, "a", None, []]}, {"const": 1}),
    *({"$ref": "#"}, {"$ref": "#/properties/x"}, {"required": True}, {"required": ["a", 5]}, {"properties": 5}),
    *({"type": "array", "items": 5}, {"allOf": 5, "anyOf": {}}, {"prefixItems": "x"}, {"enum": "abc"}),
]
schemas = st.recursive(
    st.sampled_from(ODD_SCHEMAS),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "number", "boolean", None]),
            "anyOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=2),
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "items": inner | st.lists(inner, max_size=2),
            "additionalProperties": inner,
            "required": st.lists(st.sampled_from("ab"), max_size=1),
            "nullable": st.booleans(),
        },
    ),
    max_leaves=8,
)
values = st.recursive(
    st.sampled_from(["7", "null", "x", "", "[1]", '{"a": "1"}', 7, 1.5, None, True]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(schemas, values)
def test_no_schema_and_no_value_is_too_odd(schema, value):
    before = json.dumps(value)
    cast(value, schema)
    assert json.dumps(value) == before


@given(schemas, values)
def test_what_has_been_cast_is_not_cast_again(schema, value):
    once = cast(value, schema)
    assert same(cast(once, schema), once)


@pytest.mark.parametrize("missing", [{}, {"arguments": None}, {"arguments": ""}, {"arguments": " \n"}])
def test_absent_arguments_are_an_empty_object_where_the_tool_requires_none(missing):
    tools = [
        {"name": "free", "parameters": {"type": "object", "properties": {"a": {}}, "required": []}},
        {"name": "bare"},
        {"name": "strict", "parameters": {"type": "object", "properties": {"a": {}}, "required": ["a"]}},
    ]
    schemas = ToolSchemas.from_tools(tools)
    for name in ("free", "bare", "unknown"):
        value = {"function": {"name": name, **missing}}
        assert schemas.cast(value, lenient=True) == {"function": {"name": name, "arguments": {}}}
        assert schemas.cast(value, lenient=False) == value
    with pytest.raises(ContentError, match="requires a"):
        schemas.cast({"function": {"name": "strict", **missing}}, lenient=True)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ('{"x": "7"}', {"x": 7}),
        (json.dumps('{"x": "7"}'), {"x": 7}),
        (" {} ", {}),
        ("[1]", "[1]"),
        ("x=7", "x=7"),
        ("[" * 5000, "[" * 5000),
        ([1], [1]),
    ],
)
def test_arguments_that_are_json_text_of_an_object_become_it(arguments, value):
    assert cast_arguments(arguments, {"properties": {"x": {"type": "integer"}}}) == value


def test_without_tools_texts_of_objects_still_become_objects():
    schemas = ToolSchemas.from_tools(None)
    value = {"function": {"name": "f", "arguments": '{"x": "7"}'}}
    assert schemas.cast(value, lenient=True) == {"function": {"name": "f", "arguments": {"x": "7"}}}


PARAMETERS = {
    "zip": {"type": "string"},
    "content": {"type": ["string", "null"]},
    "count": {"type": "integer"},
    "options": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "colour": {"enum": ["1", "2"]},
    "free": {},
    "tags": {"type": "array", "items": {"type": "string"}},
}


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("zip", "90210", "90210"),
        ("zip", '"quoted"', '"quoted"'),
        ("zip", "null", "null"),
        ("content", '{\n  "a": 1\n}', '{\n  "a": 1\n}'),
        ("content", "null", None),
        ("count", "1e3", 1000),
        ("count", "007", 7),
        ("count", "[1]", [1]),
        ("options", '{"n": "1"}', {"n": 1}),
        ("options", "{n: 1}", "{n: 1}"),
        ("options", "[1]", [1]),
        ("colour", "1", "1"),
        ("colour", "9", "9"),
        ("free", "90210", 90210),
        ("unknown", "90210", 90210),
        ("tags", '["1"]', ["1"]),
    ],
)
def test_a_schema_reads_the_text_itself_where_a_parser_had_to_guess(key, text, value):
    arguments = {"tag_pattern": PARAMETER, "value_parser": {"name": "json", "args": {"allow_non_json": True}}}
    parsed = prepare_content("xml-inline", arguments, keep_source=True)(f"<parameter={key}>{text}</parameter>")
    result = cast_arguments(parsed, {"type": "object", "properties": PARAMETERS})
    assert same(result, {key: value})
    assert type(result) is dict


def test_each_of_several_values_of_a_key_is_read_from_its_own_text():
    arguments = {
        "tag_pattern": PARAMETER,
        "value_parser": {"name": "json", "args": {"allow_non_json": True}},
        "merge_duplicates": True,
    }
    text = "<parameter=zip>1</parameter><parameter=zip>a</parameter><parameter=zip>02</parameter>"
    parsed = prepare_content("xml-inline", arguments, keep_source=True)(text)
    assert cast_arguments(parsed, {"properties": PARAMETERS}) == {"zip": ["1", "a", "02"]}


def test_what_is_no_call_comes_out_as_a_plain_dictionary_too():
    parsed = prepare_content("kv-lines", {"value_parser": {"name": "int"}}, keep_source=True)("a: 1")
    schemas = ToolSchemas.from_tools(None)
    assert type(schemas.cast(parsed, lenient=True)) is dict
    assert type(schemas.cast([{"cited": {"fields": parsed}}], lenient=True)[0]["cited"]["fields"]) is dict


def test_json_that_was_not_guessed_keeps_its_strings():
    arguments = {"value_parser": {"name": "json"}}
    parsed = prepare_content("kv-lines", arguments, keep_source=True)('zip: "90210"\ncount: "7"\ncontent: 5')
    assert cast_arguments(parsed, {"properties": PARAMETERS}) == {"zip": "90210", "count": 7, "content": "5"}
