r"""Entries of objects, lists and calls as nearly all are written, many at a time, at the speed of a compiled search.

In: a text and a place in it where an entry is due. Out: the end of the plain entries that stand there, each with the
comma behind it; and their text as compact JSON. Whatever is not plain (an escape, a fraction, another quote, what is
nested deeper than once) ends them, and is left to those who read part by part. What no comma follows yet is no entry.

Any reader of JSON or of Python calls reads these entries alike, so they may be passed over in all of them.
"""

from __future__ import annotations

import re

AT_LEAST = 64
"""How many characters must be left for a search to be worth while."""

TRY_AGAIN_AFTER = 32
"""How many characters a reader reads part by part where none was found, before it searches again."""

NESTED_AT_MOST = 1
"""How many lists and objects are nested in a plain entry."""

_BLANKS = r"[ \t\n\r]*+"
_STRING = r'"[^"\\\x00-\x1f\ud800-\udfff]*+"'
_NUMBER = "(?:0|-?[1-9][0-9]{0,14}+)"  # any reader has these exactly, and writes them alike
_SCALAR = f"(?:{_STRING}|{_NUMBER}|true|false|null)"
_INNER = rf"(?:{_SCALAR}|\[{_BLANKS}\]|\{{{_BLANKS}\}})"
_NAME = "[A-Za-z_][A-Za-z0-9_]*+"


def _padded(value: str) -> str:
    return _BLANKS + value + _BLANKS


def _member(value: str) -> str:
    return _padded(_STRING) + ":" + _padded(value)


def _list_of(entry: str, opening: str, closing: str) -> str:
    return f"{opening}(?:{entry}(?:,{entry})*+|{_BLANKS}){closing}"


_VALUE = (
    f"(?:{_SCALAR}|" + _list_of(_padded(_INNER), r"\[", r"\]") + "|" + _list_of(_member(_INNER), r"\{", r"\}") + ")"
)

MEMBERS = re.compile(f"(?:{_member(_VALUE)},)++")
"""Members of an object."""

NAMED_MEMBERS = re.compile(f"(?:{_padded(_NAME)}:{_padded(f'(?:{_NUMBER}|true|false|null)')},)++")
"""Members of an object in a dialect whose keys have no quotes, without strings, as each dialect has its own."""

SCALAR_MEMBERS = re.compile(f'(?:(?>{_member(_SCALAR)},))+{_BLANKS}(?=")')
"""Members of an object in which nothing is nested, up to another key."""

ITEMS = re.compile(f"(?:{_padded(_VALUE)},)++")
"""Items of a list."""

ARGUMENTS = re.compile(f"(?:{_padded(_NAME)}={_padded(f'(?:{_STRING}|{_NUMBER})')},)++")
"""Arguments of a call in Python's syntax."""

_STRING_OR_BLANKS = re.compile(rf"({_STRING})|[ \t\n\r]++")
_KEY_OR_BLANKS = re.compile(rf"({_NAME}){_BLANKS}:|[ \t\n\r]++")
_NAME_OR_STRING_OR_BLANKS = re.compile(rf"({_STRING})|({_NAME}){_BLANKS}={_BLANKS}|[ \t\n\r]++")


def end_of(entries: re.Pattern[str], text: str, at: int) -> int:
    """Where the plain entries end that stand at a place; the place itself where none do, or little text is left.

    >>> end_of(MEMBERS, '{"a": [1, {}], "b": "x", "c": 1.5}'.ljust(AT_LEAST + 1), 1)
    24
    """
    if len(text) - at < AT_LEAST:
        return at
    match = entries.match(text, at)
    return at if match is None else match.end()


def in_named_members(character: str) -> bool:
    """Whether a character may be part of :data:`NAMED_MEMBERS`, so that a string may not begin with it."""
    return character in " \t\n\r:,-" or re.match(r"\w", character) is not None


def compact(entries: re.Pattern[str], text: str) -> str:
    r"""The text of such entries as compact JSON, each with its comma; arguments become members, names keys.

    >>> compact(MEMBERS, '"a b": [1,\n 2], "c": {},'), compact(ARGUMENTS, 'a = 1, b="c = 2",')
    ('"a b":[1,2],"c":{},', '"a":1,"b":"c = 2",')
    >>> compact(NAMED_MEMBERS, "a: 1, b_2 :null,")
    '"a":1,"b_2":null,'
    """
    if entries is NAMED_MEMBERS:
        return _KEY_OR_BLANKS.sub(lambda match: f'"{match[1]}":' if match[1] else "", text)
    if entries is not ARGUMENTS:
        return _STRING_OR_BLANKS.sub(r"\1", text)
    return _NAME_OR_STRING_OR_BLANKS.sub(_as_member, text)


def _as_member(match: re.Match[str]) -> str:
    string, name = match.groups()
    return string or (f'"{name}":' if name else "")
