"""The life cycle of one keyed generation: what opens it, how its parser is made, and what it ends with.

In:  the options of all generations, of a key, and of an ``Open``; an ``End``, or the error that the generation came to.
Out: its parser; its last events, of which the very last is ``message`` or ``error``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from streamparse.arguments import template_for
from streamparse.errors import ArgumentError, events_before
from streamparse.events import Event, error_event, message_event
from streamparse.graph.source import End
from streamparse.parser import ResponseParser
from streamparse.stages.schema_typing import ToolSchemas
from streamparse.template import TemplateSource, load_response_template

EXPIRED = End("expired")
"""The end of a generation that was idle for too long; compared by identity, as a source may give that reason too."""
CANCELLED = End("cancelled")
FINISHED = End()
"""The end of what is open when the source has ended."""

Outcome = tuple[list[Event], Exception | None]
"""The events of a step, and the error that it came to."""


class Open:
    """A chunk that opens its key: the generation's own options, those of ``ResponseParser``, over the operator's.

    >>> Open(template="gpt_oss", prefix="")
    Open(template='gpt_oss', prefix='')
    """

    __slots__ = ("options",)

    def __init__(self, **options: Any) -> None:
        self.options = options

    def __repr__(self) -> str:
        return f"Open({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"


def is_end(chunk: Any) -> bool:
    """Whether a chunk ends its generation: an ``End``, or the error that the source came to.

    >>> is_end(End("stop")), is_end(OSError("gone")), is_end("text")
    (True, True, False)
    """
    return type(chunk) is End or isinstance(chunk, Exception)


def check_pairs(batch: Iterable[Any]) -> None:
    """Raise ArgumentError for the first item of a batch that is no pair, or has a key that can't be hashed.

    >>> check_pairs([("a", "Hello"), (["b"], "Hi")])
    Traceback (most recent call last):
        ...
    streamparse.errors.ArgumentError: item 1 of the batch is no pair (key, chunk) whose key can be hashed: (['b'], 'Hi')
    """
    for number, item in enumerate(batch):
        try:
            key, _ = item
            hash(key)
        except (TypeError, ValueError) as error:
            raise ArgumentError(
                f"item {number} of the batch is no pair (key, chunk) whose key can be hashed: {item!r:.200}"
            ) from error


class ParserFactory:
    """Makes parsers; the arguments are those of ``KeyedParser``. Raises TemplateError for a faulty ``template``.

    >>> factory = ParserFactory("qwen3", "", lambda key: {"prefix": key}, {"spans": True})
    >>> factory.parser("<|im_start|>assistant\\n<think>\\n", {"spans": False}).initial_events
    [{'type': 'region_open', 'field': 'reasoning_content'}]
    """

    def __init__(
        self,
        template: TemplateSource | None,
        prefix: Any,
        options: Callable[[Hashable], Mapping[str, Any]] | None,
        defaults: Mapping[str, Any],
    ) -> None:
        tokenizer = defaults.get("tokenizer")
        if template is not None or tokenizer is not None:
            template = load_response_template(template_for(template, tokenizer))  # once for all
            if "tools" in defaults:
                defaults = {**defaults, "tools": ToolSchemas.from_tools(defaults["tools"])}  # read once, too
            ResponseParser(template, "", **defaults)  # faults in what all have in common show at once
        self._defaults = {"template": template, "prefix": prefix, "errors": "report", **defaults}
        self._options = options

    def parser(self, key: Hashable, own: Mapping[str, Any]) -> ResponseParser:
        """A new parser; raises whatever is wrong with its options."""
        chosen = self._chosen(key, own)
        return ResponseParser(chosen.pop("template"), chosen.pop("prefix"), **chosen)

    def restored(self, key: Hashable, data: bytes, own: Mapping[str, Any]) -> ResponseParser:
        """The parser that a snapshot was taken of; raises what ``ResponseParser.restore`` raises."""
        chosen = self._chosen(key, own)
        kept = {name: chosen[name] for name in ("tools", "tokenizer", "limits") if name in chosen}
        return ResponseParser.restore(data, chosen["template"], **kept)

    def _chosen(self, key: Hashable, own: Mapping[str, Any]) -> dict[str, Any]:
        try:
            of_key = {} if self._options is None else {**self._options(key)}
        except Exception as error:
            raise ArgumentError(
                f"options({key!r}), which gives the arguments of a key's ResponseParser as a mapping, failed: "
                f"{type(error).__name__}: {error}"
            ) from error
        return {**self._defaults, **of_key, **own}


def last_events(parser: ResponseParser, end: End) -> Outcome:
    """The last events of a generation that ends in the regular way, the message among them."""
    try:
        message, events = parser.finalize(end.for_parser)
    except Exception as error:
        return [*events_before(error), error_event(error, parser.message, parser.problems)], error
    last = message_event(message, parser.problems, end.finish_reason)
    if end.usage is not None:
        last["usage"] = end.usage
    return [*events, last], None


def failed_events(parser: ResponseParser, error: Exception) -> Outcome:
    """The last events of a generation that has failed; if its parser has not, the open region ends first."""
    try:
        events = parser.finalize("length")[1]
    except Exception:  # the parser has stopped already, or stops at what the first error left undone
        events = []
    return [*events_before(error), *events, error_event(error, parser.message, parser.problems)], error
