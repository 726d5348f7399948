"""Calls whose arguments stand in a tag each: ``<parameter=city>Paris</parameter>``, ``<arg_key>…</arg_key><arg_value>…``.

What teaches what: two arguments show what stands between them, and so where one ends and the next begins; a call without
arguments shows where the name ends; a number against a text shows whether texts are quoted and what an attribute says;
an awkward text shows optional wrappers (CDATA).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from streamparse.infer.compare import common_prefix, split_between
from streamparse.infer.conversation import FIRST, SECOND
from streamparse.infer.tools.head import first_start, head_of, head_pattern, second_start
from streamparse.infer.tools.json_calls import island_with
from streamparse.infer.tools.observe import AWKWARD_TEXT, NUMBER, Observed, surroundings
from streamparse.infer.tools.reading import (
    Reading,
    anything_but,
    call_transform,
    closing_keys,
    flexible,
    noise,
    quoted,
    varying,
)

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
    places = [text.find(word) for word in (KEY_ONE, VALUE_ONE, KEY_TWO, VALUE_TWO)]
    start = first_start(observed)
    if island_with(text, dict(FIRST.arguments)) is not None or places != sorted(places) or start > places[0]:
        return
    values_end = text.find(VALUE_TWO) + len(VALUE_TWO)
    name_end = text.rfind(FIRST.name, 0, places[0]) + len(FIRST.name)
    argument = _argument(text, name_end)
    if argument is None:
        return
    after = text[values_end:]
    around = surroundings(text[:start], _between(observed), after, observed.ends)
    body = len(text[name_end : places[0]]) - len(argument.open)
    suffix = _behind_name(observed, text[name_end : name_end + max(body, 0)])
    head = head_of(text, FIRST, start, name_end + len(suffix))
    if head is None:
        return
    followers = [text[name_end : places[0]], _text_behind_bare_name(observed)]
    other = None
    second = second_start(observed)
    if observed.two is not None and second >= 0:
        second_end = observed.two.rfind(SECOND.name, 0, observed.two.find(KEY_THREE)) + len(SECOND.name)
        other = head_of(observed.two, SECOND, second, second_end + len(suffix))
    opening = around.call_open if around.call_open.strip() else around.section_open + around.call_open
    call_close = around.call_close[len(common_prefix([argument.close, around.call_close])) :]
    around = replace(around, call_close=call_close)
    keys: dict[str, Any] = {
        "open_pattern": head_pattern(opening, head, other, followers),
        **closing_keys(around, observed.ends, flexible(opening.strip())),
    }
    content = {"tag_pattern": _tag_pattern(observed, argument), **_value_parser(observed, argument)}
    transform = call_transform("{name}", "{content}", "{id}" if "id" in head.kinds or FIRST.id in around.call_close else None)
    field = {**keys, "content": "xml-inline", "content_args": content, "repeats": True, "transform": transform}
    markers = {
        "section open": around.section_open,
        "call open": around.call_open,
        "name suffix": suffix,
        "argument open": argument.open,
        "argument middle": argument.middle,
        "argument close": argument.close,
        "call close": call_close,
        "section close": around.section_close,
    }
    loose = noise(around.section_open if around.call_open.strip() else "", around.section_close)
    yield Reading("name, then tagged arguments", field, loose, opening.lstrip(), markers)


def _argument(text: str, name_end: int) -> Argument | None:
    """The tags around one argument."""
    before_key = text[name_end : text.find(KEY_ONE)]
    middle = text[text.find(KEY_ONE) + len(KEY_ONE) : text.find(VALUE_ONE)]
    between = text[text.find(VALUE_ONE) + len(VALUE_ONE) : text.find(KEY_TWO)]
    after = text[text.find(VALUE_TWO) + len(VALUE_TWO) :]
    if KEY_ONE in between:
        between, after = between.replace(KEY_ONE, KEY_TWO), after
    closing, separator, opening = split_between(between, after, before_key)
    if not opening.strip() and not closing.strip():
        return None
    return Argument(opening if opening.strip() else separator + opening, middle, closing)


def _between(observed: Observed) -> str | None:
    """What stands between the last value of the first call and the first slot of the second."""
    second = second_start(observed)
    if observed.two is None or second < 0:
        return None
    end = observed.two.find(VALUE_TWO)
    return observed.two[end + len(VALUE_TWO) : second] if 0 <= end < second else None


def _text_behind_bare_name(observed: Observed) -> str:
    """What follows the name when there are no arguments."""
    if observed.bare is None or FIRST.name not in observed.bare:
        return ""
    return observed.bare[observed.bare.rfind(FIRST.name) + len(FIRST.name) :]


def _behind_name(observed: Observed, suffix: str) -> str:
    """What belongs to the name itself: what follows it with and without arguments."""
    bare = _text_behind_bare_name(observed)
    return common_prefix([suffix, bare]) if bare else suffix


def _tag_pattern(observed: Observed, argument: Argument) -> str:
    """The pattern of one argument."""
    middle_of_number, _ = _around_number(observed, argument)
    key = f"(?P<key>{anything_but(argument.middle, middle_of_number)}+)"
    if _quotes_texts(observed, argument):
        argument = replace(argument, middle=argument.middle.removesuffix('"'), close=argument.close.removeprefix('"'))
    wrapped_open, wrapped_close = _wrapper(observed, argument)
    close = argument.close.replace(KEY_ONE, "\0").replace(KEY_TWO, "\0")
    value = f"{wrapped_open}(?P<value>.*?){wrapped_close}"
    middle = _edge(argument.middle, middle_of_number)
    return f"{flexible(argument.open.lstrip())}{key}{middle}{value}{_closing(close)}"


def _edge(middle: str, other: str) -> str:
    """The text between key and value; one line break before the value is optional."""
    bare = middle.rstrip("\n")
    pattern = varying(bare, other.rstrip("\n")) if other else flexible(bare)
    return pattern + (r"\n?" if middle != bare else "")


def _closing(close: str) -> str:
    """The text behind the value; one line break before it is optional, a repeated key is the same key."""
    bare = close.lstrip("\n").rstrip()
    pattern = "(?P=key)".join(flexible(part) for part in bare.split("\0"))
    return (r"\n?" if close.startswith("\n") else "") + pattern


def _around_number(observed: Observed, argument: Argument) -> tuple[str, str]:
    """What stands before and behind a value that is a number."""
    text = observed.number
    if text is None or KEY_ONE not in text or str(NUMBER) not in text:
        return argument.middle, argument.close
    _, _, rest = text.partition(KEY_ONE)
    middle, _, close = rest.partition(str(NUMBER))
    return middle, close


def _wrapper(observed: Observed, argument: Argument) -> tuple[str, str]:
    """What is written around a text with awkward characters alone, as optional patterns."""
    text = observed.awkward
    if text is None or AWKWARD_TEXT not in text:
        return "", ""
    before, _, after = text.partition(AWKWARD_TEXT)
    wrapped_open = before.rpartition(argument.middle)[2] if argument.middle in before else ""
    wrapped_close = after.partition(argument.close.strip())[0] if argument.close.strip() in after else ""
    if not wrapped_open.strip() or not wrapped_close.strip():
        return "", ""
    return f"(?:{quoted(wrapped_open)})?", f"(?:{quoted(wrapped_close)})?"


def _quotes_texts(observed: Observed, argument: Argument) -> bool:
    """Whether texts are quoted as in JSON: a quote stands before a text and none before a number."""
    middle, _ = _around_number(observed, argument)
    return argument.middle.endswith('"') and argument.close.startswith('"') and not middle.endswith('"')


def _value_parser(observed: Observed, argument: Argument) -> dict[str, Any]:
    """How values are read: as JSON where texts are quoted and numbers are not, else as they stand."""
    if _quotes_texts(observed, argument):
        return {"value_parser": {"name": "json"}}
    return {"value_parser": {"name": "text", "args": {"strip": False}}}
