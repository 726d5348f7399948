r"""How a family writes its calls: the fixed text around names, ids and arguments.

In: a response template. Out: its ``Form``s, each a way to write a section of calls. A template may say so itself, under
``streamparse.fields.<field>.written``; otherwise the forms come from its patterns (``derived``). In a form's text

``{name}``, ``{arguments}``, ``{id}``, ``{index}``
    stand for what their names say;
``{key}``, ``{value}``, ``{kind}``, ``{type}``
    stand, in ``argument``, for an argument's key and value, for whether it is a text (``true`` or ``false``), and for
    its JSON type;
``{ws}``, ``{\n}``, ``{ }``
    are white space that may be left out, or be more; a model is best made to write nothing, a line break, or a blank;
``{br}``
    is a line break that may be left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import regex

from streamparse.grammar.characters import DIGIT, of, union
from streamparse.grammar.dialects import WHITE_SPACE_RULE
from streamparse.grammar.nodes import Chars, Node, Repeat, Text, choice, optional, sequence
from streamparse.grammar.patterns import texts_matching

SPACES = {"{ws}": "", "{\n}": "\n", "{ }": " "}
SLOTS = ("{name}", "{arguments}", "{id}", "{index}")
TOKEN = regex.compile(r"\{(?:ws|br|\n| |name|arguments|id|index|key|value|kind|type)\}")
# The blanks of JSON between a mark and what follows, which are always optional.
_JSON_BLANK = regex.compile(r'(?<=["\]}][:,]) (?=["\[{])')

INDEX: Node = choice([Text("0"), sequence(Chars(((0x31, 0x39),)), Repeat(Chars(DIGIT), 0, 2))])
ID: Node = Repeat(Chars(union(of("-_"), ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)))), 1, 40)
"""An id that a model makes up, where its family doesn't say how long one is."""


@dataclass(frozen=True, slots=True)
class Space:
    """White space that may be left out or be more; ``usual`` is what is best written."""

    usual: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a ``name``, an ``id``, an ``index`` or the ``arguments``; ``node`` is what an id may be."""

    kind: str
    node: Node = ID


@dataclass(frozen=True, slots=True)
class Maybe:
    """What may be left out, and is best written or left out."""

    parts: Parts
    usual: bool


Part = str | Space | Slot | Maybe
Parts = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class ArgumentText:
    """How one argument in marks of its own is written, and what stands between two.

    ``parts`` have the slots ``key``, ``value`` and maybe ``kind`` or ``type``, which say what the value is.
    ``trimmed``: white space at the edges of a value is none of it.
    """

    parts: Parts
    separator: Parts = ()
    trimmed: bool = False

    @property
    def before(self) -> Parts:
        """What stands before the value."""
        return self.parts[: self._value_at]

    @property
    def behind(self) -> Parts:
        """What stands behind the value."""
        return self.parts[self._value_at + 1 :]

    @property
    def _value_at(self) -> int:
        return next(at for at, part in enumerate(self.parts) if isinstance(part, Slot) and part.kind == "value")


@dataclass(frozen=True, slots=True)
class Form:
    """A way to write calls: ``begin``, a call, ``between`` and another call any number of times, ``end``.

    ``between`` is None where a section has one call. ``content`` says how the arguments are written: ``json``,
    ``python`` or ``marks`` (an ``argument`` each); ``delimiters`` and ``bare_keys`` are those of a dialect of JSON.
    ``prompted`` is text before ``begin`` that the prompt may have written already. ``quoted`` says that names stand
    within JSON.
    """

    call: Parts
    begin: Parts = ()
    between: Parts | None = None
    end: Parts = ()
    content: str = "json"
    delimiters: tuple[str, str] | None = None
    bare_keys: bool = False
    argument: ArgumentText | None = None
    prompted: str = ""
    quoted: bool = False

    @property
    def opening(self) -> Parts:
        """All of a section up to the first arguments, and what follows them within the call."""
        return (*self.begin, *self.call)


def written_form(raw: Mapping[str, str], content_args: Mapping[str, Any]) -> Form:
    """Read a form that a template gives; ``content_args`` are the field's, for values in a dialect of JSON."""
    ids = texts_matching(f"^{raw['id']}$") if "id" in raw else ID
    call = parts_of(raw.get("call", ""), ids)
    argument = None
    if "argument" in raw:
        argument = ArgumentText(parts_of(raw["argument"]), parts_of(raw.get("separator", "")))
    return Form(
        call,
        parts_of(raw.get("begin", "")),
        parts_of(raw["between"]) if "between" in raw else None,
        parts_of(raw.get("end", "")),
        content=raw.get("content", "json"),
        **(dialect(content_args) if raw.get("content", "json") == "json" else {}),
        argument=argument,
        prompted=raw.get("prompted", ""),
        quoted='"{name}"' in raw.get("call", ""),
    )


def dialect(content_args: Mapping[str, Any]) -> dict[str, Any]:
    """What a content parser's arguments say of the dialect of JSON that a form is in."""
    delimiters = content_args.get("string_delims") or ()
    first = (str(delimiters[0][0]), str(delimiters[0][1])) if delimiters else None
    return {"delimiters": first, "bare_keys": bool(content_args.get("unquoted_keys"))}


def without_head(parts: Parts, head: str, name: str) -> Parts | None:
    """The parts behind a fixed text that they begin with, a name and white space as usual in it; None for another text.

    >>> without_head(("<c", Space("\\n"), ">"), "<c\\n", "")
    ('>',)
    """
    if not head:
        return parts
    if not parts:
        return None
    first, rest = parts[0], parts[1:]
    if isinstance(first, Maybe):
        return without_head((*first.parts, *rest), head, name) or without_head(rest, head, name)
    text = name if isinstance(first, Slot) and first.kind == "name" else usual_text((first,))
    if head.startswith(text) and (text or not isinstance(first, Slot)):
        return without_head(rest, head[len(text) :], name)
    if text.startswith(head) and isinstance(first, str):
        return (text[len(head) :], *rest)
    return None


def parts_of(text: str, ids: Node = ID) -> Parts:
    r"""Take a form's text apart.

    >>> parts_of('<c>{\n}{"name": "{name}"}')
    ('<c>', Space(usual='\n'), '{"name":', Space(usual=' '), '"', Slot(kind='name', node=...), '"}')
    """
    parts: list[Part] = []
    at = 0
    text = _JSON_BLANK.sub("{ }", text)
    for found in TOKEN.finditer(text):
        parts += [text[at : found.start()]] if found.start() > at else []
        at = found.end()
        token = found[0]
        if token == "{br}":
            parts.append(Maybe(("\n",), True))
        else:
            parts.append(Space(SPACES[token]) if token in SPACES else Slot(token[1:-1], ids))
    return (*parts, text[at:]) if text[at:] else tuple(parts)


def leading_text(parts: Iterable[Part]) -> str:
    """The fixed text that parts begin with.

    >>> leading_text(("<c>", Space(""), "x"))
    '<c>'
    """
    text = ""
    for part in parts:
        if not isinstance(part, str):
            break
        text += part
    return text


def usual_text(parts: Iterable[Part], **slots: str) -> str:
    """The parts as they are best written, with these texts in the slots."""
    return "".join(
        part
        if isinstance(part, str)
        else part.usual
        if isinstance(part, Space)
        else slots.get(part.kind, "")
        if isinstance(part, Slot)
        else usual_text(part.parts, **slots)
        if part.usual
        else ""
        for part in parts
    )


def node_of(parts: Iterable[Part], slots: Mapping[str, Node], *, usual: bool = False) -> Node:
    """The parts as a node, with these nodes in the slots; ``usual``: only as they are best written."""
    nodes: list[Node] = []
    for part in parts:
        if isinstance(part, str):
            nodes.append(Text(part))
        elif isinstance(part, Space):
            nodes.append(Text(part.usual) if usual else WHITE_SPACE_RULE)
        elif isinstance(part, Maybe):
            inner = node_of(part.parts, slots, usual=usual)
            nodes.append(inner if usual and part.usual else sequence() if usual else optional(inner))
        elif part.kind in slots:
            nodes.append(slots[part.kind])
        else:
            nodes.append(INDEX if part.kind == "index" else part.node)
    return sequence(*nodes)
