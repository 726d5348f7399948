"""The differences from transformers that ``docs/compatibility.md`` lists, each with the input that shows it."""

from __future__ import annotations

from typing import Any

import pytest

from streamparse import LimitError, ParseError, ResponseParser, TemplateError, load_response_template, parse_response


def tp(**fields: Any) -> dict[str, Any]:
    return {"start_anchor": "@@", "fields": fields}


@pytest.mark.parametrize(
    ("template", "text", "message"),
    [
        (tp(x={"open": "<x>", "close": ["</", "</x>"]}, content={}), "<x>a</x>b", {"x": "a", "content": "b"}),
        (tp(x={"open": "<x>", "close": ["abcd", "bc"]}, content={}), "<x>1abcd2", {"x": "1", "content": "2"}),
        (tp(content={"close_pattern": "<e>|$"}), "a<e>", {"content": "a"}),
        (
            tp(x={"open": "<x>", "close_pattern": "END(?!\\n\\n)"}, content={}),
            "<x>aEND\n\nbEND!",
            {"x": "aEND\n\nb", "content": "!"},
        ),
    ],
)
def test_cuts_that_change_the_result_of_transformers_do_not_matter(
    template: dict[str, Any], text: str, message: dict[str, Any]
) -> None:
    for pieces in ([text], list(text)):
        parser = ResponseParser(template, prefix="")
        for piece in pieces:
            parser.feed(piece)
        assert parser.finalize()[0] == message


def test_delimiters_without_text_do_not_hang() -> None:
    template = tp(x={"open_pattern": "(?=a)", "close_pattern": "(?=a)"}, content={})
    assert isinstance(parse_response("ba", template, prefix=""), dict)


def test_json_that_is_too_deep_or_a_number_that_is_too_long_is_our_own_error() -> None:
    template = tp(x={"open": "<x>", "close": "</x>", "content": "json"})
    with pytest.raises(LimitError, match="json_depth"):
        parse_response("<x>" + "[" * 3000 + "]" * 3000 + "</x>", template, prefix="")
    with pytest.raises(ParseError):
        parse_response("<x>" + "1" * 4301 + "</x>", template, prefix="")


@pytest.mark.parametrize(
    "field",
    [
        {"open": "<x>", "content": "xml-inline", "content_args": {"tag_pattern": "("}},
        {"open": "<x>", "content": "json", "content_args": None},
        {"open_pattern": None},
        {"open_pattern": 3},
    ],
)
def test_what_dies_of_an_unrelated_exception_in_use_is_a_fault_at_load(field: dict[str, Any]) -> None:
    with pytest.raises(TemplateError):
        load_response_template(tp(x=field))


def test_a_default_that_values_cannot_be_added_to_is_a_warning_and_then_an_error() -> None:
    template = {**tp(x={"open": "<x>", "close": "</x>", "repeats": True}), "defaults": {"x": None}}
    assert [fault.path for fault in load_response_template(template).warnings] == ["defaults.x"]
    with pytest.raises(ParseError):
        parse_response("<x>1</x>", template, prefix="")


def test_what_transformers_ignores_is_a_warning() -> None:
    template = tp(x={"open": "<x>", "content_args": {"strip_prefix": "x"}, "repeats": "false"})
    paths = {fault.path for fault in load_response_template(template).warnings}
    assert paths == {"fields.x.content_args.strip_prefix", "fields.x.repeats"}


def test_the_value_of_an_event_is_not_the_value_of_the_message() -> None:
    parser = ResponseParser(tp(x={"open": "<x>", "close": "</x>", "content": "json"}), prefix="")
    close = parser.feed('<x>{"a": [1]}</x>')[-1]
    close["value"]["a"].append(2)
    assert parser.finalize()[0] == {"x": {"a": [1]}}


def test_a_missing_capture_is_our_own_error() -> None:
    field = {"open_pattern": "<x(?P<n>=\\w+)?>", "close": "</x>", "transform": "{n}"}
    with pytest.raises(ParseError, match="n"):
        parse_response("<x>a</x>", tp(x=field), prefix="")
