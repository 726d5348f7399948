"""Runs transformers' parser: one line of JSON in for each request, one line out. It may hang, so it is a process.

A request has ``template``, ``prefix``, ``text`` and ``tools``. An answer has ``message``, ``initial`` and ``events``
for the text in one piece, ``known`` (message and events as they are if the parser knows from the start that there is
no more text, which it should always agree with), or ``error``: which step raised, and the exception's name.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

Json = dict[str, Any]


def answer(request: Json) -> Json:
    """What transformers gives for a request."""
    from transformers.utils.chat_parsing.response_parser import ResponseParser
    from transformers.utils.chat_parsing.response_templates import load_response_template

    try:
        template = load_response_template(request["template"])
    except Exception as error:
        return {"error": f"load: {type(error).__name__}: {error}"}
    result: Json = {}
    try:
        parser = ResponseParser(template, prefix=request["prefix"], tools=request["tools"])
        initial = list(parser.initial_events)
        events = parser.feed(request["text"])
        message, last = parser.finalize()
        result |= {"message": message, "initial": initial, "events": events + last}
    except Exception as error:
        result["error"] = f"parse: {type(error).__name__}: {error}"
    try:
        parser = ResponseParser(template, prefix="", tools=request["tools"])
        prefix = template.truncate_past_last_anchor(request["prefix"]) if request["prefix"] else ""
        parser._buffer = prefix + request["text"]
        message, events = parser.finalize()
        result["known"] = {"message": message, "events": events}
    except Exception as error:
        result["known"] = {"error": f"parse: {type(error).__name__}: {error}"}
    return result


def main() -> None:
    """Answer requests until there are no more."""
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
