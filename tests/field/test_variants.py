"""What models write beside their family's usual form: other headers, marks left out, lists, ids, text elsewhere."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from streamparse import ResponseParser
from tests.field.forms import HARMONY
from tests.field.reading import call, message_of


class Case(NamedTuple):
    """What a model wrote, and the message."""

    what: str
    family: str
    text: str
    message: dict[str, Any]
    tools: tuple[str, ...] = ()


F = {"tool_calls": [call("f", a=1)]}
F_AND_G = {"tool_calls": [call("f", a=1), call("g")]}
JSON_HEADER = '<|message|>{"a": 1}<|call|>'
ANALYSIS = "<|channel|>analysis<|message|>Hm.<|end|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>"

HARMONY_HEADERS = [
    *(
        Case(f"recipient: {header}", "gpt_oss", header + JSON_HEADER, F)
        for header in [
            "<|channel|>commentary to=functions.f <|constrain|>json",
            "<|channel|>commentary to=functions.f<|constrain|>json",
            "<|channel|>commentary to=functions.f json",
            "<|channel|>commentary to=functions.f code",
            "<|channel|>commentary to=functions.f",
            "<|channel|>commentary to=f <|constrain|>json",
            "<|channel|>analysis to=functions.f <|constrain|>json",
            "<|channel|>commentary json to=functions.f",
            "<|channel|>commentary <|constrain|>json to=functions.f",
            " to=functions.f<|channel|>commentary <|constrain|>json",
            " to=functions.f<|channel|>commentary json",
            " to=f<|channel|>analysis code",
            "<|start|>assistant to=functions.f<|channel|>commentary<|constrain|>json",
            "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json",
        ]
    ),
    Case("json glued to a tool's name", "gpt_oss", "<|channel|>commentary to=functions.fjson" + JSON_HEADER, F, ("f",)),
    Case(
        "json at the end of a tool's name",
        "gpt_oss",
        "<|channel|>commentary to=functions.to_json" + JSON_HEADER,
        {"tool_calls": [call("to_json", a=1)]},
        ("to", "to_json"),
    ),
    Case(
        "another namespace",
        "gpt_oss",
        "<|channel|>commentary to=container.exec code" + JSON_HEADER,
        {"tool_calls": [call("container.exec", a=1)]},
    ),
    Case(
        "no arguments",
        "gpt_oss",
        "<|channel|>commentary to=functions.g<|message|><|call|>",
        {"tool_calls": [call("g")]},
    ),
    Case(
        "a preamble",
        "gpt_oss",
        "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.f"
        + JSON_HEADER,
        F | {"content": "I look."},
    ),
    Case(
        "two calls",
        "gpt_oss",
        "<|channel|>commentary to=functions.f"
        + JSON_HEADER
        + "<|start|>assistant<|channel|>commentary to=functions.g<|message|>{}<|call|>",
        F_AND_G,
    ),
    Case(
        "unframed reasoning",
        "gpt_oss",
        "Hm.<|end|>" + FINAL + "Hi<|return|>",
        {"reasoning_content": "Hm.", "content": "Hi"},
    ),
    Case("no channel", "gpt_oss", "<|message|>Hi<|return|>", {"content": "Hi"}),
    Case("another channel", "gpt_oss", "<|channel|>comment<|message|>Hi<|end|>", {"content": "Hi"}),
    Case(
        "a declared format",
        "gpt_oss",
        '<|channel|>final <|constrain|>json<|message|>{"a": 1}<|return|>',
        {"content": '{"a": 1}'},
    ),
    Case(
        "no end between messages",
        "gpt_oss",
        "<|channel|>analysis<|message|>Hm." + FINAL + "Hi",
        {"reasoning_content": "Hm.", "content": "Hi"},
    ),
    Case(
        "no start between messages",
        "gpt_oss",
        ANALYSIS + "<|channel|>final<|message|>Hi",
        {"reasoning_content": "Hm.", "content": "Hi"},
    ),
    Case(
        "lines between messages",
        "gpt_oss",
        ANALYSIS + "\n" + FINAL + "Hi<|return|>\n",
        {"reasoning_content": "Hm.", "content": "Hi"},
    ),
    Case("two ends", "gpt_oss", "<|channel|>final<|message|>Hi<|end|><|return|>", {"content": "Hi"}),
    Case("empty reasoning", "gpt_oss", "<|channel|>analysis<|message|><|end|>" + FINAL + "Hi", {"content": "Hi"}),
    Case(
        "to= in prose",
        "gpt_oss",
        "<|channel|>analysis<|message|>Set to=5 and to=functions.f later.<|end|>" + FINAL + "Hi",
        {"reasoning_content": "Set to=5 and to=functions.f later.", "content": "Hi"},
    ),
    Case(
        "a mark in an argument",
        "gpt_oss",
        '<|channel|>commentary to=functions.f<|message|>{"a": "<|end|><|start|>"}<|call|>',
        {"tool_calls": [call("f", a="<|end|><|start|>")]},
    ),
]

DEEPSEEK_FORMS = [
    *(
        Case(what, family, text, F)
        for family in ("deepseek_r1", "deepseek_v3", "deepseek_v31")
        for what, text in {
            "fence": '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": 1}\n```<｜tool▁call▁end｜>',
            "fence of no language": '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```\n{"a": 1}\n```'
            "<｜tool▁call▁end｜>",
            "no fence": '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n{"a": 1}<｜tool▁call▁end｜>',
            "no word": '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜>',
            "no word, but a fence": '<｜tool▁call▁begin｜>f<｜tool▁sep｜>```json\n{"a": 1}\n```<｜tool▁call▁end｜>',
            "lines": '<｜tool▁calls▁begin｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": 1}\n```\n'
            "<｜tool▁call▁end｜>\n<｜tool▁calls▁end｜>\n",
        }.items()
    ),
    Case(
        "a fence in an argument",
        "deepseek_v3",
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n"
        r'{"a": "```py\nx\n```"}'
        "\n```<｜tool▁call▁end｜>",
        {"tool_calls": [call("f", a="```py\nx\n```")]},
    ),
    Case("an empty section", "deepseek_v31", "<｜tool▁calls▁begin｜><｜tool▁calls▁end｜>", {}),
    Case(
        "values by what their tags say",
        "deepseek_dsml",
        '<｜DSML｜tool_calls><｜DSML｜invoke name="f">'
        '<｜DSML｜parameter name="zip" string="true">01234</｜DSML｜parameter>'
        '<｜DSML｜parameter name="n" string="false">-7</｜DSML｜parameter>'
        '<｜DSML｜parameter name="o" string="false">{"k": [1]}</｜DSML｜parameter>'
        "</｜DSML｜invoke></｜DSML｜tool_calls>",
        {"tool_calls": [call("f", zip="01234", n=-7, o={"k": [1]})]},
    ),
]

KIMI = "<|tool_call_begin|>{}<|tool_call_argument_begin|>{}<|tool_call_end|>"
KIMI_IDS = [
    *(
        Case(f"id: {written}", "kimi_k2", KIMI.format(written, '{"a": 1}'), {"tool_calls": [call(name, a=1)]})
        for written, name in {
            "functions.f:0": "f",
            "f:0": "f",
            "f": "f",
            " functions.f:12\n": "f",
            "functions.ns:f:0": "ns:f",
            "functions.mcp.read-file:3": "mcp.read-file",
        }.items()
    ),
    Case("an empty section", "kimi_k2", "Hi<|tool_calls_section_begin|><|tool_calls_section_end|>", {"content": "Hi"}),
    Case("a section and no more", "kimi_k2", "Hi<|tool_calls_section_begin|>", {"content": "Hi"}),
]

MISTRAL_FORMS = [
    Case("one after the other", "mistral", '[TOOL_CALLS]f[ARGS]{"a": 1}[TOOL_CALLS]g[ARGS]{}</s>', F_AND_G),
    Case("without [ARGS]", "mistral", '[TOOL_CALLS]f{"a": 1}</s>', F),
    Case("with spaces", "mistral", '[TOOL_CALLS] f [ARGS] {"a": 1}', F),
    Case(
        "with ids", "mistral", '[TOOL_CALLS]f[CALL_ID]abc123456[ARGS]{"a": 1}[TOOL_CALLS]g[CALL_ID]def[ARGS]{}', F_AND_G
    ),
    Case(
        "a list",
        "mistral",
        '[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}, "id": "x"}, {"name": "g", "arguments": {}}]',
        F_AND_G,
    ),
    Case(
        "two lists",
        "mistral",
        '[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}]\n[TOOL_CALLS] [{"name": "g"}]',
        F_AND_G,
    ),
    Case("an object", "mistral", '[TOOL_CALLS]{"name": "f", "arguments": {"a": 1}}</s>', F),
    Case("an empty list", "mistral", "Hi[TOOL_CALLS] []</s>", {"content": "Hi"}),
    Case(
        "text after a list",
        "mistral",
        '[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}] Done.',
        F | {"content": "Done."},
    ),
    Case(
        "a list in an argument",
        "mistral",
        '[TOOL_CALLS]f[ARGS]{"a": "]} [TOOL_CALLS]"}Done.',
        {"tool_calls": [call("f", a="]} [TOOL_CALLS]")], "content": "Done."},
    ),
]

OBJECT = '{"name": "f", "parameters": {"a": 1}}'
LLAMA_FORMS = [
    Case("types and ids", "llama3_json", '{"type": "function", "name": "f", "parameters": {"a": 1}}', F),
    Case(
        "types and ids",
        "llama3_json",
        '{"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}',
        F,
    ),
    Case("function for name", "llama3_json", '{"function": "f", "parameters": {"a": 1}}', F),
    Case("arguments first", "llama3_json", '{"parameters": {"a": 1}, "name": "f"}', F),
    *(
        Case(
            f"between calls: {between!r}",
            "llama3_json",
            OBJECT + between + '{"name": "g", "parameters": {}}<|eom_id|>',
            F_AND_G,
        )
        for between in ("; ", ";", "\n", ", ", " ", "", "; <|python_tag|>")
    ),
    Case("a list", "llama3_json", f'[{OBJECT}, {{"name": "g", "parameters": {{}}}}]<|eot_id|>', F_AND_G),
    Case("a marked list", "llama3_json", f'<|python_tag|>[{OBJECT}, {{"name": "g", "parameters": {{}}}}]', F_AND_G),
    *(
        Case(what, family, text + "<|eot_id|>", message)
        for family in ("llama3_json", "llama4_pythonic")
        for what, text, message in [
            ("single quotes", "{'name': 'f', 'parameters': {'a': 1}}", F),
            ("single quotes and a type", "{'type': 'function', 'name': 'f', 'parameters': {'a': 1}}", F),
            ("a missing comma", '{"name": "f" "parameters": {"a": 1}}', F),
            ("a list of one", f"Sure:\n[{OBJECT}]\nDone.", F | {"content": "Sure:\n\nDone."}),
            ("a list of several", f'[{OBJECT}, {{"name": "g", "parameters": {{}}}}]', F_AND_G),
            ("a list in a code fence", f"```\n[{OBJECT}]\n```", {"content": f"```\n[{OBJECT}]\n```"}),
            ("an object left open", f'{{"name": "f", "parameters": {{"a": 2, {OBJECT}', F),
        ]
    ),
    Case("code", "llama3_json", "<|python_tag|>print(1)<|eom_id|>", {"content": "print(1)"}),
    Case("text around", "llama3_json", f"Sure:\n{OBJECT}\nThat is it.", F | {"content": "Sure:\n\nThat is it."}),
    Case(
        "a call in an argument",
        "llama3_json",
        '{"name": "f", "parameters": {"a": ' + OBJECT + "}}",
        {"tool_calls": [call("f", a={"name": "f", "parameters": {"a": 1}})]},
    ),
    Case("text in marks", "llama4_pythonic", "<|python_start|>It is sunny.<|python_end|>", {"content": "It is sunny."}),
    Case(
        "text in marks before JSON",
        "llama4_pythonic",
        f"<|python_start|>Hi.<|python_end|>{OBJECT}",
        F | {"content": "Hi."},
    ),
    Case("JSON in marks", "llama4_pythonic", f"<|python_start|>{OBJECT}<|python_end|><|eot|>", F),
    Case("lines", "llama4_pythonic", "[\n  f(a=1),\n  g()\n]<|eot|>", F_AND_G),
    Case("two lists", "llama4_pythonic", "[f(a=1)] [g()]", F_AND_G),
    Case("text around", "llama4_pythonic", "I call [f(a=1)] now.", F | {"content": "I call\n\nnow."}),
    Case(
        "values",
        "llama4_pythonic",
        "[f(a=[1, {'x': None}], b=True, c=-1.5e3, d='it\\'s', e=\"]\")]",
        {"tool_calls": [call("f", a=[1, {"x": None}], b=True, c=-1500.0, d="it's", e="]")]},
    ),
    Case("a bad call beside a good one", "llama4_pythonic", "<|python_start|>[g(1), f(a=1)]<|python_end|>", F),
]

OTHERS = [
    Case(
        "no outer mark",
        "qwen3_5",
        "<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>",
        {"tool_calls": [call("f", a="x")]},
    ),
    Case(
        "no outer marks",
        "seed_oss",
        "<function=f>\n<parameter=a>x</parameter>\n</function>\n</seed:tool_call>",
        {"tool_calls": [call("f", a="x")]},
    ),
    Case(
        "several calls in a mark",
        "qwen3",
        '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n{"name": "g", "arguments": {}}\n</tool_call>',
        F_AND_G,
    ),
    Case(
        "a list in a mark",
        "qwen3",
        '<tool_call>[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]</tool_call>',
        F_AND_G,
    ),
    Case("one call for a list", "hunyuan_a13b", '<tool_calls>{"name": "f", "arguments": {"a": 1}}</tool_calls>', F),
    Case("one call for a list", "granite3", '<|tool_call|>{"name": "f", "arguments": {"a": 1}}', F),
    Case("one call for a list", "phi4_mini", '<|tool_call|>{"name": "f", "arguments": {"a": 1}}<|/tool_call|>', F),
    Case("both marks", "phi4_mini", '<|tool_call|>functools[{"name": "f", "arguments": {"a": 1}}]<|/tool_call|>', F),
    Case("one call for a list", "nemotron_v2", '<TOOLCALL>{"name": "f", "arguments": {"a": 1}}</TOOLCALL>', F),
    Case(
        "one call for a list", "cohere2", '<|START_ACTION|>{"tool_name": "f", "parameters": {"a": 1}}<|END_ACTION|>', F
    ),
    Case("another mark", "granite3", '<tool_call>[{"name": "f", "arguments": {"a": 1}}]</tool_call>', F),
    Case("arguments as JSON", "glm45", '<tool_call>f\n{"a": 1}\n</tool_call>', F),
    Case("no line breaks", "glm45", "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>", F),
    Case(
        "entities are text",
        "glm45",
        "<tool_call>f<arg_key>a</arg_key><arg_value>&lt;b&gt; &amp;</arg_value></tool_call>",
        {"tool_calls": [call("f", a="&lt;b&gt; &amp;")]},
    ),
    Case("no word at its beginning", "gemma4", "<|tool_call>:f{a:1}<tool_call|>", F),
    Case("quotes of JSON", "gemma4", '<|tool_call>call:f{"a": 1}<tool_call|>', F),
    Case("an answer follows in the turn", "gemma4", "<|tool_call>call:f{a:1}<tool_call|><|tool_response>", F),
    Case("no list", "lfm2", "<|tool_call_start|>f(a=1)<|tool_call_end|>", F),
    Case("lines", "olmo3", "<function_calls>\nf(a=1)\ng()\n</function_calls>", F_AND_G),
    Case("commas", "olmo3", "<function_calls>f(a=1), g()</function_calls>", F_AND_G),
    Case(
        "not the function's mark",
        "step3",
        '<｜tool_call_begin｜><steptml:invoke name="f"><steptml:parameter name="a">x</steptml:parameter>'
        "</steptml:invoke>"
        "<｜tool_call_end｜>",
        {"tool_calls": [call("f", a="x")]},
    ),
    Case(
        "an unquoted name",
        "minimax_m2",
        "<minimax:tool_call><invoke name=f></invoke></minimax:tool_call>",
        {"tool_calls": [call("f")]},
    ),
    Case(
        "names with all and aa",
        "functionary",
        ">>>all_of_it\n{}>>>al\n{}>>>a\n{}",
        {"tool_calls": [call("all_of_it"), call("al"), call("a")]},
    ),
    Case("a call, then an answer", "functionary", '>>>f\n{"a": 1}>>>all\nDone.', F | {"content": "Done."}),
    Case("the answer alone", "functionary", "all\nHi >>> there.<|eot_id|>", {"content": "Hi >>> there."}),
    Case(
        "name and arguments",
        "apertus",
        '<|tools_prefix|>[{"name": "f", "arguments": {"a": 1}}, {"g": {}}]<|tools_suffix|>',
        F_AND_G,
    ),
    Case("an empty list", "apertus", "Hi<|tools_prefix|>[]<|tools_suffix|>", {"content": "Hi"}),
]

CASES = [*HARMONY_HEADERS, *DEEPSEEK_FORMS, *KIMI_IDS, *MISTRAL_FORMS, *LLAMA_FORMS, *OTHERS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}: {case.what}")
def test_variants_of_a_family(case: Case) -> None:
    tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in case.tools]
    prefix = HARMONY if case.family == "gpt_oss" else ""
    assert message_of(case.family, case.text, prefix=prefix, tools=tools, problems=None) == case.message


@pytest.mark.parametrize("before", ["", "<|python_start|>"])
def test_a_list_of_calls_in_json_needs_no_mending(before: str) -> None:
    text = f'{before}[{OBJECT}, {{"name": "g", "parameters": {{}}}}]'
    parser = ResponseParser("llama4_pythonic", "", errors="report")
    events = parser.feed(text) + parser.finalize()[1]
    assert [event for event in events if event["type"] == "region_malformed" or event.get("repaired")] == []
    assert message_of("llama4_pythonic", text, errors="report", deltas=True) == F_AND_G


def test_functionary_goes_on_where_its_prompt_ends() -> None:
    prefix = "<|start_header_id|>assistant<|end_header_id|>\n\n>>>"
    assert message_of("functionary", 'f\n{"a": 1}', prefix=prefix) == F
    assert message_of("functionary", 'all\nHi>>>f\n{"a": 1}', prefix=prefix) == F | {"content": "Hi"}


@pytest.mark.parametrize(
    ("family", "text", "ids"),
    [
        (
            "kimi_k2",
            KIMI.format("functions.f:0", "{}") + KIMI.format("functions.f:1", "{}"),
            ["functions.f:0", "functions.f:1"],
        ),
        ("mistral", "[TOOL_CALLS]f[CALL_ID]abc123456[ARGS]{}", ["abc123456"]),
        ("mistral", '[TOOL_CALLS][{"name": "f", "arguments": {}, "id": "abc123456"}]', ["abc123456"]),
        ("cohere2", '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {}}]<|END_ACTION|>', ["0"]),
        ("qwen3", '<tool_call>{"id": 7, "name": "f", "arguments": {}}</tool_call>', ["7"]),
        ("qwen3", '<tool_call>{"name": "f", "arguments": {"id": 7}}</tool_call>', [None]),
        ("deepseek_v31", '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"id": 7}<｜tool▁call▁end｜>', [None]),
    ],
)
def test_ids_that_models_write_are_kept(family: str, text: str, ids: list[str | None]) -> None:
    for errors in ("report", "repair"):
        parser = ResponseParser(family, "", errors=errors)  # type: ignore[arg-type]
        parser.feed(text)
        assert [made.get("id") for made in parser.finalize()[0]["tool_calls"]] == ids
