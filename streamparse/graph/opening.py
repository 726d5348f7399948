"""How the parser of a generation is made, where many have most of their options in common.

In:  the options of all, those of a key, and what a key is opened with; each goes before those that stand before it.
Out: parsers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from streamparse.arguments import template_for
from streamparse.errors import ArgumentError
from streamparse.parser import ResponseParser
from streamparse.template import TemplateSource, load_response_template


class Opening:
    """Makes parsers; the arguments are those of ``KeyedParser``. Raises TemplateError for a faulty ``template``.

    >>> opening = Opening("qwen3", "", lambda key: {"prefix": key}, {"spans": True})
    >>> opening.parser("<|im_start|>assistant\\n<think>\\n", {"spans": False}).initial_events
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
