"""When what is certain of a tool call is given out: as soon as it is, never before, and never taken back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import ContentError
from streamparse.stages.content_stage import ContentStage
from streamparse.template import ResponseTemplate, load_response_template

Check = Callable[..., list[dict[str, Any]]]

TAG = r"<p=(?P<key>\w+)>\n?(?P<value>.*?)\n?</p>"
GEMMA = {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]}
NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
WHOLE = {"type": "function", "function": "{content}"}
TOOLS = [
    {
        "name": "f",
        "parameters": {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "maybe": {"type": ["string", "null"]},
                "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
                "number": {"type": "integer"},
                "edits": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"new": {"type": "string"}, "all": {"type": "boolean"}}},
                },
            },
        },
    }
]


def template(content: str, arguments: Any = None, policy: Any = None, **field: Any) -> ResponseTemplate:
    call = {"open_pattern": "<call (?P<name>\\w+)>", "close": "</call>", "repeats": True, "transform": NAMED} | field
    source: dict[str, Any] = {
        "start_anchor": "<|assistant|>",
        "fields": {
            "content": {},
            "tool_calls": {"content": content, "content_args": arguments or {}}
            | {key: value for key, value in call.items() if value is not None},
        },
    }
    if policy is not None:
        source["streamparse"] = {"fields": {"tool_calls": policy}}
    return load_response_template(source)


def unnamed(content: str = "json", policy: Any = None, **field: Any) -> ResponseTemplate:
    return template(content, policy=policy, **{"open": "<call>", "open_pattern": None, "transform": WHOLE, **field})


def given_out(core: Any, text: str) -> list[dict[str, Any]]:
    """What of each call is given out by the end of a text that goes on."""
    calls: dict[int, dict[str, Any]] = {}
    for character in text:
        for event in core.feed(character):
            if event["type"] == "region_delta":
                call = calls.setdefault(event["index"], {"arguments": ""})
                call["arguments"] += event.get("arguments", "")
                call |= {key: event[key] for key in ("name", "id") if key in event}
    return list(calls.values())


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    ("written", "text", "expected"),
    [
        (template("json"), "<call f>{", "{"),
        (template("json"), '<call f>{"text" : "a b', '{"text":"a b'),
        (template("json"), '<call f>{"text": "a\\', '{"text":"a'),
        (template("json"), '<call f>{"text": "a\\n', '{"text":"a\\n'),
        (template("json"), '<call f>{"text": "\\ud83d', '{"text":"'),
        (template("json"), '<call f>{"text": "\\ud83d\\ude0', '{"text":"'),
        (template("json"), '<call f>{"text": "\\ud83d\\ude00', '{"text":"😀'),
        (template("json"), '<call f>{"text": "\\u00e9\\/', '{"text":"é/'),
        (template("json"), '<call f>{"n": 12', '{"n":'),
        (template("json"), '<call f>{"n": 12,', '{"n":12'),
        (template("json"), '<call f>{"n": [1.50 , {"a": tr', '{"n":[1.5,{"a":'),
        (template("json"), '<call f>{"number": "12', '{"number":'),
        (template("json"), '<call f>{"number": "12",', '{"number":12'),
        (template("json"), '<call f>{"maybe": "nut', '{"maybe":"nut'),
        (template("json", GEMMA), '<call f>{text:<|"|>a "b"', '{"text":"a \\"b\\"'),
        (template("json", GEMMA), '<call f>{text:<|"|>a <|"', '{"text":"a '),
        (template("xml-inline", {"tag_pattern": TAG}), "<call f>", "{"),
        (template("xml-inline", {"tag_pattern": TAG}), "<call f>\n<p=text>\na</", '{"text":"a'),
        (template("xml-inline", {"tag_pattern": TAG}), "<call f>\n<p=text>\na\n", '{"text":"a'),
        (template("xml-inline", {"tag_pattern": TAG}), "<call f>\n<p=text>\na\n b", '{"text":"a\\n b'),
        (template("xml-inline", {"tag_pattern": TAG}), "<call f>\n<p=number>\n1", '{"number":'),
        (template("xml-inline", {"tag_pattern": TAG}), "<call f>\n<p=maybe>nul", '{"maybe":'),
        (template("xml-inline", {"tag_pattern": TAG}), "<call f>\n<p=maybe>nulx", '{"maybe":"nulx'),
        (template("kv-lines"), "<call f>text: a", "{"),
        (template("kv-lines"), "<call f>text: a\nnumber: 1\nx", '{"text":"a","number":1'),
    ],
)
def test_what_is_certain_is_given_out_and_nothing_else(
    core: Any, written: ResponseTemplate, text: str, expected: str, lenient: bool
) -> None:
    calls = given_out(core(written, TOOLS, lenient=lenient), text)
    assert calls == [{"name": "f", "arguments": expected}]


@pytest.mark.parametrize(
    ("written", "text", "strict", "lenient"),
    [
        (template("json"), '<call f>{"maybe": "nu', '{"maybe":', '{"maybe":"nu'),
        (template("xml-inline", {"tag_pattern": TAG}), "<call f>\n<p=maybe>No", '{"maybe":', '{"maybe":"No'),
        (template("xml-inline", {"tag_pattern": TAG}), "<call f>\n<p=either>[1", '{"either":', '{"either":'),
        (template("xml-inline", {"tag_pattern": TAG}), "<call f>\n<p=either>[1 x", '{"either":', '{"either":"[1 x'),
    ],
)
def test_a_text_that_may_be_null_or_a_list_goes_out_as_soon_as_it_is_neither(
    core: Any, written: ResponseTemplate, text: str, strict: str, lenient: str
) -> None:
    assert given_out(core(written, TOOLS, lenient=False), text) == [{"name": "f", "arguments": strict}]
    assert given_out(core(written, TOOLS, lenient=True), text) == [{"name": "f", "arguments": lenient}]


def test_a_python_call_list_is_given_out_call_by_call(core: Any) -> None:
    each = {"function": {"name": "{name}", "arguments": "{arguments}"}}
    written = unnamed("python-call-list", transform=each, transform_each=True, repeats=False)
    calls = given_out(core(written, TOOLS), "<call>[g(a=True), f(text='it\\'s', number='7', maybe=\"x")
    assert calls == [
        {"name": "g", "arguments": '{"a":true}'},
        {"name": "f", "arguments": '{"text":"it\'s","number":7,"maybe":"x'},
    ]


def test_members_of_members_go_out_as_their_own_types_allow(core: Any) -> None:
    text = '<call f>{"edits": [{"new": "a", "all": "true"}, {"all": "fal'
    calls = given_out(core(template("json"), TOOLS, lenient=True), text)
    assert calls[0]["arguments"] == '{"edits":[{"new":"a","all":true},{"all":'


def test_a_guessed_value_is_text_as_soon_as_it_can_be_nothing_else(core: Any) -> None:
    arguments = {"tag_pattern": TAG, "value_parser": {"name": "json", "args": {"allow_non_json": True}}}
    calls = given_out(core(template("xml-inline", arguments)), '<call f><p=a>{"x": 1}</p><p=b>{"x" is')
    assert calls[0]["arguments"] == '{"a":{"x":1},"b":"{\\"x\\" is'


def test_an_id_goes_out_with_the_name_where_it_is_known_by_then(core: Any) -> None:
    captured = {"id": "{id}", **NAMED}
    written = template("json", open_pattern="<call (?P<name>\\w+)#(?P<id>\\w+)>", transform=captured)
    (event,) = [event for event in core(written).feed("<call f#7>") if event["type"] == "region_delta"]
    assert event == {"type": "region_delta", "field": "tool_calls", "index": 0, "id": "7", "name": "f"}


def test_an_id_after_the_arguments_goes_out_by_itself(core: Any, put_deltas_together: Any) -> None:
    written = unnamed(transform={"id": "{content.id}", "function": "{content}"})
    events = core(written).run(['<call>{"name": "f", "arguments": {}, "id": "x1"}</call>'])
    assert put_deltas_together(events) == [{"name": "f", "arguments": "{}", "id": "x1"}]


POLICY = {"calls": {"name": ["name", "function.name"], "arguments": ["arguments", "parameters"], "id": ["id"]}}


def test_a_path_that_may_yet_be_outranked_waits_for_the_end_of_the_call(core: Any) -> None:
    reading = core(unnamed(policy=POLICY), lenient=True)
    assert given_out(reading, '<call>[{"name": "f", "parameters": {"a": 1}') == [{"name": "f", "arguments": ""}]
    assert given_out(reading, "}") == [{"arguments": '{"a":1}'}]


def test_the_path_that_the_transform_names_does_not_wait(core: Any) -> None:
    usual = {"function": {"name": "{content.name}", "arguments": "{content.parameters}"}}
    reading = core(unnamed(policy=POLICY, transform=usual), lenient=True)
    assert given_out(reading, '<call>{"name": "f", "parameters": {"a": 1') == [{"name": "f", "arguments": '{"a":'}]


BY_KEY = {"calls": {"name": ["name"], "arguments": ["arguments"], "id": ["id"], "by_key": True}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<call>[{"f"', []),
        ('<call>[{"f": {', [("f", "{")]),
        ('<call>[{"f": {"text": "a b', [("f", '{"text":"a b')]),
        ('<call>[{"f": {"number": "7"}}, {"g": {"x": tru', [("f", '{"number":7}'), ("g", '{"x":')]),
        ('<call>{"name": "f", "arguments": {"a": "x', [("f", '{"a":"x')]),
        ('<call>{"id": {"f": {}}, "a": {"x": 1', []),
        ('<call>{"f": "x", "g": {"y": 1', []),
    ],
)
def test_a_call_is_named_by_its_key_as_soon_as_an_object_stands_behind_it(
    core: Any, text: str, expected: list[tuple[str, str]]
) -> None:
    calls = given_out(core(unnamed(policy=BY_KEY, transform=None), TOOLS, lenient=True), text)
    assert [(call["name"], call["arguments"]) for call in calls] == expected


def test_a_call_named_by_its_key_that_has_other_keys_is_malformed(core: Any, put_deltas_together: Any) -> None:
    text = '<call>[{"f": {"a": 1}, "g": {"b": 2}}]</call><call>[{"h": {}}]</call>'
    for pieces in ([text], [*text]):
        events = core(unnamed(policy=BY_KEY, transform=None), lenient=True).run(pieces)
        (malformed,) = [event for event in events if event["type"] == "region_malformed"]
        assert "'f'" in malformed["error"]
        assert put_deltas_together(events) == [{"name": "f", "arguments": '{"a":1}'}, {"name": "h", "arguments": "{}"}]


MADE = "made 0"
WRITES_IDS = {"calls": {"name": ["name"], "arguments": ["arguments"], "id": ["id"], "writes_ids": True}}
LATE = '<call>{"name": "f", "arguments": {"a": 1}, "id": "written"}</call>'
EARLY = '<call>{"id": "written", "name": "f", "arguments": {"a": 1}}</call>'
NO_ID = '<call>{"name": "f", "arguments": {"a": 1}}</call>'


@pytest.mark.parametrize(
    ("policy", "text", "first", "final"),
    [
        (POLICY, NO_ID, MADE, MADE),
        (POLICY, EARLY, "written", "written"),
        (POLICY, LATE, MADE, MADE),
        (WRITES_IDS, NO_ID, None, MADE),
        (WRITES_IDS, EARLY, "written", "written"),
        (WRITES_IDS, LATE, None, "written"),
        (BY_KEY, '<call>{"f": {"a": 1}}</call>', MADE, MADE),
    ],
)
def test_a_made_id_comes_with_the_name_unless_the_models_write_ids(
    core: Any, policy: Any, text: str, first: str | None, final: str
) -> None:
    """What was given out stands: an id that the model writes after that is not the call's."""
    for pieces in ([text], [*text]):
        reading = core(unnamed(policy=policy, transform=None), lenient=True, made_id=lambda index: f"made {index}")
        events = reading.run(pieces)
        deltas = [event for event in events if event["type"] == "region_delta"]
        value = next(event["value"] for event in events if event["type"] == "region_close" and "tool" in event["field"])
        assert [event["id"] for event in deltas if "id" in event] == [final]
        assert value["id"] == final
        if len(pieces) > 1:
            assert deltas[0].get("id") == first


def test_a_call_that_is_left_out_of_a_list_takes_its_id_with_it(core: Any) -> None:
    reading = core(
        unnamed("python-call-list", policy=POLICY, transform=None), lenient=True, made_id=lambda index: f"made {index}"
    )
    reading.content = ContentStage({}, lenient=True, repair=True)
    events = reading.run([*"<call>[f(a=1), g('x'), h(b=2)]</call>"])
    ids = {event["name"]: event["id"] for event in events if "name" in event}
    (value,) = [event["value"] for event in events if event["type"] == "region_close" and "tool" in event["field"]]
    assert {call["function"]["name"]: call["id"] for call in value} == {name: ids[name] for name in ("f", "h")}


@pytest.mark.parametrize("lenient", [False, True])
def test_arguments_that_need_not_be_json_are_followed_where_others_are_refused(core: Any, lenient: bool) -> None:
    calls = given_out(core(template("json", {"allow_non_json": True}), lenient=lenient), '<call f>{"a": "x')
    assert calls == [{"name": "f", "arguments": '{"a":"x' if lenient else ""}]


@pytest.mark.parametrize("body", ['{"name": "f", "arguments": {"a": "x', '[{"name": "f", "arguments": {"a": "x'])
def test_another_reading_is_followed_where_the_first_one_fails(core: Any, body: str) -> None:
    policy = POLICY | {"alternatives": [{"content": "json", "content_args": {}}]}
    written = unnamed("python-call-list", policy, transform=None)
    assert given_out(core(written, lenient=True), f"<call>{body}") == [{"name": "f", "arguments": '{"a":"x'}]


def test_calls_in_lines_are_followed_too(core: Any) -> None:
    policy = POLICY | {"alternatives": [{"content": "python-call-list", "content_args": {"brackets": False}}]}
    written = unnamed("python-call-list", policy, transform=None)
    calls = given_out(core(written, lenient=True), "<call>\nf(a=1)\ng(b='x")
    assert calls == [{"name": "f", "arguments": '{"a":1}'}, {"name": "g", "arguments": '{"b":"x'}]


def test_repeated_keys_that_are_collected_wait_for_the_close(core: Any, check: Check) -> None:
    written = template("xml-inline", {"tag_pattern": TAG, "merge_duplicates": True})
    text = "<call f><p=a>1</p><p=a>2</p>"
    assert given_out(core(written), text) == [{"name": "f", "arguments": ""}]
    check(written, [*text, "</call>"])


def test_index_counts_the_calls_of_the_message(core: Any, put_deltas_together: Any) -> None:
    text = "".join(
        f'<call>[{{"name": "a{n}", "arguments": {{}}}}, {{"name": "b{n}", "arguments": {{}}}}]</call>' for n in "12"
    )
    written = unnamed(transform_each=True, transform={"function": {"name": "{name}", "arguments": "{arguments}"}})
    assert [call["name"] for call in put_deltas_together(core(written).run([*text]))] == ["a1", "b1", "a2", "b2"]


def test_a_malformed_call_says_so_and_the_next_one_is_another(core: Any, put_deltas_together: Any) -> None:
    text = '<call f>{"a": "x", "b": }</call><call g>{"c": 1}</call>'
    events = core(template("json"), lenient=True).run([*text])
    kinds = [event["type"] for event in events if event["type"] != "region_chunk"]
    assert kinds.index("region_malformed") < kinds.index("region_close")
    broken, whole = put_deltas_together(events)
    assert (broken["name"], broken["arguments"]) == ("f", '{"a":"x","b":')
    assert (whole["name"], json.loads(whole["arguments"])) == ("g", {"c": 1})


@pytest.mark.parametrize("value", [{"a": "xy"}, {"a": "x", "b": [1]}, {"a": 'x", "b'}])
def test_a_final_value_that_continues_what_was_given_out_is_completed(core: Any, value: dict[str, Any]) -> None:
    reading = core(template("json"), lenient=True)
    before = given_out(reading, '<call f>{"a": "x')
    *_, end = reading.deltas.feed(reading.regions.feed("</call>") + reading.regions.finish())
    rest = reading.deltas.rest(end, {"function": {"name": "f", "arguments": value}})
    assert json.loads(before[0]["arguments"] + "".join(event["arguments"] for event in rest)) == value


@pytest.mark.parametrize(
    "call",
    [
        {"name": "f", "arguments": {"a": "y"}},
        {"name": "f", "arguments": {"b": "x"}},
        {"name": "f", "arguments": {}},
        {"name": "f"},
        {"name": "g", "arguments": {"a": "x"}},
        {},
    ],
)
def test_a_final_value_that_is_another_call_is_refused(core: Any, call: dict[str, Any]) -> None:
    reading = core(template("json"), lenient=True)
    given_out(reading, '<call f>{"a": "x')
    *_, end = reading.deltas.feed(reading.regions.feed("</call>") + reading.regions.finish())
    with pytest.raises(ContentError, match="is not what was given out"):
        reading.deltas.rest(end, {"function": call})


MENDABLE = [
    (template("xml-inline", {"tag_pattern": TAG}), "<p=a>\nends with </p> here.\n</p>", {"a": "ends with </p> here."}),
    (template("xml-inline", {"tag_pattern": TAG}), "<p=a>\n/tmp\n<p=b>\nhi\n</p>", {"a": "/tmp", "b": "hi"}),
    (template("xml-inline", {"tag_pattern": TAG}), "<p=a>\n/tmp\n", {"a": "/tmp"}),
    (template("json", GEMMA), '{a:<|"|>f(<|"|>x<|"|>)<|"|>}', {"a": 'f("x")'}),
    (template("json", GEMMA), '{a:<|"|>look<|"|>b:90}', {"a": "look", "b": 90}),
    (template("json"), '{"a": "he said "hi" to me"}', {"a": 'he said "hi" to me'}),
    (template("json"), '{"a": "x\ty", "b": 1}', {"a": "x\ty", "b": 1}),
    (template("json"), '{"a": "C:\\proj"}', {"a": "C:\\proj"}),
    (template("json"), '{"a": 12, "b": [3,],}', {"a": 12, "b": [3]}),
    (template("json"), '{"a": "x" "b": 1 "c": 2}', {"a": "x", "b": 1, "c": 2}),
    (template("json"), '{"a": True, "b": None}', {"a": True, "b": None}),
    (template("json"), "{\"a\": 'x'}", {"a": "x"}),
    (template("json"), '{"a": "x"} and so on', {"a": "x"}),
    (template("json"), '{"a": {"b": "x"', {"a": {"b": "x"}}),
]


@pytest.mark.parametrize(("written", "body", "value"), MENDABLE, ids=[body for _, body, _ in MENDABLE])
def test_what_is_mended_later_never_contradicts_what_was_given_out(
    core: Any, written: ResponseTemplate, body: str, value: dict[str, Any]
) -> None:
    reading = core(written, lenient=True)
    before = given_out(reading, f"<call f>{body}")
    ends = [item for item in reading.deltas.feed(reading.regions.finish()) if not isinstance(item, dict)]
    rest = reading.deltas.rest(ends[0], {"function": {"name": "f", "arguments": value}})
    assert json.loads(before[0]["arguments"] + "".join(event["arguments"] for event in rest)) == value


@given(st.integers(0, 200), st.booleans())
def test_a_parser_that_is_taken_up_elsewhere_goes_on_where_it_was(core: Any, place: int, lenient: bool) -> None:
    text = '<call f>{"text": "a\\ud83d\\ude00 b", "number": "12", "maybe": "nut"}</call>x<call g>{"a": [1, "y"]}</call>'
    place %= len(text) + 1
    first = core(template("json"), TOOLS, lenient=lenient)
    events = [event for character in text[:place] for event in first.feed(character)]
    second = core(template("json"), TOOLS, lenient=lenient)
    second.restore(first.snapshot())
    events += [event for character in text[place:] for event in second.feed(character)] + second.finish()
    assert events == core(template("json"), TOOLS, lenient=lenient).run(text)


NOISY = [
    (template("json"), '<call f>{"text": "a\\ud83d\\ude00 b", "number": "12", "x": [1, {"maybe": "nut"}]}</call>'),
    (template("json", GEMMA), '<call f>{text:<|"|>a b<|"|>,number:12,x:[<|"|>y<|"|>]}</call>'),
    (template("xml-inline", {"tag_pattern": TAG}), "<call f><p=text>\na b\n</p>\n<p=number>12</p></call>"),
    (template("kv-lines"), "<call f>text: a\nnumber: 12\n</call>"),
    (unnamed(policy=POLICY), '<call>[{"name": "f", "arguments": {"text": "a"}}, {"name": "g"}]</call>'),
    (
        unnamed("python-call-list", POLICY | {"alternatives": [{"content": "json"}]}, transform=None),
        "<call>[f(text='a', number=\"12\"), g(x=[1, {'a': None}])]</call>",
    ),
]
NOISE = st.text(st.sampled_from("\"'\\\\{}[](),:=</p>\n\tu1a "), max_size=6)


@given(st.sampled_from(NOISY), st.integers(0, 200), st.integers(0, 10), NOISE, st.integers(0, 200))
def test_cuts_do_not_matter_for_what_is_malformed_either(
    core: Any, put_deltas_together: Any, case: Any, place: int, dropped: int, noise: str, cut: int
) -> None:
    written, text = case
    place, cut = place % len(text), cut % len(text)
    text = text[:place] + noise + text[place + dropped :]

    def outcome(pieces: list[str]) -> Any:
        reading = core(written, TOOLS, lenient=True)
        events = [event for piece in pieces for event in reading.feed(piece)]
        before = put_deltas_together(events)
        events += reading.finish()
        others = [event for event in events if event["type"] not in ("region_chunk", "region_delta")]
        return before, put_deltas_together(events), others

    whole = outcome([text])
    assert outcome([*text]) == whole
    assert outcome([text[:cut], text[cut:]]) == whole


def test_what_the_prompt_wrote_of_a_call_is_part_of_it(core: Any, put_deltas_together: Any) -> None:
    reading = core(template("json"), lenient=True)
    events = reading.through(reading.regions.feed_prefix('<call f>{"a": "x</'))
    events += reading.run(['y", "b": 1}</call>'])
    assert put_deltas_together(events) == [{"name": "f", "arguments": '{"a":"x</y","b":1}'}]


def test_nothing_is_given_out_for_fields_that_are_no_calls(core: Any) -> None:
    source = {
        "start_anchor": "<|assistant|>",
        "fields": {"content": {}, "data": {"open": "<data>", "close": "</data>", "content": "json"}},
    }
    events = core(load_response_template(source)).run(['<data>{"name": "f", "arguments": {}}</data>'])
    assert all(event["type"] != "region_delta" for event in events)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("filler", ["x", " ", "\n", "\\\\", "é", "<", "</p", "1, ", '"'])
@pytest.mark.parametrize(
    "written", [template("json"), template("xml-inline", {"tag_pattern": TAG}), template("kv-lines")]
)
def test_long_values_add_up_character_by_character(
    check: Check, written: ResponseTemplate, filler: str, lenient: bool
) -> None:
    value = filler * (6_000 // len(filler))
    body = {
        "json": json.dumps({"text": value}) + "\n",
        "xml-inline": f"<p=text>x{value}</p>",
        "kv-lines": f"text: {value}",
    }[written.fields["tool_calls"].content]
    check(written, [*f"<call f>{body}</call>"], TOOLS, lenient=lenient)


@pytest.mark.parametrize(
    "arguments",
    ['"arguments": "{\\"a\\": 1}"', '"arguments": null', '"arguments": ""', '"kind": "x"', '"arguments": {}'],
)
def test_arguments_that_only_stand_for_an_object_are_given_out_as_the_object(check: Check, arguments: str) -> None:
    text = f'<call>{{"name": "f", {arguments}}}</call>'
    for pieces in ([text], [*text]):
        check(unnamed(policy=POLICY), pieces, lenient=True)


@pytest.mark.parametrize("lenient", [False, True])
def test_field_cases_about_deltas(core: Any, put_deltas_together: Any, lenient: bool) -> None:
    """Field cases 89, 90 and 153: a cut surrogate pair, characters beyond ASCII, and arguments as they are written."""
    said = core(unnamed(), lenient=lenient).run(
        ['<call>{"name": "say", "arguments": {"t": "\\ud8', "3d\\", "ude0", '0 ok"}}</call>']
    )
    assert put_deltas_together(said) == [{"name": "say", "arguments": '{"t":"😀 ok"}'}]
    searched = core(unnamed(), lenient=lenient).run(
        ['<call>{"name": "s", "arguments": {"q": "Größe – 東京 😀"}}</call>']
    )
    assert put_deltas_together(searched) == [{"name": "s", "arguments": '{"q":"Größe – 東京 😀"}'}]
    reading = core(template("xml-inline", {"tag_pattern": TAG}), lenient=lenient)
    assert given_out(reading, "<call read>\n<p=path>\n/tmp/a") == [{"name": "read", "arguments": '{"path":"/tmp/a'}]
    assert put_deltas_together(
        [{"type": "region_delta", "field": "tool_calls", "index": 0, "name": "read"}, *reading.run(["\n</p>\n</call>"])]
    ) == [{"name": "read", "arguments": '"}'}]
