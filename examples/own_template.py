"""Write a response template for a model of your own, and read its output with it.

    python examples/own_template.py

The model of this example thinks in `[[…]]`, scores its answer, and calls tools as `@name key: value, …`.
"""

from __future__ import annotations

import json

from streamparse import ResponseParser, TemplateError, load_response_template

TEMPLATE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "### Assistant:",
    "fields": {
        "reasoning_content": {"open": "[[", "close": "]]"},
        "score": {"open": "score=", "close": ";", "content": "float"},
        "tool_calls": {
            "open_pattern": "@(?P<name>[a-z_]+) ",
            "close": "\n",
            "repeats": True,
            "content": "kv-lines",
            "content_args": {"line_sep": ","},
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        },
        "content": {"close": "### User:"},
    },
}
OUTPUT = "[[An easy one.]]score=0.9;It is warm.\n@weather city: Rome, unit: C\n"


def main() -> None:
    """Load the template, see what a mistake in it would give, and parse."""
    template = load_response_template(TEMPLATE)
    try:
        load_response_template({**TEMPLATE, "fields": {"content": {"open": "", "clsoe": "x"}}})
    except TemplateError as error:
        print(error)

    parser = ResponseParser(template, prefix="### User: Is it warm?\n### Assistant:", errors="report")
    for start in range(0, len(OUTPUT), 8):
        for event in parser.feed(OUTPUT[start : start + 8]):
            print(event)
    message, last_events = parser.finalize()
    for event in last_events:
        print(event)
    print(json.dumps(message, indent=2))


if __name__ == "__main__":
    main()
