"""What a content parser is, and the table in which each is found by its name.

A content parser turns the text of one region into a value. In comes the parser's name and its arguments (a field's
``content`` and ``content_args``, or a ``value_parser``'s ``name`` and ``args``), once, when a template is loaded; out
goes a function from text to value, which runs once a region. The table is filled by the package's ``__init__``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from streamparse.errors import ContentError, Fault
from streamparse.limits import DEFAULT_LIMITS, Limits

Parse = Callable[[str], Any]
"""Text to value; raises ContentError (or LimitError) and nothing else."""

Findings = tuple[list[Fault], list[Fault]]
"""What a check found: errors (no use of the template can work) and warnings."""

MAX_NESTED_PARSERS = 20
"""How deep ``value_parser`` may be nested in ``value_parser``."""

EXCERPT_SIZE = 40


Rescue = Callable[[str, Mapping[str, Any], str], Any]
"""A content parser's name, its arguments and a text that it can't read to a value; raises ContentError."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """How a parse function is to be made: within which limits, and whether dictionaries remember their sources.

    ``rescue`` is asked for the value of a text that a ``value_parser`` can't read.
    """

    limits: Limits = DEFAULT_LIMITS
    keep_source: bool = False
    depth: int = 0
    rescue: Rescue | None = None


STRICT = Preparation()


class Prepare(Protocol):
    """Arguments to parse function; called once when a template loads."""

    def __call__(self, arguments: Mapping[str, Any], preparation: Preparation = STRICT, /) -> Parse:
        """Make the parse function."""


class Check(Protocol):
    """Arguments and their dotted path to what is wrong with them."""

    def __call__(self, arguments: Mapping[str, Any], path: str, depth: int = 0, /) -> Findings:
        """Check the arguments; ``depth`` counts the parsers that this one is a ``value_parser`` of."""


@dataclass(frozen=True, slots=True)
class ContentParser:
    """One content parser: its name, whether its chunks are part of the value, and how it is checked and prepared."""

    name: str
    streams: bool
    prepare: Prepare
    check: Check
    ignores_arguments: bool = False


CONTENT_PARSERS: dict[str, ContentParser] = {}
"""The content parsers of version 1 of the template format, by name."""


def prepare_content(
    name: str,
    arguments: Mapping[str, Any],
    *,
    limits: Limits = DEFAULT_LIMITS,
    keep_source: bool = False,
) -> Parse:
    """Make the function that parses a region's text with the content parser ``name``.

    With ``keep_source`` the dictionaries that ``xml-inline`` and ``kv-lines`` give are ``SourcedDict``s, which know
    the text that each value was read from, so that a tool's schema may read it again. Raises KeyError for a name
    that no content parser has; the function raises ContentError and LimitError only.

    >>> prepare_content("int", {})(" 7 ")
    7
    >>> prepare_content("kv-lines", {"kv_sep": "="})("a=1")
    {'a': '1'}
    """
    return CONTENT_PARSERS[name].prepare(arguments, Preparation(limits, keep_source))


def check_content(name: str, arguments: Any, path: str, depth: int = 0) -> Findings:
    """Say what is wrong with the arguments of the content parser ``name``, without raising.

    ``path`` is where the arguments stand in the template, such as ``fields.tool_calls.content_args``.

    >>> errors, warnings = check_content("int", {"base": 16}, "fields.x.content_args")
    >>> [str(warning) for warning in warnings]
    ["fields.x.content_args.base: 'base' is not an argument of int and is ignored"]
    """
    parser = CONTENT_PARSERS[name]
    if not isinstance(arguments, Mapping):
        fault = Fault(path, f"must be an object with the arguments of {name}, not {kind_of(arguments)}")
        return ([], [fault]) if parser.ignores_arguments else ([fault], [])
    return parser.check(arguments, path, depth)


def kind_of(value: Any) -> str:
    """Name a value's kind as JSON does, for messages.

    >>> kind_of(None), kind_of([1]), kind_of({1})
    ('null', 'a list', 'set')
    """
    kinds = {
        type(None): "null",
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), type(value).__name__)


def known_arguments(parser: str, arguments: Mapping[str, Any], path: str, known: Mapping[str, type]) -> Findings:
    """Warn of arguments that a parser doesn't know, and of flags that are not booleans (their truth is taken)."""
    warnings = []
    for key, value in arguments.items():
        if key not in known:
            warnings.append(Fault(f"{path}.{key}", f"{key!r} is not an argument of {parser} and is ignored"))
        elif known[key] is bool and not isinstance(value, bool):
            warnings.append(Fault(f"{path}.{key}", f"should be true or false; {value!r} counts as {bool(value)}"))
    return [], warnings


def strips(arguments: Mapping[str, Any]) -> bool:
    """Whether the argument ``strip``, true unless given, asks for white space at the ends to be taken off."""
    return bool(arguments.get("strip", True))


def content_error(reason: str, text: str, position: int | None = None) -> ContentError:
    """Make the error for ``text`` that went wrong at ``position``, with a short piece of the text around it."""
    start = 0 if position is None else max(0, position - EXCERPT_SIZE // 2)
    return ContentError(reason, position=position, excerpt=text[start : start + EXCERPT_SIZE])
