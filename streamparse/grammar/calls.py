"""Sections of calls as nodes: the forms of a template with the given tools in their slots.

In: forms, tools and what was asked of them. Out, for each form: a node for a section, whole or behind the text that
triggers it. The arguments of a tool are one rule, shared by all forms that write them alike.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import regex

from streamparse.grammar.dialects import Gemma, Json, Python
from streamparse.grammar.errors import GrammarError
from streamparse.grammar.forms import Form, Slot, node_of, usual_text, without_head
from streamparse.grammar.marks import is_telling, leading, plain_start
from streamparse.grammar.members import Member
from streamparse.grammar.nodes import EMPTY, Node, Repeat, Rules, Text, choice, optional, sequence
from streamparse.grammar.probing import Surroundings
from streamparse.grammar.schemas import SchemaWriter
from streamparse.grammar.tags import ArgumentForm, arguments_node

_PLAIN_NAME = regex.compile(r"[\w./:-]+")
_PYTHON_NAME = regex.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its name, and the schema of its arguments (None: any object)."""

    name: str
    schema: Any


@dataclass(frozen=True, slots=True)
class Trigger:
    """A text that begins a section: the node of the rest, and of a rest that the generation's end closes, if it may."""

    text: str
    rest: Node
    unclosed: Node | None
    form: Form


@dataclass(slots=True)
class CallWriter:
    """Writes the sections of one grammar."""

    rules: Rules
    tools: Sequence[Tool]
    parallel: bool
    any_order: bool
    open_objects: bool
    ends_turn: Sequence[str]
    near: Mapping[Form, Surroundings]
    heads: Sequence[str]
    closes: Sequence[str]
    reserved: Sequence[str]
    _arguments: dict[tuple[Any, ...], Node | None] = field(default_factory=dict)
    _callable: dict[Form, list[Tool]] = field(default_factory=dict)
    _dialects: dict[Form, Json] = field(default_factory=dict)

    def section(self, form: Form) -> tuple[Node, Node | None] | None:
        """A whole section, and one without its close where the generation's end may stand for it.

        None where no tool can be called in this form.
        """
        tools = self.callable_in(form)
        if not tools:
            return None
        head = node_of(form.begin, {})
        return self._closed(sequence(head, self._calls(form, tools)), form, tools)

    def triggers(self, form: Form) -> list[Trigger]:
        """The texts that begin a form's sections, each with what follows."""
        tools = self.callable_in(form)
        found: list[Trigger] = []
        groups: dict[str, list[Tool]] = {}
        for tool in tools:
            groups.setdefault(self._trigger_text(form, tool), []).append(tool)
        for text, called in groups.items():
            behind = text.removeprefix(form.prompted) if self.near[form].needs_prompted else text
            branches = []
            for tool in called:
                parts = without_head(plain_start(form.opening), behind, self.shown_name(form, tool))
                if parts is None:
                    raise GrammarError(f"the form of {tool.name!r} doesn't begin with {text!r}")
                branches.append(node_of(parts, self._slots(form, tool)))
            closed, unclosed = self._closed(choice(branches), form, tools)
            found.append(Trigger(text, closed, unclosed, form))
        return found

    def _closed(self, first: Node, form: Form, tools: list[Tool]) -> tuple[Node, Node | None]:
        """A first call with the calls and the end that follow it."""
        more: Node = EMPTY
        if form.between is not None and self.parallel:
            more = Repeat(sequence(node_of(form.between, {}), self._calls(form, tools)), 0, None)
        start = sequence(first, more)
        closed = sequence(start, node_of(form.end, {}))
        last = form.end[-1] if form.end else None
        if isinstance(last, str) and last in self.ends_turn:
            return closed, sequence(start, node_of(form.end[:-1], {}))
        return closed, None

    def _calls(self, form: Form, tools: list[Tool]) -> Node:
        """Any of the tools' calls, without what begins a section."""
        key = ("call", id(form))
        if key not in self._arguments:
            calls = choice(node_of(form.call, self._slots(form, tool)) for tool in tools)
            self._arguments[key] = self.rules.define("call", calls)
        node = self._arguments[key]
        assert node is not None
        return node

    def _slots(self, form: Form, tool: Tool) -> dict[str, Node]:
        arguments = self.arguments(form, tool)
        assert arguments is not None
        return {"name": Text(self.shown_name(form, tool)), "arguments": arguments}

    def shown_name(self, form: Form, tool: Tool) -> str:
        """A tool's name as a form writes it."""
        return json.dumps(tool.name, ensure_ascii=False)[1:-1] if form.quoted else tool.name

    def behind_head(self, form: Form, tool: Tool) -> tuple[str, Node]:
        """The text that a call begins with, as it is usually written, and the node of the rest."""
        name = self.shown_name(form, tool)
        head = ""
        for part in form.call:
            if isinstance(part, Slot) and part.kind != "name":
                break
            head += usual_text((part,), name=name)
        rest = without_head(form.call, head, name)
        assert rest is not None
        return head, node_of(rest, self._slots(form, tool))

    def callable_in(self, form: Form) -> list[Tool]:
        """The tools that a form can call."""
        if (found := self._callable.get(form)) is None:
            found = [
                tool for tool in self.tools if self._can_name(form, tool) and self.arguments(form, tool) is not None
            ]
            self._callable[form] = found
        return found

    def _can_name(self, form: Form, tool: Tool) -> bool:
        if form.content == "python":
            return _PYTHON_NAME.fullmatch(tool.name) is not None
        if tool.name in self.reserved and any(part == '":' for part in form.call):
            return False  # the name is a key here, and this key would be taken for a part of the call
        return form.quoted or _PLAIN_NAME.fullmatch(tool.name) is not None

    def _trigger_text(self, form: Form, tool: Tool) -> str:
        """The shortest text by which the begin of a section is told from other text."""
        parts = plain_start(form.opening)
        before = form.prompted if self.near[form].needs_prompted else ""
        usual = ""
        for part in parts:
            if isinstance(part, Slot):
                break
            usual += usual_text((part,))
            if is_telling(usual) or usual in self.near[form].misread:
                return before + next((head for head in self.heads if usual.startswith(head)), usual)
            if before and usual and is_telling(before + usual):
                return before + usual
        rest = without_head(parts, usual, "")
        named = usual + self.shown_name(form, tool)
        if rest and isinstance(rest[0], Slot) and rest[0].kind == "name":
            named += leading(rest[1:], spaces=False)
        return before + named

    def arguments(self, form: Form, tool: Tool) -> Node | None:
        """The arguments of a tool as a form writes them; None where no call can keep the tool's schema."""
        if (dialect := self._dialects.get(form)) is None:
            dialect = self._dialects[form] = dialect_of(form, self._never(form))
        key = (tool.name, form.content, dialect.name, form.delimiters, form.argument)
        if key not in self._arguments:
            self._arguments[key] = self._written(form, tool, dialect)
        return self._arguments[key]

    def _never(self, form: Form) -> tuple[str, ...]:
        """The marks that no value may have in it, as they would end the call.

        Where each value has marks of its own, neither may it have those that begin a call or an argument: whether they
        are quoted or meant can't be told.
        """
        parts = (*form.call, *form.end)
        at = next(at for at, part in enumerate(parts) if isinstance(part, Slot) and part.kind == "arguments")
        closing = [text.strip() for text in parts[at + 1 :] if isinstance(text, str)]
        closing = [text for text in (*self.closes, *closing) if is_telling(text)]
        if form.argument is None:
            return tuple(dict.fromkeys([*closing, *self.near[form].unquotable]))
        marks = [
            *self.heads,
            *self.near[form].unquotable,
            leading(form.opening, spaces=False),
            leading(form.argument.parts, spaces=False),
        ]
        behind = usual_text(form.argument.behind).strip()
        shortest = dict.fromkeys([*([behind] if behind else []), *filter(is_telling, marks), *closing])
        return tuple(mark for mark in shortest if not any(mark != other and other in mark for other in shortest))

    def _written(self, form: Form, tool: Tool, dialect: Json) -> Node | None:
        writer = SchemaWriter(
            self.rules, dialect, tool.schema, self.any_order, self.open_objects, name=f"{tool.name}-{form.content}"
        )
        schema = {} if tool.schema is None else tool.schema
        if form.argument is not None:
            form_of_argument = ArgumentForm.of(form.argument, self._never(form))
            node = arguments_node(writer, form_of_argument, schema, tool.name)
        elif form.content == "python":
            assert isinstance(dialect, Python)
            node = _keywords(writer, dialect, schema, tool.name)
        elif not schema or schema is True:
            node = writer.any_object()
        else:
            node = writer.value(_object_schema(schema), tool.name)
        return None if node is None else self.rules.define(f"{tool.name}-arguments", node)


def _object_schema(schema: Any) -> Any:
    """A schema of arguments, which are an object even where it doesn't say so."""
    if isinstance(schema, dict) and not {"type", "$ref", "anyOf", "oneOf", "allOf"} & schema.keys():
        return {**schema, "type": "object"}
    return schema


def _keywords(writer: SchemaWriter, dialect: Python, schema: Any, where: str) -> Node | None:
    """Keyword arguments."""
    found = writer.members(writer.whole(schema, where), where)
    if found is None:
        return None
    named, other = found
    members: list[Member] = []
    for key, node, required in named:
        written = dialect.argument(key)
        if written is None:
            if required:
                return None
            writer.rules.relax(f"{where}/properties/{key}", "properties", "the format can't write this name")
            continue
        members.append(Member(sequence(written, node), required))
    extra = None if other is None else sequence(dialect.other_argument([key for key, _, _ in named]), other)
    return writer.arranged(members, sequence(",", optional(Text(" "))), extra, where, once=True)


def dialect_of(form: Form, marks: tuple[str, ...] = ()) -> Json:
    """How a form writes values, with marks that are in none of them."""
    if form.content == "python":
        return Python(marks)
    if form.delimiters is not None or form.bare_keys:
        return Gemma(form.delimiters, bare_keys=form.bare_keys, marks=marks)
    return Json(marks)
