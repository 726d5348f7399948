"""Turns what a language model writes, while it is writing it, into structured events."""

from streamparse.errors import (
    ContentError,
    FinalizedError,
    LimitError,
    ParseError,
    PrefixError,
    SnapshotError,
    SourceError,
    StageError,
    StreamparseError,
    TemplateError,
)
from streamparse.limits import Limits
from streamparse.parser import ResponseParser, get_response_parser, parse_response
from streamparse.stream import End, ParseStream, parse_stream
from streamparse.template import (
    ResponseTemplate,
    get_response_template,
    load_response_template,
    response_template_names,
)

__all__ = [
    "ContentError",
    "End",
    "FinalizedError",
    "LimitError",
    "Limits",
    "ParseError",
    "ParseStream",
    "PrefixError",
    "ResponseParser",
    "ResponseTemplate",
    "SnapshotError",
    "SourceError",
    "StageError",
    "StreamparseError",
    "TemplateError",
    "get_response_parser",
    "get_response_template",
    "load_response_template",
    "parse_response",
    "parse_stream",
    "response_template_names",
]
