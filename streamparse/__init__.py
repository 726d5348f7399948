"""Turns what a language model writes, while it is writing it, into structured events."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from streamparse.broadcasting import Broadcast, Consumer, broadcast
from streamparse.errors import (
    ArgumentError,
    ChannelClosedError,
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
from streamparse.events import (
    ConsumerDropped,
    Error,
    Event,
    Message,
    RegionChunk,
    RegionClose,
    RegionDelta,
    RegionMalformed,
    RegionOpen,
    RegionUnclaimed,
)
from streamparse.guess import Guess, guess_response_template
from streamparse.keyed import KeyedParser, Open, pump
from streamparse.limits import Limits
from streamparse.many import ManyStream, parse_many
from streamparse.parser import ResponseParser
from streamparse.short_forms import get_response_parser, parse_response
from streamparse.stream import End, ParseStream, parse_stream
from streamparse.template import (
    ResponseTemplate,
    get_response_template,
    load_response_template,
    response_template_names,
)

if TYPE_CHECKING:
    from streamparse.adapters.huggingface.parse_generate import parse_generate as parse_generate
    from streamparse.grammar import Grammar as Grammar
    from streamparse.grammar import GrammarError as GrammarError
    from streamparse.grammar import to_grammar as to_grammar
    from streamparse.infer import Inference as Inference
    from streamparse.infer import InferenceError as InferenceError
    from streamparse.infer import UnverifiedWarning as UnverifiedWarning
    from streamparse.infer import infer_response_template as infer_response_template

__all__ = [
    "ArgumentError",
    "Broadcast",
    "ChannelClosedError",
    "Consumer",
    "ConsumerDropped",
    "ContentError",
    "End",
    "Error",
    "Event",
    "FinalizedError",
    "Guess",
    "KeyedParser",
    "LimitError",
    "Limits",
    "ManyStream",
    "Message",
    "Open",
    "ParseError",
    "ParseStream",
    "PrefixError",
    "RegionChunk",
    "RegionClose",
    "RegionDelta",
    "RegionMalformed",
    "RegionOpen",
    "RegionUnclaimed",
    "ResponseParser",
    "ResponseTemplate",
    "SnapshotError",
    "SourceError",
    "StageError",
    "StreamparseError",
    "TemplateError",
    "broadcast",
    "get_response_parser",
    "get_response_template",
    "guess_response_template",
    "load_response_template",
    "parse_many",
    "parse_response",
    "parse_stream",
    "pump",
    "response_template_names",
]

_INFER, _HUGGINGFACE, _GRAMMAR = "streamparse.infer", "streamparse.adapters.huggingface", "streamparse.grammar"
_FOUND_IN = {
    "Grammar": _GRAMMAR,
    "GrammarError": _GRAMMAR,
    "Inference": _INFER,
    "InferenceError": _INFER,
    "UnverifiedWarning": _INFER,
    "infer_response_template": _INFER,
    "parse_generate": _HUGGINGFACE,
    "to_grammar": _GRAMMAR,
}
"""Names whose modules are imported when they are asked for, as few need them or they need an extra; not in ``*``."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("streamparse-llm")
    if name not in _FOUND_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_FOUND_IN[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_FOUND_IN, "__version__"})
