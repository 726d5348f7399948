"""Structural tags, the grammars of xgrammar, which vLLM, SGLang and TensorRT-LLM take.

In: a plan of a generation. Out: the tag as JSON data, and what it leaves out. Arguments in standard JSON are left to
xgrammar's own reading of their schema; everything else is written as EBNF within the tag. White space around arguments
is as the family usually writes it. (https://xgrammar.mlc.ai/docs/tutorials/structural_tag.html)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamparse.grammar.calls import Tool, Trigger, dialect_of
from streamparse.grammar.conversation import Plan, Request
from streamparse.grammar.forms import Form, Slot, usual_text
from streamparse.grammar.gbnf import gbnf
from streamparse.grammar.marks import delimiters, reasoning_field
from streamparse.grammar.nodes import FreeText, Node, Relaxation
from streamparse.template.model import ResponseTemplate

Format = dict[str, Any]


class StructuralTagWriter:
    """Writes one structural tag; ``relaxed`` is what it leaves out."""

    def __init__(self, template: ResponseTemplate, plan: Plan, request: Request) -> None:
        self._template = template
        self._plan = plan
        self._request = request
        self.relaxed: list[Relaxation] = []

    def tag(self) -> Format:
        """The whole structural tag."""
        elements = [*self._reasoning(), self._body()]
        whole = elements[0] if len(elements) == 1 else {"type": "sequence", "elements": elements}
        return {"type": "structural_tag", "format": whole}

    def _body(self) -> Format:
        plan, request = self._plan, self._request
        if plan.calls is None:
            if plan.answer is not None:
                return self._answer()
            tail = plan.whole.items[-1] if hasattr(plan.whole, "items") else plan.whole
            never = tail.without if isinstance(tail, FreeText) else ()
            return {"type": "any_text", "excludes": list(never)}
        if request.choice != "auto":
            return any_of([self._section(form) for form in plan.forms])
        if plan.answer is not None:
            return any_of([self._answer(), *(self._section(form) for form in plan.forms)])
        return self._triggered()

    def _answer(self) -> Format:
        """JSON by the schema; beside calls its strings may not have the marks of one in them."""
        if self._plan.calls is not None and self._plan.answer is not None:
            return self._ebnf(self._plan.answer)
        return {"type": "json_schema", "json_schema": self._request.response_schema}

    def _reasoning(self) -> list[Format]:
        wanted = self._request.reasoning
        name = reasoning_field(self._template)
        if name is None or wanted == "none":
            return []
        opens, closes = delimiters(self._template, name)
        if not closes or (not opens and wanted != "opened"):
            return []
        if wanted == "opened":
            return [{"type": "tag", "begin": "", "content": {"type": "any_text"}, "end": closes}]
        tags = [{"type": "tag", "begin": begin, "content": {"type": "any_text"}, "end": closes} for begin in opens]
        whole = any_of([*tags])
        return [whole] if wanted == "must" else [{"type": "optional", "content": whole}]

    def _section(self, form: Form) -> Format:
        """A section as it is where calls are required."""
        tags = self._calls(form)
        one = form.between is None
        separator = usual_text(form.end) if one else usual_text(form.between or ())
        calls = {
            "type": "tags_with_separator",
            "tags": tags,
            "separator": separator + (form.prompted if one else ""),
            "at_least_one": True,
            "stop_after_first": not self._request.parallel,
        }
        begin, end = usual_text(form.begin), usual_text(form.end)
        optional_end: Format = constant(end)
        if end and end in self._ends_turn():
            optional_end = {"type": "optional", "content": constant(end)}
        return in_order([*([constant(begin)] if begin else []), calls, *([optional_end] if end else [])])

    def _ends_turn(self) -> Sequence[str]:
        return self._plan.writer.ends_turn if self._plan.writer is not None else ()

    def _calls(self, form: Form) -> list[Format]:
        """A tag for each tool's call, from its begin to behind its arguments."""
        assert self._plan.writer is not None
        tags = []
        for tool in self._plan.writer.callable_in(form):
            at = next(at for at, part in enumerate(form.call) if isinstance(part, Slot) and part.kind == "arguments")
            before, behind = form.call[:at], form.call[at + 1 :]
            for part in before:
                if isinstance(part, Slot) and part.kind not in ("name",):
                    return [self._grammar_tag(form, tool) for tool in self._plan.writer.callable_in(form)]
            begin = usual_text(before, name=self._plan.writer.shown_name(form, tool))
            end = usual_text(behind)
            tags.append({"type": "tag", "begin": begin, "content": self._arguments(form, tool), "end": end})
        return tags

    def _grammar_tag(self, form: Form, tool: Tool) -> Format:
        """A call with ids in it, all as EBNF but for the text that it begins with."""
        assert self._plan.writer is not None
        begin, node = self._plan.writer.behind_head(form, tool)
        return {"type": "tag", "begin": begin, "content": self._ebnf(node), "end": ""}

    def _arguments(self, form: Form, tool: Tool) -> Format:
        assert self._plan.writer is not None
        if form.content == "json" and dialect_of(form).kind == "json":
            schema = {"type": "object"} if tool.schema is None else tool.schema
            written = {"type": "json_schema", "json_schema": schema}
            return written | ({"any_order": True} if self._request.any_order else {})
        node = self._plan.writer.arguments(form, tool)
        assert node is not None
        return self._ebnf(node)

    def _ebnf(self, node: Node) -> Format:
        text, relaxed = gbnf(self._plan.rules.nodes, node)
        self.relaxed += relaxed
        return {"type": "grammar", "grammar": text}

    def _triggered(self) -> Format:
        """Calls wherever a trigger stands in text."""
        tags: list[Format] = []
        texts = list(dict.fromkeys(trigger.text for trigger in self._plan.triggers))
        for trigger in self._plan.triggers:
            tags += self._tags_behind(trigger)
        return {
            "type": "triggered_tags",
            "triggers": texts,
            "tags": tags,
            "stop_after_first": not self._request.parallel,
            "excludes": list(dict.fromkeys(self._plan.never)),
        }

    def _tags_behind(self, trigger: Trigger) -> list[Format]:
        form = trigger.form
        begin = usual_text(form.begin)
        if begin.startswith(trigger.text):
            calls = {
                "type": "tags_with_separator",
                "tags": self._calls(form),
                "separator": usual_text(form.between or ()),
                "at_least_one": True,
                "stop_after_first": not self._request.parallel or form.between is None,
            }
            return [{"type": "tag", "begin": begin, "content": calls, "end": usual_text(form.end)}]
        if not begin and not form.end:
            found = [tag for tag in self._calls(form) if tag["begin"].startswith(trigger.text)]
            if found:
                return found
        return [{"type": "tag", "begin": trigger.text, "content": self._ebnf(trigger.rest), "end": ""}]


def structural_tag(template: ResponseTemplate, plan: Plan, request: Request) -> tuple[Format, list[Relaxation]]:
    """Write a structural tag."""
    writer = StructuralTagWriter(template, plan, request)
    return writer.tag(), list(dict.fromkeys(writer.relaxed))


def constant(text: str) -> Format:
    """A fixed text."""
    return {"type": "const_string", "value": text}


def in_order(elements: list[Format]) -> Format:
    """The elements one after the other."""
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": elements}


def any_of(elements: list[Format]) -> Format:
    """Any of the elements."""
    return elements[0] if len(elements) == 1 else {"type": "or", "elements": elements}
