"""A whole generation as nodes: reasoning, text, calls, or an answer in JSON.

In: a template, its forms of calls, and what was asked. Out: a ``Plan``: the node of the whole generation, and its parts
for targets with triggers of their own (what begins a call, what follows it).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from streamparse.grammar.calls import CallWriter, Tool, Trigger
from streamparse.grammar.derived import delimiter_ways
from streamparse.grammar.dialects import WHITE_SPACE, WHITE_SPACE_RULE, Json
from streamparse.grammar.errors import GrammarError
from streamparse.grammar.forms import Form, usual_text
from streamparse.grammar.marks import (
    CONTENT_FIELD,
    around,
    closing_heads,
    delimiters,
    heads,
    is_telling,
    leading,
    reasoning_field,
    reserved_names,
    turn_ends,
)
from streamparse.grammar.nodes import (
    EMPTY,
    OTHER_CALLS,
    FreeText,
    Node,
    Repeat,
    Rules,
    Text,
    choice,
    optional,
    sequence,
)
from streamparse.grammar.probing import Surroundings, forms_of
from streamparse.grammar.schemas import SchemaWriter
from streamparse.template.model import ResponseTemplate


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked of a grammar, checked."""

    tools: tuple[Tool, ...]
    choice: str
    parallel: bool
    reasoning: str
    response_schema: Any
    has_response_format: bool
    any_order: bool
    open_objects: bool
    prompt_tail: str = ""


@dataclass(slots=True)
class Plan:
    """A generation in parts: ``whole`` is all of it.

    ``reasoning`` is what may come first, ``calls`` the calls where they are required, ``triggers`` what begins a
    section in text and what follows it, ``triggered`` all from the first trigger on, where calls are
    optional, and ``never`` what text may not have in it besides.
    """

    rules: Rules
    whole: Node
    reasoning: Node
    calls: Node | None = None
    answer: Node | None = None
    triggers: list[Trigger] = field(default_factory=list)
    triggered: Node | None = None
    never: list[str] = field(default_factory=list)
    writer: CallWriter | None = None
    forms: dict[Form, Surroundings] = field(default_factory=dict)


def plan(template: ResponseTemplate, request: Request) -> Plan:
    """Lay out a generation; raises GrammarError where the template's calls can't be written."""
    rules = Rules()
    rules.once(WHITE_SPACE_RULE.name, WHITE_SPACE)
    reasoning = reasoning_node(template, request.reasoning, ())
    answer = answer_node(template, rules, request) if request.has_response_format else None
    if request.choice == "none" or not request.tools:
        text = _text_without_calls(template) if answer is None else answer
        return Plan(rules, sequence(reasoning, text), reasoning, answer=answer)
    name = calls_field(template)
    known = dict(forms_of(template, name))
    forms = list(known)
    if not forms:
        raise GrammarError(f"no way is known to write the calls of {name!r} so that the template's parser reads them")
    writer = CallWriter(
        rules,
        request.tools,
        request.parallel,
        request.any_order,
        request.open_objects,
        turn_ends(template),
        known,
        heads(template, name),
        closing_heads(template, name),
        reserved_names(template, name),
    )
    sections = [(form, found) for form in forms if (found := writer.section(form)) is not None]
    if not sections:
        names = ", ".join(repr(tool.name) for tool in request.tools)
        raise GrammarError(f"the format can't write a call of {names}: a name, a key or a schema has no spelling in it")
    _check_all_callable(writer, forms, request.tools)
    reasoning = reasoning_node(template, request.reasoning, heads(template, name))
    forms = [form for form, _ in sections]
    first, later = (
        rules.define(
            "calls",
            choice(_run(template, name, form, known[form], found, request, begins=begins) for form, found in sections),
        )
        for begins in (True, False)
    )
    if answer is not None and any(_is_bare(form, writer.heads) for form in forms):
        raise GrammarError("the format's calls are JSON without a mark: an answer in JSON can't be told from a call")
    result = Plan(
        rules, EMPTY, reasoning, calls=first, answer=answer, writer=writer, forms={f: known[f] for f in forms}
    )
    if request.choice != "auto":
        result.whole = _after_reasoning(reasoning, first, later)
    elif answer is not None:
        result.whole = choice([sequence(reasoning, answer), _after_reasoning(reasoning, first, later)])
    else:
        _in_text(result, template, name, request)
    return result


def _after_reasoning(reasoning: Node, first: Node, later: Node) -> Node:
    """Calls behind reasoning, or without it at the beginning of an answer."""
    if reasoning == EMPTY:
        return first
    if isinstance(reasoning, Repeat):
        return choice([first, sequence(reasoning.body, later)])
    return sequence(reasoning, later)


def _check_all_callable(writer: CallWriter, forms: Sequence[Form], tools: Sequence[Tool]) -> None:
    for tool in tools:
        if not any(tool in writer.callable_in(form) for form in forms):
            raise GrammarError(
                f"the format can't write a call of {tool.name!r}: its name or schema has no spelling in it"
            )


def _run(
    template: ResponseTemplate,
    name: str,
    form: Form,
    near: Surroundings,
    section: tuple[Node, Node | None],
    request: Request,
    *,
    begins: bool,
) -> Node:
    """One section, or several where a section has one call; with the marks that may stand around them."""
    closed, unclosed = section
    mark = _marks(template, name)
    prompted = Text(form.prompted) if near.needs_prompted else optional(Text(form.prompted))
    gap = prompted if form.prompted else WHITE_SPACE_RULE
    start = optional(Text(form.prompted)) if form.prompted and begins else gap
    last = closed if unclosed is None else choice([closed, unclosed])
    before: Node = EMPTY
    if form.between is None and request.parallel and near.further:
        before = Repeat(sequence(closed, gap), 0, None)
    return sequence(start, mark, before, last, WHITE_SPACE_RULE, mark)


def _marks(template: ResponseTemplate, name: str) -> Node:
    """A mark that may stand around calls where the template doesn't say how they are written."""
    marks = [] if template.fields[name].policy.written else around(template, name)
    return optional(sequence(choice(map(Text, marks)), WHITE_SPACE_RULE)) if marks else EMPTY


def _in_text(result: Plan, template: ResponseTemplate, name: str, request: Request) -> None:
    """Calls wherever the model chooses: text up to a trigger, a section, and so on."""
    assert result.writer is not None
    triggers = [trigger for form in result.forms for trigger in result.writer.triggers(form)]
    triggers = [trigger for trigger in triggers if _is_first(trigger, triggers)]
    texts = list(dict.fromkeys(trigger.text for trigger in triggers))
    misread = [begin for near in result.forms.values() for begin in near.misread]
    never = [head for head in (*heads(template, name), *misread) if not any(head in text for text in texts)]
    result.triggers, result.never = triggers, never
    if not _rules_out_calls(template, name, (*texts, *never)):
        result.rules.relaxed[OTHER_CALLS] = None

    def up_to(trigger: Trigger) -> Node:
        return FreeText(trigger.text, tuple(text for text in (*texts, *never) if text not in trigger.text))

    begins = [leading(way, spaces=False) for way in delimiter_ways(template, name, "open")]
    short = [text for text in begins if len(text) > 4 and not is_telling(text)]
    tail: Node = FreeText("", tuple(dict.fromkeys((*texts, *never, *short))))
    more: list[tuple[Trigger, Node]] = []
    last: list[tuple[Trigger, Node]] = []
    for trigger in triggers:
        near = result.forms[trigger.form]
        rest = result.rules.define("behind", trigger.rest)
        if near.text_behind and near.text_before and request.parallel:
            more.append((trigger, rest))
        elif near.text_behind:
            last.append((trigger, sequence(rest, tail)))
        else:
            further = _only_calls(result, trigger.form, request)
            last.append((trigger, sequence(rest, further, WHITE_SPACE_RULE, _marks(template, name))))
        if trigger.unclosed is not None:
            last.append((trigger, trigger.unclosed))
    talk = Repeat(choice(sequence(up_to(each), rest) for each, rest in more), 0, None) if more else EMPTY
    end = choice([*(sequence(up_to(each), rest) for each, rest in last), tail])
    bare = _bare_start(result)
    result.whole = sequence(result.reasoning, EMPTY if bare is None else optional(bare), talk, end)
    result.triggered = choice(
        [
            *(sequence(trigger.text, rest, talk, end) for trigger, rest in more),
            *(sequence(trigger.text, rest) for trigger, rest in last),
        ]
    )


def _rules_out_calls(template: ResponseTemplate, name: str, kept_out: Sequence[str]) -> bool:
    """Whether text without these texts has no begin of a call in any of the template's spellings."""
    begins = [leading(way, spaces=False) for way in delimiter_ways(template, name, "open")]
    return all(any(text in begin for text in kept_out) for begin in begins)


def _only_calls(result: Plan, form: Form, request: Request) -> Node:
    """Further sections of a form that no text may follow."""
    assert result.writer is not None
    if form.between is not None or not request.parallel or not result.forms[form].further:
        return EMPTY
    found = result.writer.section(form)
    return EMPTY if found is None else Repeat(sequence(WHITE_SPACE_RULE, found[0]), 0, None)


def _is_first(trigger: Trigger, triggers: Sequence[Trigger]) -> bool:
    """Whether no other trigger is found within this one, before it is whole."""
    return not any(other.text != trigger.text and other.text in trigger.text for other in triggers)


def _bare_start(result: Plan) -> Node | None:
    """A section at the very start without the text that the prompt has written already."""
    assert result.writer is not None
    branches = []
    for form in result.forms:
        if result.forms[form].needs_prompted:
            found = result.writer.section(form)
            branches += [] if found is None else [found[0]]
    return choice(branches) if branches else None


def calls_field(template: ResponseTemplate) -> str:
    """The field whose regions are calls; raises GrammarError where none is."""
    for name, candidate in template.fields.items():
        if candidate.policy.calls is not None and candidate.open is not None:
            return name
        transform = candidate.transform
        if isinstance(transform, dict) and "function" in transform:
            return name
    if "tool_calls" in template.fields:
        return "tool_calls"
    raise GrammarError("the template has no field for tool calls: no transform of it makes a function")


def reasoning_node(template: ResponseTemplate, wanted: str, without: Sequence[str]) -> Node:
    """The reasoning that comes first: ``may``, ``must`` or ``none`` of it, or ``opened`` by the prompt.

    It has none of ``without`` in it: whether a call that begins in reasoning is a draft shows at its end only.
    """
    name = reasoning_field(template)
    if name is None or wanted == "none":
        return EMPTY
    opens, closes = delimiters(template, name)
    if not closes or (not opens and wanted != "opened"):
        return EMPTY
    texts = [FreeText(close, tuple(other for other in (*closes, *without) if other not in close)) for close in closes]
    thought = choice(texts)
    if wanted == "opened":
        return sequence(thought, WHITE_SPACE_RULE)
    whole = sequence(WHITE_SPACE_RULE, choice(map(Text, opens)), thought, WHITE_SPACE_RULE)
    return whole if wanted == "must" else optional(whole)


def _text_without_calls(template: ResponseTemplate) -> Node:
    try:
        name = calls_field(template)
    except GrammarError:
        return FreeText("")
    return FreeText("", tuple(heads(template, name)))


def _is_bare(form: Form, marks: Sequence[str]) -> bool:
    """Whether calls begin as any JSON does, with none of the marks."""
    text = usual_text((*form.begin, *form.call))
    return text.startswith(("{", "[")) and not text.startswith(tuple(marks))


def _marks_in_answer(template: ResponseTemplate) -> tuple[str, ...]:
    """What begins calls, and what opens or closes reasoning and content."""
    found = list(turn_ends(template))
    with suppress(GrammarError):
        found += heads(template, calls_field(template))
    if (name := reasoning_field(template)) is not None:
        found += [text for texts in delimiters(template, name) for text in texts]
    return tuple(dict.fromkeys(text.strip() for text in found if is_telling(text.strip())))


def answer_node(template: ResponseTemplate, rules: Rules, request: Request) -> Node:
    """An answer in JSON, in the field for content; no string in it has a text that the parser takes for a mark."""
    writer = SchemaWriter(
        rules,
        Json(_marks_in_answer(template)),
        request.response_schema,
        request.any_order,
        request.open_objects,
        name="answer",
    )
    value = writer.value(request.response_schema, "response_format")
    if value is None:
        raise GrammarError("no value fits the schema of response_format")
    opens: list[str] = []
    closes: list[str] = []
    if CONTENT_FIELD in template.fields and template.fields[CONTENT_FIELD] is not template.implicit:
        opens, closes = delimiters(template, CONTENT_FIELD)
    begin = Text(opens[0]) if opens else EMPTY
    end = optional(Text(closes[0])) if closes else EMPTY
    return rules.define("answer", sequence(WHITE_SPACE_RULE, begin, WHITE_SPACE_RULE, value, WHITE_SPACE_RULE, end))
