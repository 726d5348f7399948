"""The literal texts in a template's delimiters, and which of them are marks that can hardly be prose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from streamparse.matching.delimiter import Delimiter
from streamparse.matching.syntax import Chars, Node, walk
from streamparse.matching.syntax import Sequence as Run
from streamparse.template.model import ResponseTemplate


def marks_of(template: ResponseTemplate) -> frozenset[str]:
    """All marks in the delimiters of a template.

    >>> from streamparse import get_response_template
    >>> sorted(marks_of(get_response_template("jamba")))[:2]
    ['</tool_calls>', '<tool_calls>']
    """
    delimiters = [end for field in template.fields.values() for end in (field.open, field.close)]
    parts = {part for delimiter in (template.start_anchor, *delimiters) for part in literal_parts(delimiter)}
    return frozenset(part for part in parts if part and is_markup(part))


def literal_parts(delimiter: Delimiter | None) -> Iterator[str]:
    """The runs of literal characters in a delimiter."""
    if delimiter is None or delimiter.tree is None:
        return
    for node in walk(delimiter.tree):
        if isinstance(node, Run):
            yield from _runs(node.items)


def _runs(nodes: Iterable[Node]) -> Iterator[str]:
    run = ""
    for node in nodes:
        if isinstance(node, Chars) and node.literal is not None:
            run += node.literal
        else:
            yield run.strip()
            run = ""
    yield run.strip()


def is_markup(part: str) -> bool:
    """Whether a part is a mark by itself: it begins with a bracket, or ends with one, and has letters.

    >>> [part for part in ("<think>", "functools[", '{"', "json", "[") if is_markup(part)]
    ['<think>', 'functools[']
    """
    brackets = "<>[]"
    return any(map(str.isalpha, part)) and (part[0] in brackets or part[-1] in brackets)
