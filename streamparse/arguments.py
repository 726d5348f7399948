"""What callers of a parser give, as the parser takes it.

In: the arguments of ``ResponseParser`` and of its short forms. Out: the same checked, a prefix as text, and the
template that is meant where only a tokenizer was given.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from streamparse.errors import ArgumentError, Fault, PrefixError, TemplateError
from streamparse.template import TemplateSource
from streamparse.tokens.tokenizer import decode_prefix

ErrorMode = Literal["strict", "report", "repair"]
ERROR_MODES: tuple[ErrorMode, ...] = ("strict", "report", "repair")


@dataclass(frozen=True, slots=True)
class Options:
    """What a parser was asked to do; part of its snapshots."""

    errors: ErrorMode
    deltas: bool
    spans: bool
    call_ids: bool | str
    without: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a mode that there is not."""
        if self.errors not in ERROR_MODES:
            raise ArgumentError(f"errors must be one of {', '.join(map(repr, ERROR_MODES))}, not {self.errors!r}")

    def shared(self) -> Options:
        """The same options as one object for all parsers of their kind, unless fields are switched off."""
        return self if self.without or self.call_seed else _KNOWN.setdefault(self, self)

    @property
    def call_seed(self) -> str | None:
        """What the ids of calls are made of, if that was given."""
        return self.call_ids if isinstance(self.call_ids, str) else None

    @property
    def lenient(self) -> bool:
        """Whether nothing is raised for what a model wrote."""
        return self.errors != "strict"


_KNOWN: dict[Options, Options] = {}


def field_names(names: Any) -> tuple[str, ...]:
    """The names of fields as they are kept; raises ArgumentError for what is no collection of names."""
    if names == ():
        return ()
    several = isinstance(names, Collection) and not isinstance(names, str | bytes)
    if not several or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f'without must be a list of names of fields, such as ["tool_calls"], not {names!r}')
    return tuple(sorted(names))


def as_text(prefix: Any, tokenizer: Any) -> str:
    """A prefix as text; token ids are decoded."""
    if isinstance(prefix, str):
        return prefix
    if tokenizer is None:
        raise PrefixError("a prefix of token ids needs tokenizer= to be decoded with; or pass its text")
    return decode_prefix(tokenizer, prefix)


def template_for(template: TemplateSource | None, tokenizer: Any) -> TemplateSource:
    """The template that was given, or else the tokenizer's own, or else the one that its chat template implies."""
    if template is not None or tokenizer is None:
        return template  # type: ignore[return-value]
    own: TemplateSource | None = getattr(tokenizer, "response_template", None)
    if own is None and isinstance(getattr(tokenizer, "chat_template", None), str):
        from streamparse.infer import infer_response_template  # it needs Jinja, which is an extra

        return infer_response_template(tokenizer).to_use()
    if own is None:
        raise TemplateError(
            [
                Fault(
                    "",
                    "the tokenizer has no response_template, and no chat_template to infer one from; pass a template, "
                    "a file that has one, or the name of a bundled one (see response_template_names())",
                )
            ]
        )
    return own
