"""The fixed texts of a template: what opens and closes its fields, and which of them other text hardly has.

In: a template and the name of a field. Out: texts, as the family usually writes them.
"""

from __future__ import annotations

from streamparse.grammar.derived import delimiter_ways
from streamparse.grammar.forms import Maybe, Parts, Slot, Space, usual_text, written_form
from streamparse.template.model import ResponseTemplate

REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
CONTENT_FIELD = "content"


def reasoning_field(template: ResponseTemplate) -> str | None:
    """The field for reasoning; None where there is none."""
    return next((name for name in REASONING_FIELDS if name in template.fields), None)


def reasoning_marks(template: ResponseTemplate) -> list[str]:
    """The text that opens reasoning and the one that closes it; none where it has not both."""
    name = reasoning_field(template)
    if name is None:
        return []
    opens, closes = delimiters(template, name)
    return [opens[0], closes[0]] if opens and closes else []


def delimiters(template: ResponseTemplate, name: str) -> tuple[list[str], list[str]]:
    """The texts that open and close a field's regions, as they are usually written, the usual one first."""
    source = template.fields[name]
    if source.policy.written:
        forms = [written_form(raw, {}) for raw in source.policy.written]
        return [usual_text(form.begin) for form in forms], [usual_text(form.end) for form in forms]
    opens = [usual_text(way) for way in delimiter_ways(template, name, "open") if _is_fixed(way)]
    closes = [
        usual_text(way).rstrip() or usual_text(way) for way in delimiter_ways(template, name, "close") if _is_fixed(way)
    ]
    shortest = [text for text in opens if not any(text != other and text.startswith(other) for other in opens)]
    return list(dict.fromkeys(filter(None, shortest))), list(dict.fromkeys(filter(None, closes)))


def _is_fixed(way: Parts) -> bool:
    return not any(isinstance(part, Slot) for part in way)


def heads(template: ResponseTemplate, name: str) -> list[str]:
    """The telling texts that a field's regions begin with, in any way; text that has one may be a call."""
    found = [leading(way, spaces=False) for way in delimiter_ways(template, name, "open")]
    others = [
        usual_text(way) for other in template.fields if other != name for side in ("open", "close")
        for way in delimiter_ways(template, other, side)
    ]  # fmt: skip
    return [head for head in dict.fromkeys(found) if is_telling(head) and not any(head in other for other in others)]


def closing_heads(template: ResponseTemplate, name: str) -> list[str]:
    """The telling texts that a field's closes begin with."""
    found = [leading(way, spaces=False) for way in delimiter_ways(template, name, "close")]
    return [head for head in dict.fromkeys(found) if is_telling(head)]


def reserved_names(template: ResponseTemplate, name: str) -> list[str]:
    """The keys of a call's parts, which no call's name can be where the name is a key itself."""
    shape = template.fields[name].policy.calls
    if shape is None or not shape.by_key:
        return []
    return [path[0] for path in (*shape.name, *shape.arguments, *shape.id)]


def around(template: ResponseTemplate, name: str) -> list[str]:
    """The marks that may stand around calls: what closes content, but for what opens and closes other fields."""
    if template.implicit is None:
        return []
    own = delimiters(template, template.implicit.name)[1]
    others = [
        text for other in template.fields if other not in (name, template.implicit.name)
        for texts in delimiters(template, other) for text in texts
    ]  # fmt: skip
    begins = [leading(way, spaces=False) for way in delimiter_ways(template, name, "open")]
    begins = [begin for begin in begins if begin]
    return [
        text for text in own if text not in others and not any(b.startswith(text) or text.startswith(b) for b in begins)
    ]


def turn_ends(template: ResponseTemplate) -> list[str]:
    """The texts that end a turn: what closes content. Where one closes a call too, the generation's end is as good."""
    if CONTENT_FIELD not in template.fields:
        return []
    raw = template.source["fields"][CONTENT_FIELD]
    literal = raw.get("close")
    found = [literal] if isinstance(literal, str) else list(literal or ())
    found += [usual_text(way).rstrip() for way in delimiter_ways(template, CONTENT_FIELD, "close") if _is_fixed(way)]
    return list(dict.fromkeys(filter(None, found)))


def plain_start(parts: Parts) -> Parts:
    """The parts without what may be left out at their beginning."""
    while parts and isinstance(parts[0], Maybe | Space):
        parts = parts[1:]
    return parts


def leading(parts: Parts, *, spaces: bool) -> str:
    """The text that parts begin with, white space as usual in it or not."""
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
        elif isinstance(part, Space) and spaces:
            text += usual_text((part,))
        else:
            break
    return text


def is_telling(text: str) -> bool:
    """Whether a text is one that other text hardly has: long enough, with letters and with signs.

    >>> is_telling("<tool_call>"), is_telling(">>>"), is_telling("to")
    (True, False, False)
    """
    return len(text) >= 5 and any(map(str.isalpha, text)) and not text.replace("_", "").isalnum()
