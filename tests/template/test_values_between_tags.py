"""Values between tags are what the chat template wrote: inline ones are verbatim, framed ones lose the frame only."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import ResponseParser

INLINE = {
    "minimax_m2": '<minimax:tool_call>\n<invoke name="edit">\n<parameter name="text">{}</parameter>\n</invoke>\n'
    "</minimax:tool_call>",
    "step3": "<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>"
    '<steptml:invoke name="edit"><steptml:parameter name="text">{}</steptml:parameter></steptml:invoke>'
    "<｜tool_call_end｜>\n<｜tool_calls_end｜>",
    "glm45": "<tool_call>edit\n<arg_key>text</arg_key>\n<arg_value>{}</arg_value>\n</tool_call>",
    "seed_oss": "<seed:tool_call>\n<function=edit>\n<parameter=text>{}</parameter>\n</function>\n</seed:tool_call>",
    "deepseek_dsml": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="edit">\n'
    '<｜DSML｜parameter name="text" string="true">{}</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    "deepseek_v41": '<｜DSML｜ calls>\n<｜DSML｜ invoke name="edit">\n'
    '<｜DSML｜ parameter name="text" string="true">{}</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n</｜DSML｜ calls>',
    "kimi_k3": '<|open|>tools<|sep|><|open|>call tool="edit" index="1"<|sep|>'
    '<|open|>argument key="text" type="string"<|sep|>{}<|close|>argument<|sep|>'
    "<|close|>call<|sep|><|close|>tools<|sep|>",
    "hy_v3": "<tool_calls:opensource>\n<tool_call:opensource>edit<tool_sep:opensource>\n"
    "<arg_key:opensource>text</arg_key:opensource>\n<arg_value:opensource>{}</arg_value:opensource>\n"
    "</tool_call:opensource>\n</tool_calls:opensource>",
    "hy_v4": "<tool_calls><tool_call>edit<arg_key>text</arg_key><arg_value>{}</arg_value></tool_call></tool_calls>",
    "longcat": "<longcat_tool_call>edit\n<longcat_arg_key>text</longcat_arg_key>\n"
    "<longcat_arg_value>{}</longcat_arg_value>\n</longcat_tool_call>",
    "mimo": "<tool_call>\n<function=edit>\n<parameter=text>{}</parameter>\n</function>\n</tool_call>",
    "muse_glimmer": '<|start|>assistant to=edit<|message|><atem:function_calls>\n<atem:invoke name="edit">\n'
    '<atem:parameter name="text">{}</atem:parameter>\n</atem:invoke>\n</atem:function_calls>',
}
FRAMED = dict.fromkeys(
    ("qwen3_5", "qwen3_coder", "nemotron_v3"),
    "<tool_call>\n<function=edit>\n<parameter=text>\n{}\n</parameter>\n</function>\n</tool_call>",
)
TOOLS = [{"name": "edit", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}]

edges = st.text(st.sampled_from(" \t\n\r"), max_size=4)
middles = st.text(st.sampled_from("ab1 \n\t{}[]\"'"), max_size=8)


@pytest.mark.parametrize("mode", ["report", "repair"])
@pytest.mark.parametrize("family", [*INLINE, *FRAMED])
@given(before=edges, middle=middles, after=edges)
def test_a_text_comes_out_as_it_was_written_with_the_white_space_at_its_edges(family, mode, before, middle, after):
    value = before + middle + after
    if family in FRAMED and value.endswith("\r"):
        value += "."  # with the frame's line feed it would be a line break of two characters
    text = {**INLINE, **FRAMED}[family].replace("{}", value)
    for pieces in ([text], [*text]):
        parser = ResponseParser(family, prefix="", tools=TOOLS, errors=mode)
        for piece in pieces:
            parser.feed(piece)
        message, _ = parser.finalize()
        assert [call["function"]["arguments"] for call in message["tool_calls"]] == [{"text": value}]


@pytest.mark.parametrize("family", FRAMED)
@given(text=st.text(st.sampled_from("ab \n\r"), max_size=8), line_break=st.sampled_from(["\n", "\r\n"]))
def test_a_frame_of_one_line_break_is_lost_and_nothing_else_also_in_deltas(family, text, line_break):
    value = text + "." if line_break == "\n" and text.endswith("\r") else text  # else the frame would be CR LF
    written = FRAMED[family].replace("\n{}\n", f"{line_break}{value}{line_break}")
    for pieces in ([written], [*written]):
        parser = ResponseParser(family, prefix="", tools=TOOLS, errors="repair", deltas=True)
        events = [event for piece in pieces for event in parser.feed(piece)]
        message, last = parser.finalize()
        assert [call["function"]["arguments"] for call in message["tool_calls"]] == [{"text": value}]
        deltas = [event for event in events + last if event["type"] == "region_delta"]
        assert json.loads("".join(delta.get("arguments", "") for delta in deltas)) == {"text": value}
