r"""The literal texts that a close delimiter is made of: what a model writes of it when it does not write all of it.

In comes a field's close delimiter. Out come texts such as ``</function>`` and ``</tool_call>``, each of which says that
the body before it is over, where the structure of the body allows that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from streamparse.matching.delimiter import Delimiter
from streamparse.matching.syntax import Alternatives, Chars, Group, Node, Repeat, Sequence
from streamparse.template.model import Field

MARK = re.compile(r"[<\[◁][^\s]+[>\]▷]")
"""What stands between brackets is a mark; other literals, such as a line break or a word, say too little."""


def has_tags(field: Field) -> bool:
    """Whether a region of the field may be read as tags, whose end only what follows them tells."""
    return "xml-inline" in (field.content, *(reading.content for reading in field.policy.alternatives))


@lru_cache(256)
def terminators_of(close: Delimiter | None) -> tuple[str, ...]:
    r"""The literals of a close delimiter, but those that go on where a shorter one ends.

    >>> terminators_of(Delimiter.of_pattern(r"</function>(?:\s*</tool_call>)?\s*"))
    ('</function>', '</tool_call>')
    """
    found: list[str] = []
    for text in sorted(marks_of(close), key=len) if close is not None else ():
        if not any(text.startswith(shorter) for shorter in found):
            found.append(text)
    return tuple(sorted(found))


def marks_of(delimiter: Delimiter) -> set[str]:
    r"""The marks that a delimiter is made of, without the blanks around them.

    >>> sorted(marks_of(Delimiter.of_literals(["<think>\n", "<think>", "Here is my thought:"])))
    ['<think>']
    """
    texts = () if delimiter.tree is None else _literals(delimiter.tree)
    return {text.strip() for text in texts if MARK.fullmatch(text.strip())}


def _literals(node: Node) -> Iterator[str]:
    """The longest runs of literal characters in a pattern."""
    match node:
        case Sequence(items):
            run = ""
            for item in items:
                if isinstance(item, Chars) and item.literal is not None:
                    run += item.literal
                    continue
                yield run
                run = ""
                yield from _literals(item)
            yield run
        case Alternatives(branches):
            for branch in branches:
                yield from _literals(branch)
        case Group(body) | Repeat(body):
            yield from _literals(body)
        case Chars(literal=str() as literal):
            yield literal
