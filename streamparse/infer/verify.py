"""Tries a response template on the cases and says, feature by feature, what came back.

A case is parsed in one piece and one character at a time, in the lenient mode and in the strict one. The parser is the
project's own; this module is the only one of inference that knows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from streamparse.arguments import ErrorMode
from streamparse.infer.cases import Case, Message
from streamparse.parser import ResponseParser
from streamparse.template import ResponseTemplate, load_response_template

Status = Literal["verified", "differs", "not expressible"]

KEYS = ("reasoning_content", "content", "tool_calls")


@dataclass(frozen=True)
class Check:
    """One feature tried.

    ``status`` is what came back with ``errors="repair"``, ``strict`` with ``errors="strict"``; ``difference`` and
    ``strict_difference`` are the first ways in which something differs; ``cases`` the rendered turns that it rests on.
    """

    feature: str
    status: Status
    strict: Status
    difference: str = ""
    strict_difference: str = ""
    cases: tuple[Case, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The check as JSON-able data, with its renderings."""
        shown = [{"prefix": case.prefix, "output": case.output, "expected": case.expected} for case in self.cases]
        return {
            "feature": self.feature,
            "status": self.status,
            "strict": self.strict,
            "difference": self.difference,
            "strict_difference": self.strict_difference,
            "cases": shown,
        }


def check_all(
    source: Mapping[str, Any], cases: Mapping[str, Sequence[Case]], unread: Mapping[str, str] | None = None
) -> list[Check]:
    """One check for each feature; ``unread`` are features without cases that are written nevertheless, and why not
    read.
    """
    template = load_response_template(dict(source))
    return [_check(template, feature, tried, (unread or {}).get(feature, "")) for feature, tried in cases.items()]


def _check(template: ResponseTemplate, feature: str, cases: Sequence[Case], unread: str) -> Check:
    if not cases and unread:
        return Check(feature, "differs", "differs", unread, unread)
    if not cases:
        return Check(feature, "not expressible", "not expressible")
    lenient = next((found for case in cases if (found := difference(template, case, "repair"))), "")
    strict = next((found for case in cases if (found := difference(template, case, "strict"))), "")
    return Check(feature, _status(lenient), _status(strict), lenient, strict, tuple(cases))


def _status(found: str) -> Status:
    return "differs" if found else "verified"


def failures(source: Mapping[str, Any], cases: Mapping[str, Sequence[Case]]) -> list[tuple[Case, Message]]:
    """The cases that come back differently in one piece, with what came back; parsed leniently."""
    template = load_response_template(dict(source))
    failed = []
    for tried in cases.values():
        for case in tried:
            got = _parsed(template, case, [case.output], "repair")
            if first_difference(got, case.expected):
                failed.append((case, got))
    return failed


def difference(template: ResponseTemplate, case: Case, mode: ErrorMode) -> str:
    """The first way in which a case comes back differently, whole or by character; an empty text if it comes back."""
    for way, cut in (("in one piece", [case.output]), ("by character", list(case.output))):
        try:
            got = _parsed(template, case, cut, mode)
        except ValueError as error:
            return f"{way}: {type(error).__name__}: {error}"
        if found := first_difference(got, case.expected):
            return f"{way}: {found}"
    return ""


def reads(template: ResponseTemplate, case: Case, mode: ErrorMode) -> bool:
    """Whether a template gives a case back in one piece, finds its anchor in the prompt, and has no problem."""
    parser = _parser(template, case, mode)
    try:
        parser.feed(case.output)
        message, _ = parser.finalize()
    except ValueError:
        return False
    return not parser.problems and not first_difference(_shown(message), case.expected)


def first_difference(got: Message, expected: Message) -> str:
    """The first key of the message that differs; white space at the edges of texts does not count."""
    for key in KEYS:
        value, wanted = got.get(key), expected.get(key)
        if isinstance(wanted, str):
            wanted = wanted.strip() or None
        if json.dumps(value, sort_keys=True) != json.dumps(wanted, sort_keys=True):
            return f"{key} is {value!r}, not {wanted!r}"
    return ""


def _parsed(template: ResponseTemplate, case: Case, cut: Sequence[str], mode: ErrorMode) -> Message:
    """The message of a case in the form in which cases expect it: stripped texts, calls as name and arguments."""
    parser = _parser(template, case, mode)
    for piece in cut:
        parser.feed(piece)
    message, _ = parser.finalize()
    return _shown(message)


def _parser(template: ResponseTemplate, case: Case, mode: ErrorMode) -> ResponseParser:
    return ResponseParser(template, prefix=case.prefix, tools=case.tools, errors=mode)


def _shown(message: Mapping[str, Any]) -> Message:
    shown: Message = {key: text for key in KEYS[:2] if (text := str(message.get(key) or "").strip())}
    if calls := message.get("tool_calls"):
        shown["tool_calls"] = [_name_and_arguments(call) for call in calls]
    return shown


def _name_and_arguments(call: Any) -> Any:
    """A call's name and arguments; what is no call comes back as it is."""
    function = call.get("function") if isinstance(call, dict) else None
    return [function.get("name"), function.get("arguments")] if isinstance(function, dict) else call
