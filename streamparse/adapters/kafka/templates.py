"""What a generation begins with, as arguments of a parser.

In:  the value of a ``begin`` record, and what the worker has for those that leave something out.
Out: the options that ``KeyedParser`` opens a generation with.

A name is only looked up among the bundled templates: a record never makes the worker open a file.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from streamparse.encode import encode_event
from streamparse.errors import ArgumentError
from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.template import ResponseTemplate, TemplateSource, get_response_template, load_response_template

_REMEMBERED = 256
"""Templates that came in records and are kept loaded."""


class Beginnings:
    """Makes options of ``begin`` records. ``template``, ``prefix`` and ``options`` are for those that don't say.

    ``tokenizers`` are those of token ids, by the name that records give; ``""`` is that of records that give none.
    Raises TemplateError for a faulty ``template``.

    >>> made = Beginnings("qwen3", prefix="").options({"type": "begin", "options": {"deltas": True}}, seed="0/17")
    >>> made["prefix"], made["deltas"], made["errors"]
    ('', True, 'report')
    """

    def __init__(
        self,
        template: TemplateSource | None = None,
        *,
        prefix: str | None = None,
        tokenizers: Mapping[str, Any] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._template = None if template is None else load_response_template(template)
        self._prefix = prefix
        self._tokenizers = tokenizers or {}
        self._limits = limits
        self._options = {"errors": "report", **(options or {})}
        self._loaded: OrderedDict[bytes, ResponseTemplate] = OrderedDict()

    def options(self, begin: Mapping[str, Any], *, seed: str) -> dict[str, Any]:
        """What a generation is opened with; raises what is wrong with the record.

        ``seed`` makes the ids of its calls, where they are asked for: the same ones each time the record is read.
        """
        own = {**self._options, **begin.get("options", {})}
        if own.get("call_ids"):
            own["call_ids"] = seed
        return {**own, **self.restored(begin), "prefix": begin.get("prefix", self._prefix)}

    def restored(self, begin: Mapping[str, Any]) -> dict[str, Any]:
        """What a snapshot of the generation is taken up with."""
        options: dict[str, Any] = {"template": self._template_of(begin), "limits": self._limits}
        tools = begin.get("tools")
        if tools is not None:
            options["tools"] = tools
        name = begin.get("tokenizer", "")
        if name in self._tokenizers:
            options["tokenizer"] = self._tokenizers[name]
        elif name:
            known = ", ".join(map(repr, self._tokenizers)) or "none"
            raise ArgumentError(f"the worker has no tokenizer {name!r}; it has {known}")
        return options

    def _template_of(self, begin: Mapping[str, Any]) -> ResponseTemplate:
        given = begin.get("template")
        if given is None:
            if self._template is None:
                raise ArgumentError("the record begin names no template, and the worker was given none")
            return self._template
        digest = given.encode() if isinstance(given, str) else encode_event(given)
        template = self._loaded.get(digest)
        if template is None:
            template = get_response_template(given) if isinstance(given, str) else load_response_template(given)
            self._loaded[digest] = template
            if len(self._loaded) > _REMEMBERED:
                self._loaded.popitem(last=False)
        return template
