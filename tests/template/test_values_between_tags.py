"""Values between tags are what the family's chat template wrote: inline ones are verbatim, framed ones lose the frame."""

from __future__ import annotations

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
}
FRAMED = {
    name: "<tool_call>\n<function=edit>\n<parameter=text>\n{}\n</parameter>\n</function>\n</tool_call>"
    for name in ("qwen3_5", "qwen3_coder", "nemotron_v3")
}
TOOLS = [{"name": "edit", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}]

edges = st.text(st.sampled_from(" \t\n\r"), max_size=4)
middles = st.text(st.sampled_from("ab1 \n\t{}[]\"'"), max_size=8)


@pytest.mark.parametrize("mode", ["report", "repair"])
@pytest.mark.parametrize("family", [*INLINE, *FRAMED])
@given(before=edges, middle=middles, after=edges)
def test_a_text_comes_out_as_it_was_written_with_the_white_space_at_its_edges(family, mode, before, middle, after):
    value = before + middle + after
    text = {**INLINE, **FRAMED}[family].replace("{}", value)
    for pieces in ([text], [*text]):
        parser = ResponseParser(family, prefix="", tools=TOOLS, errors=mode)
        for piece in pieces:
            parser.feed(piece)
        message, _ = parser.finalize()
        assert [call["function"]["arguments"] for call in message["tool_calls"]] == [{"text": value}]
