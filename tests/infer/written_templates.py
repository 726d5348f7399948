"""Chat templates written for these tests, at least one for each construct that public ones show.

``frame`` makes a whole chat template of its parts: what opens and ends turns, and the Jinja for the assistant's message.
The tables below name each construct; the tests say of each that what it renders comes back.
"""

from __future__ import annotations

REASONING = "{%- if message.reasoning_content %}{{ '%s' + message.reasoning_content + '%s' }}{% endif %}"


def frame(
    assistant: str,
    *,
    user: tuple[str, str] = ("<|user|>", "<|end|>\\n"),
    header: str = "<|assistant|>",
    end: str = "<|end|>\\n",
    prompt: str = "",
    before: str = "",
) -> str:
    """A chat template; ``assistant`` is the Jinja between header and end, ``prompt`` what the generation prompt adds."""
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


def content(before: str = "", after: str = "") -> str:
    """The Jinja for a content between two texts."""
    return "{%- if message.content %}{{- '" + before + "' + message.content + '" + after + "' }}{%- endif %}"


def calls(each: str, *, before: str = "", after: str = "", between: str = "") -> str:
    """The Jinja for tool calls; ``each`` writes one, with ``call`` its function and ``tool_call`` the whole."""
    return (
        "{%- if message.tool_calls %}{{- '" + before + "' }}{%- for tool_call in message.tool_calls %}"
        "{%- set call = tool_call.function %}" + each + "{%- if not loop.last %}{{- '" + between + "' }}{%- endif %}"
        "{%- endfor %}{{- '" + after + "' }}{%- endif %}"
    )


OBJECT = """{{- '%s{"name": "' + call.name + '", "arguments": ' + (call.arguments|tojson) + '}%s' }}"""
PYTHON = """{{- call.name + '(' }}{%- for key, value in call.arguments.items() %}{{- key + '=' + (value|tojson) }}
{%- if not loop.last %}{{- ', ' }}{%- endif %}{%- endfor %}{{- ')' }}"""


def tagged(opening: str, argument: str, closing: str) -> str:
    """A call whose arguments have a tag each; ``argument`` writes ``key`` and ``value``."""
    return (
        "{{- '"
        + opening
        + "' }}{%- for key, value in call.arguments.items() %}"
        + argument
        + "{%- endfor %}{{- '"
        + closing
        + "' }}"
    )


VALUE = "(value if value is string else value|tojson)"

CALLS: dict[str, str] = {
    "JSON objects in tags": frame(content() + calls(OBJECT % ("<tool_call>\\n", "\\n</tool_call>"), between="\\n")),
    "JSON objects in tags after a line break": frame(content() + calls(OBJECT % ("\\n<tool_call>", "</tool_call>"))),
    "JSON list in a section": frame(
        content() + calls(OBJECT % ("", ""), before="<calls>[", after="]</calls>", between=", ")
    ),
    "JSON list without an end": frame(
        content() + calls(OBJECT % ("", ""), before="[CALLS] [", after="]", between=", ")
    ),
    "JSON objects in a section": frame(
        content() + calls(OBJECT % ("", ""), before="<calls>\\n", after="\\n</calls>", between="\\n")
    ),
    "JSON objects behind a mark": frame(content() + calls(OBJECT % ("<call> ", "\\n"))),
    "a bare JSON object": frame(
        content() + calls("""{{- '{"name": "' + call.name + '", "parameters": ' + (call.arguments|tojson) + '}' }}""")
    ),
    "bare JSON objects with a comma": frame(content() + calls(OBJECT % ("", ""), between=",")),
    "a bare JSON list": frame(content() + calls(OBJECT % ("", ""), before="[", after="]", between=", ")),
    "indented JSON": frame(
        content()
        + "{%- if message.tool_calls %}{%- set ns = namespace(list=[]) %}{%- for t in message.tool_calls %}{%- set ns.list = ns.list + [{'name': t.function.name, 'arguments': t.function.arguments}] %}{%- endfor %}{{- '<calls>' + (ns.list|tojson(indent=4)) }}{%- endif %}"
    ),
    "whole calls as JSON": frame(content() + calls("{{- '<call>' + (tool_call|tojson) + '</call>' }}")),
    "other keys": frame(
        content()
        + calls(
            """{{- '<do>{"tool_name": "' + call.name + '", "args": ' + (call.arguments|tojson) + ', "call_id": "' + tool_call.id + '"}</do>' }}"""
        )
    ),
    "arguments as a text": frame(
        content() + calls("""{{- '<do>{"name": "' + call.name + '", "arguments": ' + call.arguments + '}</do>' }}""")
    ),
    "arguments as text in JSON": frame(
        content()
        + calls("""{{- '<do>' + ({'name': call.name, 'arguments': call.arguments|tojson}|tojson) + '</do>' }}""")
    ),
    "the name as key": frame(
        content()
        + calls(
            """{{- '{"' + call.name + '": ' + (call.arguments|tojson) + '}' }}""",
            before="<calls>[",
            after="]</calls>",
            between=", ",
        )
    ),
    "name in a tag, JSON behind it": frame(
        content() + calls("{{- '<function=' + call.name + '>' + (call.arguments|tojson) + '</function>' }}")
    ),
    "name, separator, JSON": frame(
        content()
        + calls(
            "{{- '<|call|>' + call.name + '<|sep|>' + (call.arguments|tojson) + '<|/call|>' }}",
            before="<|calls|>",
            after="<|/calls|>",
        )
    ),
    "JSON in a fenced block": frame(
        content()
        + calls(
            "{{- '<|call|>function<|sep|>' + call.name + '\\n```json\\n' + (call.arguments|tojson) + '\\n```<|/call|>' }}",
            before="<|calls|>",
            after="<|/calls|>",
            between="\\n",
        )
    ),
    "nothing closes a call": frame(
        content() + calls("{{- '[CALL]' + call.name + '[ARGS]' + (call.arguments|tojson) }}")
    ),
    "an id between name and arguments": frame(
        content() + calls("{{- '[CALL]' + call.name + '[ID]' + tool_call.id + '[ARGS]' + (call.arguments|tojson) }}")
    ),
    "an id before the name": frame(
        content()
        + calls(
            "{{- '<|call|>' + tool_call.id + '<|name|>' + call.name + '<|args|>' + (call.arguments|tojson) + '<|/call|>' }}",
            before="<|calls|>",
        )
    ),
    "an id behind the arguments": frame(
        content()
        + calls(
            "{{- '<call name=\"' + call.name + '\">' + (call.arguments|tojson) + '</call><id>' + tool_call.id + '</id>' }}"
        )
    ),
    "a running number": frame(
        content()
        + calls(
            "{{- '<|call|>functions.' + call.name + ':' + loop.index0|string + '<|args|>' + (call.arguments|tojson) + '<|/call|>' }}",
            before="<|calls|>",
            after="<|/calls|>",
        )
    ),
    "ids that hold the name": frame(
        content()
        + calls(
            "{{- '<|call|>' + tool_call.id + '<|args|>' + (call.arguments|tojson) + '<|/call|>' }}",
            before="<|calls|>",
            after="<|/calls|>",
        )
    ),
    "name and arguments in lines": frame(
        content() + calls("{{- '\\nAction: ' + call.name + '\\nAction Input: ' + (call.arguments|tojson) }}")
    ),
    "a tool on a server": frame(
        content()
        + calls(
            "{{- '<use_tool>\\n<tool_name>' + call.name + '</tool_name>\\n<arguments>\\n' + (call.arguments|tojson) + '\\n</arguments>\\n</use_tool>' }}",
            between="\\n",
        )
    ),
    "arguments in tags with attributes": frame(
        content()
        + calls(
            tagged(
                "<invoke name=\"' + call.name + '\">\\n",
                "{{- '<parameter name=\"' + key + '\">' + " + VALUE + " + '</parameter>\\n' }}",
                "</invoke>\\n",
            ),
            before="<calls>\\n",
            after="</calls>",
        )
    ),
    "arguments in tags with an equals sign": frame(
        content()
        + calls(
            tagged(
                "<tool_call>\\n<function=' + call.name + '>\\n",
                "{{- '<parameter=' + key + '>\\n' + " + VALUE + " + '\\n</parameter>\\n' }}",
                "</function>\\n</tool_call>",
            ),
            between="\\n",
        )
    ),
    "keys and values in tags": frame(
        content()
        + calls(
            tagged(
                "<tool_call>' + call.name + '\\n",
                "{{- '<key>' + key + '</key>\\n<value>' + " + VALUE + " + '</value>\\n' }}",
                "</tool_call>",
            ),
            between="\\n",
        )
    ),
    "keys and values in tags, in one line": frame(
        content()
        + calls(
            tagged(
                "<tool_call>' + call.name + '",
                "{{- '<key>' + key + '</key><value>' + " + VALUE + " + '</value>' }}",
                "</tool_call>",
            )
        )
    ),
    "keys as tags": frame(
        content()
        + calls(
            tagged(
                "<invoke name=\"' + call.name + '\">",
                "{{- '<' + key + '>' + " + VALUE + " + '</' + key + '>' }}",
                "</invoke>",
            ),
            before="<calls>",
            after="</calls>",
        )
    ),
    "arguments with a type": frame(
        content()
        + calls(
            tagged(
                "<|open|>call tool=\"' + call.name + '\"<|sep|>",
                "{{- '<|open|>arg key=\"' + key + '\" type=\"' + ('string' if value is string else 'other') + '\"<|sep|>' + "
                + VALUE
                + " + '<|close|>arg<|sep|>' }}",
                "<|close|>call<|sep|>",
            ),
            before="<|open|>tools<|sep|>",
            after="<|close|>tools<|sep|>",
        )
    ),
    "values as JSON": frame(
        content()
        + calls(
            tagged(
                "<call name=\"' + call.name + '\">",
                "{{- '<arg name=\"' + key + '\">' + (value|tojson) + '</arg>' }}",
                "</call>",
            )
        )
    ),
    "values in CDATA": frame(
        content()
        + calls(
            tagged(
                "<call name=\"' + call.name + '\">",
                "{%- set text = "
                + VALUE
                + " %}{%- if '<' in text or '&' in text %}{%- set text = '<![CDATA[' + text + ']]>' %}{%- endif %}{{- '<arg name=\"' + key + '\">' + text + '</arg>' }}",
                "</call>",
            )
        )
    ),
    "Python calls in a list": frame(content() + calls(PYTHON, before="<|calls|>[", after="]<|/calls|>", between=", ")),
    "Python calls without marks": frame(content() + calls(PYTHON, before="[", after="]", between=", ")),
    "Python calls in lines": frame(content() + calls(PYTHON, before="<calls>", after="</calls>", between="\\n")),
    "bare keys and marked texts": frame(
        content()
        + calls(
            "{{- '<|call>call:' + call.name + '{' }}{%- for key, value in call.arguments.items() %}{%- if not loop.first %}{{- ',' }}{%- endif %}{{- key + ':' }}{%- if value is string %}{{- '<|q|>' + value + '<|q|>' }}{%- else %}{{- value|tojson }}{%- endif %}{%- endfor %}{{- '}<call|>' }}"
        )
    ),
    "the name in a header": frame(
        content("<|channel|>final<|message|>", "")
        + calls(
            "{{- ' to=' + call.name + '<|channel|>commentary<|message|>' + (call.arguments|tojson) }}",
            between="<|call|><|assistant|>",
        ),
        end="<|end|>",
    ),
}
"""Ways to write tool calls, beside a bare content (or one in its own channel)."""

THINK = "{%- if message.reasoning_content %}{{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}{%- endif %}"
ONE_CALL = calls(OBJECT % ("<tool_call>", "</tool_call>"))

REASONING_TEMPLATES: dict[str, str] = {
    "shown": frame(THINK + content() + ONE_CALL),
    "shown, always opened by the prompt": frame(
        "{{- '<think>\\n' + (message.reasoning_content or '') + '\\n</think>\\n\\n' }}" + content() + ONE_CALL,
        prompt="{{- '<think>\\n' }}",
    ),
    "shown, switched off by the prompt": frame(
        THINK + content() + ONE_CALL,
        prompt="{%- if enable_thinking is defined and not enable_thinking %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}",
    ),
    "opened by the prompt, dropped from the history": frame(
        "{%- set text = message.content %}{%- if '</think>' in text %}{%- set text = text.split('</think>')[-1] %}{%- endif %}"
        "{{- text }}" + ONE_CALL,
        prompt="{{- '<think>\\n' }}",
    ),
    "opened or closed by the prompt, dropped": frame(
        content() + ONE_CALL,
        prompt="{{- '<think>' if thinking else '<think></think>' }}",
    ),
    "only beside calls": frame(
        "{%- if message.tool_calls and message.reasoning_content %}{{- '<|thought|>' + message.reasoning_content + '<|/thought|>' }}{%- endif %}"
        + content()
        + ONE_CALL
    ),
    "in its own channel": frame(
        "{%- if message.reasoning_content %}{{- '<|channel|>analysis<|message|>' + message.reasoning_content + '<|end|><|start|>assistant' }}{%- endif %}"
        "{%- if message.content %}{{- '<|channel|>final<|message|>' + message.content }}{%- endif %}",
        header="<|start|>assistant",
        end="<|return|>",
        user=("<|start|>user<|message|>", "<|end|>"),
    ),
    "in a content part": frame(
        "{%- if message.content is string %}{{- message.content }}{%- else %}{%- for part in message.content %}"
        "{%- if part.type == 'thinking' %}{{- '[THINK]' + part.thinking + '[/THINK]' }}{%- elif part.type == 'text' %}{{- part.text }}{%- endif %}"
        "{%- endfor %}{%- endif %}" + ONE_CALL
    ),
    "under the key reasoning": frame(
        "{%- if message.reasoning %}{{- '<|think|>' + message.reasoning + '<|/think|>' }}{%- endif %}"
        + content()
        + ONE_CALL
    ),
    "under the key thinking": frame(
        "{%- if message.thinking %}{{- '<r>' + message.thinking + '</r>' }}{%- endif %}" + content() + ONE_CALL
    ),
    "a sentence opens it": frame(
        "{%- if message.reasoning_content %}{{- 'My reasoning:\\n' + message.reasoning_content + '\\n[ANSWER]\\n' }}{%- endif %}"
        + content(),
        prompt="{{- 'My reasoning:\\n' }}",
    ),
    "an empty one is written too": frame(
        "{{- '<think>' + (message.reasoning_content or '') + '</think>\\n' }}" + content() + ONE_CALL
    ),
    "only with a switch": frame(
        "{%- if keep_thoughts and message.reasoning_content %}{{- '<think>' + message.reasoning_content + '</think>' }}{%- endif %}"
        + content()
        + ONE_CALL,
    ),
}
"""Ways to set off reasoning."""

CONTENT_TEMPLATES: dict[str, str] = {
    "bare": frame("{{- message.content }}"),
    "in marks": frame(content("<|text|>", "<|/text|>") + ONE_CALL),
    "in marks beside calls only": frame(
        "{%- if message.tool_calls %}{{- '<|pre|>' + message.content + '<|/pre|>' }}{%- else %}{{- message.content }}{%- endif %}"
        + ONE_CALL
    ),
    "behind a recipient": frame(
        content("all\\n<|content|>")
        + "{%- if message.content and message.tool_calls %}{{- '<|from|>assistant\\n<|to|>' }}{%- endif %}"
        + calls("{{- call.name + '\\n<|content|>' + (call.arguments|tojson) }}", between="<|from|>assistant\\n<|to|>"),
        header="<|from|>assistant\\n<|to|>",
        end="<|stop|>",
        user=("<|from|>user\\n<|to|>all\\n<|content|>", "\\n"),
    ),
    "in a list of parts": frame("{%- for part in message.content %}{{- part.text }}{%- endfor %}").replace(
        "+ message.content +", "+ message.content[0].text +"
    ),
    "trimmed": frame("{{- message.content|trim }}" + ONE_CALL),
    "without any mark": "{% for message in messages %}{{ message.content }}{% endfor %}",
    "after a word": frame(
        "{{- ' ' + message.content }}", user=("\\n\\nHuman: ", ""), header="\\n\\nAssistant:", end=""
    ),
    "with the end of the sequence": frame(
        "{{- message.content + eos_token }}" + ONE_CALL, user=("[INST]", "[/INST]"), header="", end=""
    ),
}
"""Ways to set off content."""

DEMANDING_TEMPLATES: dict[str, str] = {
    "roles must alternate": frame(
        content() + ONE_CALL,
        before="{%- for message in messages %}{%- if loop.index0 % 2 == 0 and message.role == 'assistant' %}{{- raise_exception('roles must alternate') }}{%- endif %}{%- endfor %}",
    ),
    "a system message must come first": frame(
        content() + ONE_CALL,
        before="{%- if messages[0].role != 'system' %}{{- raise_exception('no system message') }}{%- endif %}",
    ),
    "tools must be given": frame(
        content() + ONE_CALL, before="{%- for tool in tools %}{{- tool|tojson }}{%- endfor %}"
    ),
    "content may not be empty": frame(
        "{%- if message.content == '' %}{{- raise_exception('empty content') }}{%- endif %}" + content() + ONE_CALL
    ),
    "tools are refused": frame(content(), before="{%- if tools %}{{- raise_exception('no tools here') }}{%- endif %}"),
    "a variable of its own": frame(content() + ONE_CALL, before="{{- 'Today: ' + today + functions }}"),
    "dates, loop controls, generation marks": frame(
        "{% generation %}" + content() + "{% endgeneration %}" + ONE_CALL,
        before="{{- strftime_now('%Y-%m-%d') }}{%- for message in messages %}{%- if loop.index > 1 %}{%- break %}{%- endif %}{%- endfor %}",
    ),
    "the next turn is always opened": frame(content() + ONE_CALL, end="<|end|>\\n").replace(
        "{%- if add_generation_prompt %}", "{%- if true %}"
    ),
    "calls carry their name themselves": frame(
        content() + calls("{{- '<call>' + tool_call.name + ' ' + (tool_call.arguments|tojson) + '</call>' }}")
    ),
}
"""Chat templates that refuse some conversations, or need to be spoken to in their own way."""

EVERY: dict[str, str] = {
    **{f"calls: {name}": text for name, text in CALLS.items()},
    **{f"reasoning: {name}": text for name, text in REASONING_TEMPLATES.items()},
    **{f"content: {name}": text for name, text in CONTENT_TEMPLATES.items()},
    **{f"demanding: {name}": text for name, text in DEMANDING_TEMPLATES.items()},
}
