"""``to_grammar``: from a template and tools to a grammar that lets a model write only what the template reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import regex

from streamparse.errors import ArgumentError, StreamparseError
from streamparse.grammar.calls import Tool
from streamparse.grammar.conversation import Plan, Request, plan
from streamparse.grammar.forms import usual_text
from streamparse.grammar.gbnf import gbnf
from streamparse.grammar.lark import lark
from streamparse.grammar.marks import delimiters, reasoning_field
from streamparse.grammar.nodes import Relaxation
from streamparse.grammar.structural_tag import structural_tag
from streamparse.parser import ResponseParser
from streamparse.stages.schema_typing import described
from streamparse.template import TemplateSource, load_response_template
from streamparse.template.model import ResponseTemplate

Target = Literal["gbnf", "structural_tag", "lark"]
Reasoning = Literal["may", "must", "none", "opened"]

TARGETS: tuple[Target, ...] = ("gbnf", "structural_tag", "lark")
"""What a grammar can be written for."""

_SPECIAL = regex.compile(r"<[^<>\s]+>|\[/?[A-Z_]{2,}\]|◁[^▷\s]+▷")


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar for one engine.

    ``text`` is what the engine takes (JSON for structural tags), ``value`` the same as data where it is data.

    ``triggers`` are the texts that begin a call. With ``lazy`` the grammar holds from the first of them on, that text
    included, and what a model writes before is its own choice; without it, from the first character on.

    ``preserved_tokens`` are the texts of the grammar that may be special tokens, which an engine must not leave out.
    ``relaxed`` is what the grammar doesn't keep of what was asked.
    """

    target: Target
    text: str
    value: dict[str, Any] | None
    lazy: bool
    triggers: tuple[str, ...]
    preserved_tokens: tuple[str, ...]
    relaxed: tuple[Relaxation, ...]


def to_grammar(
    template: TemplateSource,
    tools: Any = None,
    *,
    target: Target = "gbnf",
    tool_choice: Any = "auto",
    parallel: bool = True,
    strict: bool | None = None,
    reasoning: Reasoning | None = None,
    response_format: Any = None,
    prefix: str | None = None,
    any_order: bool = False,
    open_objects: bool = False,
) -> Grammar:
    """Write the grammar of what a model may answer so that the template reads it.

    ``template`` and ``tools`` are those of the parser. ``target`` is ``"gbnf"`` (llama.cpp), ``"structural_tag"``
    (xgrammar: vLLM, SGLang, TensorRT-LLM) or ``"lark"`` (llguidance).

    ``tool_choice`` is OpenAI's: ``"auto"`` (text, and calls where the model wants any), ``"required"``, ``"none"``, or
    a tool, by its name or as ``{"type": "function", "function": {"name": …}}``. ``parallel=False`` allows one call.

    ``strict`` says whose arguments follow their schema: all tools' (True), none's (False), or those of all tools that
    don't say ``"strict": false`` themselves (None). The arguments of the others are any object.

    ``reasoning`` is what comes first: ``"may"``, ``"must"`` or ``"none"`` of it, or ``"opened"`` where the prompt opens
    it. By default it may, or what ``prefix``, the prompt, says.

    ``response_format`` (OpenAI's, or a JSON schema) is for an answer in JSON, in place of calls or beside them.

    Members of an object stand in the order of the schema, or with ``any_order`` in any. An object whose schema lists
    ``properties`` has no others, unless ``additionalProperties`` or ``open_objects`` say that it may.

    Raises GrammarError where the format can't write a call of a tool, ArgumentError for arguments of a wrong kind, and
    TemplateError for a faulty template.

    >>> grammar = to_grammar("qwen3", [{"name": "now"}], tool_choice="required", reasoning="none")
    >>> print(grammar.text.splitlines()[0])
    root ::= calls
    >>> grammar.relaxed
    ()
    """
    if target not in TARGETS:
        raise ArgumentError(f"target must be one of {', '.join(TARGETS)}, not {target!r}")
    loaded = load_response_template(template)
    request = _request(
        loaded, tools, tool_choice, parallel, strict, reasoning, response_format, prefix, any_order, open_objects
    )
    layout = plan(loaded, request)
    lazy = False
    value: dict[str, Any] | None = None
    relaxed: list[Relaxation] = []
    if target == "gbnf":
        lazy = layout.triggered is not None
        text, relaxed = gbnf(layout.rules.nodes, layout.whole if layout.triggered is None else layout.triggered)
    elif target == "lark":
        text = lark(layout.rules.nodes, layout.whole)
    else:
        value, relaxed = structural_tag(loaded, layout, request)
        text = json.dumps(value, ensure_ascii=False)
    return Grammar(
        target,
        text,
        value,
        lazy,
        tuple(dict.fromkeys(trigger.text for trigger in layout.triggers)),
        tuple(_preserved(loaded, layout)),
        tuple(dict.fromkeys([*layout.rules.relaxed, *relaxed])),
    )


def _request(
    template: ResponseTemplate,
    tools: Any,
    tool_choice: Any,
    parallel: bool,
    strict: bool | None,
    reasoning: str | None,
    response_format: Any,
    prefix: str | None,
    any_order: bool,
    open_objects: bool,
) -> Request:
    offered = tuple(_tools(tools, strict))
    chosen = _choice(tool_choice)
    if chosen not in ("auto", "required", "none"):
        named = tuple(tool for tool in offered if tool.name == chosen)
        if not named:
            names = ", ".join(repr(tool.name) for tool in offered) or "none"
            raise ArgumentError(f"tool_choice names {chosen!r}, and the tools are {names}")
        offered, chosen, parallel = named, "required", False
    if chosen == "required" and not offered:
        raise ArgumentError("tool_choice asks for a call, and there are no tools")
    if reasoning is None:
        reasoning = "may" if prefix is None else _reasoning_after(template, prefix)
    if reasoning not in ("may", "must", "none", "opened"):
        raise ArgumentError(f"reasoning must be may, must, none or opened, not {reasoning!r}")
    schema, has_format = _response_schema(response_format)
    return Request(offered, chosen, parallel, reasoning, schema, has_format, any_order, open_objects)


def _tools(tools: Any, strict: bool | None) -> Iterator[Tool]:
    for tool in tools or ():
        function = described(tool)
        if function is None:
            continue
        schema = function.get("parameters") or function.get("input_schema")
        flag = function.get("strict", tool.get("strict") if isinstance(tool, Mapping) else None)
        free = flag is False if strict is None else not strict
        yield Tool(function["name"], None if free or not isinstance(schema, dict) else schema)


def _choice(tool_choice: Any) -> str:
    if isinstance(tool_choice, Mapping):
        function = tool_choice.get("function", tool_choice)
        name = function.get("name") if isinstance(function, Mapping) else None
        if isinstance(name, str):
            return name
    if tool_choice is None:
        return "auto"
    if not isinstance(tool_choice, str):
        raise ArgumentError(f"tool_choice must be auto, required, none or a tool, not {tool_choice!r}")
    return "required" if tool_choice == "any" else tool_choice


def _response_schema(response_format: Any) -> tuple[Any, bool]:
    """The schema of an answer, and whether one was asked for."""
    if response_format is None:
        return None, False
    if not isinstance(response_format, Mapping):
        raise ArgumentError(f"response_format must be an object, not {type(response_format).__name__}")
    kind = response_format.get("type")
    if kind == "text":
        return None, False
    if kind == "json_object":
        return {"type": "object"}, True
    if kind == "json_schema" and isinstance(inner := response_format.get("json_schema"), Mapping):
        return inner.get("schema", {}), True
    return dict(response_format), True


def _reasoning_after(template: ResponseTemplate, prefix: str) -> str:
    """What reasoning can follow a prompt: the rest of one that it opened, none where it closed one, or some."""
    name = reasoning_field(template)
    if name is None:
        return "none"
    open_, seen = None, False
    try:
        parser = ResponseParser(template, prefix)
        events = [*parser.initial_events, *parser.feed("x")]  # by which a delimiter at the prompt's end is whole
    except StreamparseError:
        return "may"
    for event in events:
        if event["type"] == "region_open":
            open_, seen = event["field"], seen or event["field"] == name
        elif event["type"] == "region_close":
            open_ = None
    if open_ == name and template.fields[name] is not template.implicit:
        return "opened"
    return "none" if seen else "may"


def _preserved(template: ResponseTemplate, layout: Plan) -> Iterator[str]:
    """The texts that may be special tokens: marks of forms, and what opens and closes reasoning."""
    texts: list[str] = []
    for form in layout.forms:
        texts += [form.prompted, usual_text(form.begin), usual_text(form.call), usual_text(form.end)]
        texts += [] if form.argument is None else [usual_text(form.argument.parts)]
        texts += form.delimiters or ()
    if (name := reasoning_field(template)) is not None:
        opens, closes = delimiters(template, name)
        texts += [*opens, *closes]
    seen: dict[str, None] = {}
    for text in texts:
        seen.update(dict.fromkeys(_SPECIAL.findall(text)))
    yield from seen
