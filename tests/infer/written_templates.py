"""Chat templates written for these tests, at least one for each construct that public ones show.

``frame`` makes a whole chat template of its parts: what opens and ends turns, and the Jinja for the assistant's turn.
The tables name each construct. The tests say of each that what it renders comes back.
"""

from __future__ import annotations


def frame(
    assistant: str,
    *,
    user: tuple[str, str] = ("<|user|>", "<|end|>\\n"),
    header: str = "<|assistant|>",
    end: str = "<|end|>\\n",
    prompt: str = "",
    before: str = "",
) -> str:
    """A chat template.

    ``assistant`` is the Jinja between header and end; ``prompt`` is what the generation prompt adds to the header,
    ``before`` what stands before the messages.
    """
    return f"""{before}
{{%- for message in messages %}}
{{%- if message.role == 'assistant' %}}
{{{{- '{header}' }}}}
{assistant}
{{{{- '{end}' }}}}
{{%- elif message.role == 'tool' %}}
{{{{- '<|tool|>' + message.content + '{user[1]}' }}}}
{{%- else %}}
{{{{- '{user[0]}' + message.content + '{user[1]}' }}}}
{{%- endif %}}
{{%- endfor %}}
{{%- if add_generation_prompt %}}{{{{- '{header}' }}}}{prompt}{{%- endif %}}"""


def written(*expressions: str) -> str:
    """The Jinja that prints expressions one after another."""
    return "{{- " + " ~ ".join(expressions) + " }}"


def when(condition: str, *parts: str) -> str:
    """The Jinja for parts that are there under a condition."""
    return "{%- if " + condition + " %}" + "".join(parts) + "{%- endif %}"


def text(literal: str) -> str:
    """A literal as a Jinja expression; line breaks are written ``\\n`` in it."""
    return "'" + literal.replace("'", "\\'") + "'"


def content(before: str = "", after: str = "") -> str:
    """The Jinja for a content between two texts."""
    return when("message.content", written(text(before), "message.content", text(after)))


def reasoning(before: str, after: str, key: str = "reasoning_content") -> str:
    """The Jinja for reasoning between two texts."""
    return when(f"message.{key}", written(text(before), f"message.{key}", text(after)))


def calls(*each: str, before: str = "", after: str = "", between: str = "") -> str:
    """The Jinja for tool calls; ``each`` writes one, with ``call`` its function and ``tool_call`` the whole."""
    loop = "{%- for tool_call in message.tool_calls %}{%- set call = tool_call.function %}"
    separator = when("not loop.last", written(text(between)))
    return when(
        "message.tool_calls", written(text(before)), loop, *each, separator, "{%- endfor %}", written(text(after))
    )


def arguments(*each: str) -> str:
    """The Jinja for a call's arguments, one by one; ``each`` writes ``key`` and ``value``."""
    return "{%- for key, value in call.arguments.items() %}" + "".join(each) + "{%- endfor %}"


VALUE = "(value if value is string else value|tojson)"
JSON = "call.arguments|tojson"
COMMA = when("not loop.last", written("', '"))


def json_object(before: str = "", after: str = "", *, name: str = "name", under: str = "arguments") -> str:
    """A call as a JSON object between two texts."""
    head = text(before + '{"' + name + '": "'), "call.name", text('", "' + under + '": ')
    return written(*head, JSON, text("}" + after))


PYTHON_CALL = written("call.name", "'('") + arguments(written("key", "'='", "value|tojson"), COMMA) + written("')'")

LISTED = (
    "{%- set ns = namespace(list=[]) %}{%- for t in message.tool_calls or [] %}"
    "{%- set ns.list = ns.list + [{'name': t.function.name, 'arguments': t.function.arguments}] %}{%- endfor %}"
)

CALLS: dict[str, tuple[str, str]] = {
    "JSON objects in tags": (
        "JSON objects",
        calls(json_object("<tool_call>\\n", "\\n</tool_call>"), between="\\n"),
    ),
    "JSON objects in tags behind a line break": ("JSON objects", calls(json_object("\\n<tool_call>", "</tool_call>"))),
    "JSON objects behind a mark": ("JSON objects", calls(json_object("<call> ", "\\n"))),
    "JSON objects in a fenced block": (
        "JSON objects",
        calls(json_object("```tool_call\\n", "\\n```"), between="\\n"),
    ),
    "whole calls as JSON": ("JSON objects", calls(written("'<call>'", "tool_call|tojson", "'</call>'"))),
    "other keys, and an id": (
        "JSON objects",
        calls(
            written(
                text('<do>{"tool_name": "'),
                "call.name",
                text('", "args": '),
                JSON,
                text(', "call_id": "'),
                "tool_call.id",
                text('"}</do>'),
            )
        ),
    ),
    "arguments that must be a text": (
        "JSON objects",
        calls("{{- '<do>{\"name\": \"' + call.name + '\", \"arguments\": ' + call.arguments + '}</do>' }}"),
    ),
    "arguments as JSON text in JSON": (
        "JSON objects",
        calls(written("'<do>'", "{'name': call.name, 'arguments': call.arguments|tojson}|tojson", "'</do>'")),
    ),
    "a JSON list in a section": (
        "JSON list",
        calls(json_object(), before="<calls>[", after="]</calls>", between=", "),
    ),
    "a JSON list without an end": ("JSON list", calls(json_object(), before="[CALLS] [", after="]", between=", ")),
    "an indented JSON list": (
        "JSON list",
        when("message.tool_calls", LISTED, written("'<calls>'", "ns.list|tojson(indent=4)")),
    ),
    "a bare JSON list": ("JSON list", calls(json_object(), before="[", after="]", between=", ")),
    "a JSON list under a key": (
        "JSON list under a key",
        calls(json_object(), before='{"tool_calls": [', after="]}", between=", "),
    ),
    "a JSON list under a key, in tags": (
        "JSON list under a key",
        calls(json_object(), before='<calls>{"calls": [', after="]}</calls>", between=", "),
    ),
    "JSON objects in a section": (
        "JSON objects without marks",
        calls(json_object(), before="<calls>\\n", after="\\n</calls>", between="\\n"),
    ),
    "a bare JSON object": ("JSON objects without marks", calls(json_object(under="parameters"))),
    "bare JSON objects with commas": ("JSON objects without marks", calls(json_object(), between=",")),
    "the name as key": (
        "JSON with the name as key",
        calls(
            written(text('{"'), "call.name", text('": '), JSON, text("}")),
            before="<calls>[",
            after="]</calls>",
            between=", ",
        ),
    ),
    "the name in a tag": (
        "name, then JSON arguments",
        calls(written("'<function='", "call.name", "'>'", JSON, "'</function>'")),
    ),
    "the name as tag": (
        "name, then JSON arguments",
        calls(written("'<'", "call.name", "'>'", JSON, "'</'", "call.name", "'>'")),
    ),
    "name, separator, JSON": (
        "name, then JSON arguments",
        calls(
            written("'<|call|>'", "call.name", "'<|sep|>'", JSON, "'<|/call|>'"),
            before="<|calls|>",
            after="<|/calls|>",
        ),
    ),
    "a type, the name, JSON in a fenced block": (
        "name, then JSON arguments",
        calls(
            written(
                "'<|call|>'",
                "tool_call.type",
                "'<|sep|>'",
                "call.name",
                text("\\n```json\\n"),
                JSON,
                text("\\n```<|/call|>"),
            ),
            before="<|calls|>",
            after="<|/calls|>",
            between="\\n",
        ),
    ),
    "name and arguments in a JSON array": (
        "name, then JSON arguments",
        calls(written(text('<c>["'), "call.name", text('", '), JSON, text("]</c>"))),
    ),
    "nothing closes a call": ("name, then JSON arguments", calls(written("'[CALL]'", "call.name", "'[ARGS]'", JSON))),
    "an id between name and arguments": (
        "name, then JSON arguments",
        calls(written("'[CALL]'", "call.name", "'[ID]'", "tool_call.id", "'[ARGS]'", JSON)),
    ),
    "an id before the name": (
        "name, then JSON arguments",
        calls(
            written("'<|call|>'", "tool_call.id", "'<|name|>'", "call.name", "'<|args|>'", JSON, "'<|/call|>'"),
            before="<|calls|>",
        ),
    ),
    "an id behind the arguments": (
        "name, then JSON arguments",
        calls(written("'<call>'", "call.name", "' '", JSON, "'</call><id>'", "tool_call.id", "'</id>'")),
    ),
    "a running number": (
        "name, then JSON arguments",
        calls(
            written("'<|call|>functions.'", "call.name", "':'", "loop.index0", "'<|args|>'", JSON, "'<|/call|>'"),
            before="<|calls|>",
            after="<|/calls|>",
        ),
    ),
    "an id that holds the name": (
        "name, then JSON arguments",
        calls(
            written("'<|call|>'", "tool_call.id", "'<|args|>'", JSON, "'<|/call|>'"),
            before="<|calls|>",
            after="<|/calls|>",
        ),
    ),
    "name and arguments in lines": (
        "name, then JSON arguments",
        calls(written(text("\\nAction: "), "call.name", text("\\nAction Input: "), JSON)),
    ),
    "tags in tags": (
        "name, then JSON arguments",
        calls(
            written(
                text("<use>\\n<tool>"),
                "call.name",
                text("</tool>\\n<arguments>\\n"),
                JSON,
                text("\\n</arguments>\\n</use>"),
            ),
            between="\\n",
        ),
    ),
    "an attribute for the key": (
        "name, then tagged arguments",
        calls(
            written(text('<invoke name="'), "call.name", text('">\\n')),
            arguments(written(text('<parameter name="'), "key", text('">'), VALUE, text("</parameter>\\n"))),
            written(text("</invoke>\\n")),
            before="<calls>\\n",
            after="</calls>",
        ),
    ),
    "the key behind an equals sign": (
        "name, then tagged arguments",
        calls(
            written(text("<tool_call>\\n<function="), "call.name", text(">\\n")),
            arguments(written("'<parameter='", "key", text(">\\n"), VALUE, text("\\n</parameter>\\n"))),
            written(text("</function>\\n</tool_call>")),
            between="\\n",
        ),
    ),
    "tags for keys and values": (
        "name, then tagged arguments",
        calls(
            written("'<tool_call>'", "call.name", text("\\n")),
            arguments(written("'<key>'", "key", text("</key>\\n<value>"), VALUE, text("</value>\\n"))),
            written("'</tool_call>'"),
            between="\\n",
        ),
    ),
    "tags for keys and values in one line": (
        "name, then tagged arguments",
        calls(
            written("'<tool_call>'", "call.name"),
            arguments(written("'<key>'", "key", "'</key><value>'", VALUE, "'</value>'")),
            written("'</tool_call>'"),
        ),
    ),
    "keys as tags": (
        "name, then tagged arguments",
        calls(
            written(text('<invoke name="'), "call.name", text('">')),
            arguments(written("'<'", "key", "'>'", VALUE, "'</'", "key", "'>'")),
            written("'</invoke>'"),
            before="<calls>",
            after="</calls>",
        ),
    ),
    "an attribute for the type": (
        "name, then tagged arguments",
        calls(
            written(text('<|open|>call tool="'), "call.name", text('"<|sep|>')),
            arguments(
                written(
                    text('<|open|>arg key="'),
                    "key",
                    text('" type="'),
                    "('string' if value is string else 'other')",
                    text('"<|sep|>'),
                    VALUE,
                    text("<|close|>arg<|sep|>"),
                )
            ),
            written("'<|close|>call<|sep|>'"),
            before="<|open|>tools<|sep|>",
            after="<|close|>tools<|sep|>",
        ),
    ),
    "everything in a tag of its own": (
        "name, then tagged arguments",
        calls(
            written("'<call><name>'", "call.name", "'</name><arguments>'"),
            arguments(written("'<'", "key", "'>'", VALUE, "'</'", "key", "'>'")),
            written("'</arguments></call>'"),
        ),
    ),
    "values as JSON": (
        "name, then tagged arguments",
        calls(
            written(text('<call name="'), "call.name", text('">')),
            arguments(written(text('<arg name="'), "key", text('">'), "value|tojson", "'</arg>'")),
            written("'</call>'"),
        ),
    ),
    "awkward values in CDATA": (
        "name, then tagged arguments",
        calls(
            written(text('<call name="'), "call.name", text('">')),
            arguments(
                "{%- set shown = " + VALUE + " %}",
                "{%- if '<' in shown or '&' in shown %}{%- set shown = '<![CDATA[' + shown + ']]>' %}{%- endif %}",
                written(text('<arg name="'), "key", text('">'), "shown", "'</arg>'"),
            ),
            written("'</call>'"),
        ),
    ),
    "Python calls in a list": (
        "Python calls in a list",
        calls(PYTHON_CALL, before="<|calls|>[", after="]<|/calls|>", between=", "),
    ),
    "Python calls without marks": (
        "Python calls in a list",
        calls(PYTHON_CALL, before="[", after="]", between=", "),
    ),
    "Python calls in lines": (
        "Python calls in lines",
        calls(PYTHON_CALL, before="<calls>", after="</calls>", between="\\n"),
    ),
    "bare keys and marked texts": (
        "name, then arguments in a dialect of JSON",
        calls(
            written("'<|call>call:'", "call.name", "'{'"),
            arguments(
                written("key", "':'"),
                "{%- if value is string %}" + written("'<|q|>'", "value", "'<|q|>'") + "{%- else %}",
                written("value|tojson") + "{%- endif %}",
                when("not loop.last", written("','")),
            ),
            written("'}<call|>'"),
        ),
    ),
}
"""Ways to write tool calls: the construct that they are, and the Jinja."""

ONE_CALL = calls(json_object("<tool_call>", "</tool_call>"))
THINK = reasoning("<think>\\n", "\\n</think>\\n\\n")
CLOSED = written(text("<think>\\n\\n</think>\\n\\n"))
CUT = "{%- set said = message.content %}" + when("'</think>' in said", "{%- set said = said.split('</think>')[-1] %}")
PARTS = (
    "{%- if message.content is string %}" + written("message.content") + "{%- else %}"
    "{%- for part in message.content %}"
    + when("part.type == 'thinking'", written("'[THINK]'", "part.thinking", "'[/THINK]'"))
    + when("part.type == 'text'", written("part.text"))
    + "{%- endfor %}{%- endif %}"
)

REASONING: dict[str, tuple[str, str]] = {
    "shown": ("shown", frame(THINK + content() + ONE_CALL)),
    "opened by every prompt": (
        "shown",
        frame(
            written(text("<think>\\n"), "(message.reasoning_content or '')", text("\\n</think>\\n\\n"))
            + content()
            + ONE_CALL,
            prompt=written(text("<think>\\n")),
        ),
    ),
    "switched off by the prompt": (
        "shown",
        frame(THINK + content() + ONE_CALL, prompt=when("enable_thinking is defined and not enable_thinking", CLOSED)),
    ),
    "opened by the prompt, cut from the history": (
        "dropped",
        frame(CUT + written("said") + ONE_CALL, prompt=written(text("<think>\\n"))),
    ),
    "opened or closed by the prompt, not in the history": (
        "dropped",
        frame(content() + ONE_CALL, prompt=written("'<think>' if thinking else '<think></think>'")),
    ),
    "opened by the prompt, not in the history": (
        "dropped",
        frame(content() + ONE_CALL, prompt=written("'◁think▷'")),
    ),
    "beside calls only": (
        "beside calls",
        frame(when("message.tool_calls", reasoning("<|thought|>", "<|/thought|>")) + content() + ONE_CALL),
    ),
    "in its own channel": (
        "shown",
        frame(
            reasoning("<|channel|>analysis<|message|>", "<|end|><|start|>assistant")
            + content("<|channel|>final<|message|>"),
            header="<|start|>assistant",
            end="<|return|>",
            user=("<|start|>user<|message|>", "<|end|>"),
        ),
    ),
    "in a content part": ("shown", frame(PARTS + ONE_CALL)),
    "under the key reasoning": (
        "shown",
        frame(reasoning("<|think|>", "<|/think|>", "reasoning") + content() + ONE_CALL),
    ),
    "under the key thinking": ("shown", frame(reasoning("<r>", "</r>", "thinking") + content() + ONE_CALL)),
    "opened by a sentence": (
        "shown",
        frame(reasoning("My reasoning:\\n", "\\n[ANSWER]\\n") + content(), prompt=written(text("My reasoning:\\n"))),
    ),
    "written when empty too": (
        "shown",
        frame(written("'<think>'", "(message.reasoning_content or '')", text("</think>\\n")) + content() + ONE_CALL),
    ),
    "with a switch only": (
        "shown",
        frame(when("keep_thoughts", reasoning("<think>", "</think>")) + content() + ONE_CALL),
    ),
    "none": ("none", frame(content() + ONE_CALL)),
}
"""Ways to set off reasoning: the mode, and the chat template."""

CONTENT: dict[str, tuple[str, str]] = {
    "bare": ("plain", frame(written("message.content"))),
    "in marks": ("wrapped", frame(content("<|text|>", "<|/text|>") + ONE_CALL)),
    "in its own channel": (
        "wrapped",
        frame(
            content("<|channel|>final<|message|>")
            + when("message.content and message.tool_calls", written("'<|end|><|start|>assistant'"))
            + calls(
                written("' to='", "call.name", "'<|channel|>calls<|message|>'", JSON),
                between="<|call|><|start|>assistant",
            ),
            header="<|start|>assistant",
            end="<|return|>",
            user=("<|start|>user<|message|>", "<|end|>"),
        ),
    ),
    "in marks beside calls only": (
        "sometimes wrapped",
        frame(
            when("message.tool_calls", content("<|pre|>", "<|/pre|>"))
            + when("not message.tool_calls", content())
            + ONE_CALL
        ),
    ),
    "behind a recipient": (
        "wrapped",
        frame(
            when(
                "message.tool_calls",
                calls(written("call.name", text("\\n<|content|>"), JSON), between="<|from|>bot\\n<|to|>"),
            )
            + when("not message.tool_calls", content("all\\n<|content|>")),
            header="<|from|>bot\\n<|to|>",
            end="<|stop|>",
            user=("<|from|>user\\n<|to|>all\\n<|content|>", "\\n"),
        ),
    ),
    "behind a mark that the prompt begins": (
        "wrapped",
        frame(
            content(">>>all\\n") + calls(written("'>>>'", "call.name", text("\\n"), JSON)),
            header="<|bot|>",
            prompt=written("'>>>'"),
        ),
    ),
    "in marks with line breaks": (
        "wrapped",
        frame(
            reasoning("<think>\\n", "\\n</think>\\n\\n")
            + content("<response>\\n", "\\n</response>\\n")
            + calls(json_object("\\n<tool_call>\\n", "\\n</tool_call>\\n")),
            prompt=written(text("<think>\\n")),
        ),
    ),
    "in a list of parts": (
        "plain",
        frame("{%- for part in message.content %}{{- part.text }}{%- endfor %}").replace(
            "+ message.content +", "+ message.content[0].text +"
        ),
    ),
    "trimmed": ("plain", frame(written("message.content|trim") + ONE_CALL)),
    "without any mark": ("plain", "{% for message in messages %}{{ message.content }}{% endfor %}"),
    "behind a word": (
        "plain",
        frame(written("' '", "message.content"), user=("\\n\\nHuman: ", ""), header="\\n\\nAssistant:", end=""),
    ),
    "with the end of the sequence": (
        "plain",
        frame(written("message.content", "eos_token") + ONE_CALL, user=("[INST]", "[/INST]"), header="", end=""),
    ),
}
"""Ways to set off content: the mode, and the chat template."""


def refusing(condition: str, *, everywhere: bool = True) -> str:
    """The Jinja that refuses a conversation in which the condition holds (of some ``message``, or at all)."""
    refusal = when(condition, written("raise_exception('refused')"))
    return "{%- for message in messages %}" + refusal + "{%- endfor %}" if everywhere else refusal


PLAIN = content() + ONE_CALL

DEMANDING: dict[str, str] = {
    "roles must alternate": frame(PLAIN, before=refusing("loop.index0 % 2 == 0 and message.role == 'assistant'")),
    "a system message comes first": frame(PLAIN, before=refusing("messages[0].role != 'system'", everywhere=False)),
    "tools are given": frame(PLAIN, before="{%- for tool in tools %}" + written("tool|tojson") + "{%- endfor %}"),
    "content is not empty": frame(PLAIN, before=refusing("message.content == ''")),
    "tools are refused": frame(content(), before=refusing("tools", everywhere=False)),
    "results follow calls": frame(
        PLAIN, before=refusing("message.tool_calls and (loop.last or messages[loop.index].role != 'tool')")
    ),
    "ids are nine characters long": frame(
        content() + calls(refusing("tool_call.id|length != 9", everywhere=False), json_object("[CALL]", "[/CALL]"))
    ),
    "a variable of its own": frame(PLAIN, before="{{- 'Today: ' + today + functions }}"),
    "dates, loop controls, generation marks": frame(
        "{% generation %}" + content() + "{% endgeneration %}" + ONE_CALL,
        before=written("strftime_now('%Y-%m-%d')")
        + "{%- for message in messages %}{%- if loop.index > 1 %}{%- break %}{%- endif %}{%- endfor %}",
    ),
    "the next turn is always opened": frame(PLAIN).replace("{%- if add_generation_prompt %}", "{%- if true %}"),
    "an instruction follows the question": frame(PLAIN).replace(
        "{%- if add_generation_prompt %}",
        "{%- if add_generation_prompt %}"
        + written(
            "'<|system|>Answer in the form that was asked for, and in no other form than that one, please.<|end|>'"
        ),
    ),
    "calls without their function": frame(
        content() + calls(written("'<call>'", "tool_call.name", "' '", "tool_call.arguments|tojson", "'</call>'"))
    ),
    "a list that grows": frame(
        content()
        + "{%- set names = [] %}"
        + calls("{%- set _ = names.append(call.name) %}", json_object("<tool_call>", "</tool_call>"))
    ),
    "another header with tools": frame(PLAIN).replace(
        "{%- if add_generation_prompt %}{{- '<|assistant|>' }}",
        "{%- if add_generation_prompt %}{{- '<|helper|>' if tools else '<|assistant|>' }}",
    ),
}
"""Chat templates that refuse some conversations, or must be spoken to in their own way."""

EVERY: dict[str, str] = {
    **{f"calls: {name}": frame(content() + jinja) for name, (_, jinja) in CALLS.items()},
    **{f"reasoning: {name}": jinja for name, (_, jinja) in REASONING.items()},
    **{f"content: {name}": jinja for name, (_, jinja) in CONTENT.items()},
    **{f"demanding: {name}": jinja for name, jinja in DEMANDING.items()},
}
"""All of them, whole."""
