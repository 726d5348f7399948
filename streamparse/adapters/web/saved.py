"""A generation as one file: the text, the template and everything else that it takes to parse it again, and the events.

In:  an input. Out: a JSON-able dict; and from such a dict, the input again.

=====================  ========================================================================================
key
=====================  ========================================================================================
``format``             ``"streamparse generation"``
``version``            1
``title``, ``prompt``  for display
``template``           the bundled template's name, or how else it is called
``response_template``  the template itself, as JSON
``prefix``, ``tools``  what the parser was given, as ``ResponseParser`` takes them
``errors``             the mode
``pieces``             the text, in the pieces that it came in
``events``             the events that came out, with spans and deltas
``message``            the message
=====================  ========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.adapters.web.inputs import TEXT_AT_MOST, Input, Request, RequestError, requested
from streamparse.errors import ParseError

FORMAT = "streamparse generation"
VERSION = 1


def to_file(made: Input) -> dict[str, Any]:
    """The file of an input, with the events and the message that come of it."""
    parser = made.parser()
    events = list(parser.initial_events)
    try:
        for piece in made.pieces:
            events += parser.feed(piece)
        message, last = parser.finalize()
    except ParseError:  # in strict mode; what came before is the result
        message, last = parser.message, []
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": made.title,
        "prompt": made.prompt,
        "template": made.template_name,
        "response_template": made.template.source,
        "prefix": made.prefix,
        "tools": list(made.tools),
        "errors": made.errors,
        "pieces": list(made.pieces),
        "events": [*events, *last],
        "message": message,
    }


def from_file(file: Any) -> Input:
    """The input that a file was made of; raises RequestError for what is no such file."""
    if not isinstance(file, Mapping) or file.get("format") != FORMAT:
        raise RequestError(f'this is no file of a generation: its format is not "{FORMAT}"')
    if file.get("version") != VERSION:
        raise RequestError(f"the file is of version {file.get('version')!r}; this page reads version {VERSION}")
    pieces = file.get("pieces")
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise RequestError("the file has no list of pieces")
    made = requested({**_asked(file), "text": "".join(pieces)[: TEXT_AT_MOST + 1]})
    expected = file.get("message")
    return Input(
        title=made.title,
        template=made.template,
        template_name=str(file.get("template", made.template_name))[:100],
        pieces=pieces,
        prefix=made.prefix,
        tools=made.tools,
        errors=made.errors,
        prompt=str(file.get("prompt", ""))[:10_000],
        origin="from a file",
        expected=expected if isinstance(expected, Mapping) else None,
    )


def _asked(file: Request) -> dict[str, Any]:
    """What somebody would have typed to get the input of a file."""
    kept = {key: file[key] for key in ("title", "prefix", "tools", "errors") if key in file}
    return {**kept, "template": {"source": file.get("response_template")}}
