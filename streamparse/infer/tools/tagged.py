"""Calls whose arguments stand in a tag each: ``<parameter=city>Paris</parameter>``, ``<key>…</key><value>…</value>``.

What teaches what: two arguments show what stands between them, and so where one ends and the next begins; a call
without arguments shows where the name ends; a number against a text shows whether texts are quoted and what an
attribute says; an awkward text shows optional wrappers (CDATA).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from streamparse.infer.compare import common_prefix, split_between
from streamparse.infer.conversation import FIRST, SECOND
from streamparse.infer.tools.json_values import island_with
from streamparse.infer.tools.named_call import Body, named_call
from streamparse.infer.tools.observe import AWKWARD_TEXT, NUMBER, Observed
from streamparse.infer.tools.reading import Reading, anything_but, flexible, quoted, varying

(KEY_ONE, VALUE_ONE), (KEY_TWO, VALUE_TWO) = FIRST.arguments.items()
(KEY_THREE, VALUE_THREE) = next(iter(SECOND.arguments.items()))


@dataclass(frozen=True)
class Argument:
    """The tags of one argument: before its key, between key and value, behind the value."""

    open: str
    middle: str
    close: str


def read_tagged(observed: Observed) -> Iterator[Reading]:
    """The reading of calls with one tag for each argument."""
    text = observed.one
    places = [text.find(word) for word in (FIRST.name, KEY_ONE, VALUE_ONE, KEY_TWO, VALUE_TWO)]
    if island_with(text, dict(FIRST.arguments)) is not None or places != sorted(places) or places[0] < 0:
        return
    name_end = text.rfind(FIRST.name, 0, places[1]) + len(FIRST.name)
    argument = _argument(text, name_end)
    if argument is None:
        return
    lead = text[name_end : places[1]]
    suffix = _name_suffix(observed, lead.removesuffix(argument.open))
    body = Body(name_end + len(suffix), text.find(VALUE_TWO) + len(VALUE_TWO))
    followers = [lead, _behind_bare_name(observed)]
    call = named_call(observed, body, _bodies(observed, len(suffix)), followers, argument_close=argument.close)
    if call is None:
        return
    arguments = {"tag_pattern": _tag_pattern(observed, argument), "value_parser": _value_parser(observed, argument)}
    markers = {
        "name suffix": suffix,
        "argument open": argument.open,
        "argument middle": argument.middle,
        "argument close": argument.close,
    }
    content = {"content": "xml-inline", "content_args": arguments}
    yield call.reading("name, then tagged arguments", content, markers)


def _argument(text: str, name_end: int) -> Argument | None:
    """The tags around one argument."""
    before_key = text[name_end : text.find(KEY_ONE)]
    middle = text[text.find(KEY_ONE) + len(KEY_ONE) : text.find(VALUE_ONE)]
    between = text[text.find(VALUE_ONE) + len(VALUE_ONE) : text.rfind(KEY_TWO, 0, text.find(VALUE_TWO))]
    after = text[text.find(VALUE_TWO) + len(VALUE_TWO) :]
    closing, separator, opening = split_between(between.replace(KEY_ONE, KEY_TWO), after, before_key)
    if not opening.strip() and not closing.strip():
        return None
    return Argument(opening if opening.strip() else separator + opening, middle, closing)


def _bodies(observed: Observed, suffix: int) -> tuple[Body, Body] | None:
    """The arguments of both calls in the turn that has two; ``suffix`` is how much of the name's end is no argument."""
    two = observed.two
    if two is None or min(two.find(VALUE_TWO), two.find(VALUE_THREE)) < 0:
        return None
    starts = [two.rfind(call.name, 0, two.find(next(iter(call.arguments)))) for call in (FIRST, SECOND)]
    ends = [two.find(value) + len(value) for value in (VALUE_TWO, VALUE_THREE)]
    if min(starts) < 0:
        return None
    names = (FIRST.name, SECOND.name)
    first, second = (Body(at + len(name) + suffix, end) for at, name, end in zip(starts, names, ends, strict=True))
    return first, second


def _behind_bare_name(observed: Observed) -> str:
    """What follows the name when there are no arguments."""
    bare = observed.bare or ""
    return bare[bare.rfind(FIRST.name) + len(FIRST.name) :] if FIRST.name in bare else ""


def _name_suffix(observed: Observed, suffix: str) -> str:
    """What belongs to the name itself: what follows it with and without arguments."""
    bare = _behind_bare_name(observed)
    return common_prefix([suffix, bare]) if bare else suffix


def _tag_pattern(observed: Observed, argument: Argument) -> str:
    """The pattern of one argument."""
    middle_of_number = _middle_of_number(observed, argument)
    key = f"(?P<key>{anything_but(argument.middle, middle_of_number)}+)"
    if _quotes_texts(observed, argument):
        argument = replace(argument, middle=argument.middle.removesuffix('"'), close=argument.close.removeprefix('"'))
    wrapped_open, wrapped_close = _wrapper(observed, argument)
    value = f"{wrapped_open}(?P<value>.*?){wrapped_close}"
    middle = _middle_pattern(argument.middle, middle_of_number)
    return f"{flexible(argument.open.lstrip())}{key}{middle}{value}{_close_pattern(argument.close)}"


def _middle_pattern(middle: str, other: str) -> str:
    """The text between key and value; one line break before the value is optional."""
    bare = middle.rstrip("\n")
    return varying(bare, other.rstrip("\n")) + (r"\n?" if middle != bare else "")


def _close_pattern(close: str) -> str:
    """The text behind the value; one line break before it is optional, the key in it is the argument's own."""
    bare = close.replace(KEY_ONE, KEY_TWO).lstrip("\n").rstrip()
    pattern = "(?P=key)".join(flexible(part) for part in bare.split(KEY_TWO))
    return (r"\n?" if close.startswith("\n") else "") + pattern


def _middle_of_number(observed: Observed, argument: Argument) -> str:
    """What stands between key and value where the value is a number."""
    _, key, rest = (observed.number or "").partition(KEY_ONE)
    middle, number, _ = rest.partition(str(NUMBER))
    return middle if key and number else argument.middle


def _wrapper(observed: Observed, argument: Argument) -> tuple[str, str]:
    """What is written around a text with awkward characters alone, as optional patterns."""
    before, found, after = (observed.awkward or "").partition(AWKWARD_TEXT)
    if not found or argument.middle not in before or argument.close.strip() not in after:
        return "", ""
    wrapped_open = before.rpartition(argument.middle)[2]
    wrapped_close = after.partition(argument.close.strip())[0]
    if not wrapped_open.strip() or not wrapped_close.strip():
        return "", ""
    return f"(?:{quoted(wrapped_open)})?", f"(?:{quoted(wrapped_close)})?"


def _quotes_texts(observed: Observed, argument: Argument) -> bool:
    """Whether texts are quoted as in JSON: a quote stands before a text and none before a number."""
    quotes = argument.middle.endswith('"') and argument.close.startswith('"')
    return quotes and not _middle_of_number(observed, argument).endswith('"')


def _value_parser(observed: Observed, argument: Argument) -> dict[str, Any]:
    """How values are read: as JSON where texts are quoted and numbers are not, else as they stand."""
    if _quotes_texts(observed, argument):
        return {"name": "json"}
    return {"name": "text", "args": {"strip": False}}
