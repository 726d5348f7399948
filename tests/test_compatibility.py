"""Every difference that ``docs/compatibility.md`` lists, tried in both parsers, under the same words."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import regex
from transformers.utils.chat_parsing import response_parser as transformers_parser
from transformers.utils.chat_parsing.response_templates import load_response_template as load_in_transformers
from transformers.utils.chat_template_utils import DocstringParsingException

import streamparse
from streamparse import (
    FinalizedError,
    LimitError,
    Limits,
    ParseError,
    ResponseParser,
    StreamparseError,
    TemplateError,
    load_response_template,
)
from tests.properties.reference import Reference

PAGE = Path(__file__).parents[1] / "docs" / "compatibility.md"

X = {"open": "<x>", "close": "</x>"}
JSON = {**X, "content": "json"}
XML = {**X, "content": "xml-inline"}
LINES = {**X, "content": "kv-lines"}
NON_JSON = {**JSON, "content_args": {"allow_non_json": True}}


def tp(**template_fields: Any) -> dict[str, Any]:
    return {"start_anchor": "@@", "fields": template_fields}


def theirs(template: Any, pieces: list[str], *, prefix: str = "", tools: Any = None) -> dict[str, Any]:
    parser = transformers_parser.ResponseParser(template, prefix=prefix, tools=tools)
    for piece in pieces:
        parser.feed(piece)
    return parser.finalize()[0]


def ours(template: Any, pieces: list[str], *, prefix: str = "", tools: Any = None) -> dict[str, Any]:
    parser = ResponseParser(template, prefix=prefix, tools=tools)
    for piece in pieces:
        parser.feed(piece)
    return parser.finalize()[0]


Check = Callable[[], None]
DIFFERENCES: dict[str, Check] = {}


def difference(what: str) -> Callable[[Check], Check]:
    """Put a test of a difference under its words."""

    def register(check: Check) -> Check:
        DIFFERENCES[what] = check
        return check

    return register


# The cuts don't matter: template, text, the message of transformers by character (or its error), the one that is right.

CUTS: dict[str, tuple[Any, str, Any, dict[str, Any]]] = {
    "a literal begins another one": (
        tp(x={"open": "<x>", "close": ["</", "</x>"]}, content={}),
        "<x>a</x>b",
        {"x": "a", "content": "x>b"},
        {"x": "a", "content": "b"},
    ),
    "a literal is within another one": (
        tp(x={"open": "<x>", "close": ["abcd", "bc"]}, content={}),
        "<x>1abcd2",
        {"x": "1a", "content": "d2"},
        {"x": "1", "content": "2"},
    ),
    "a pattern has an optional tail": (
        tp(x={"open_pattern": r"<t>(?:\s*json)?", "close": "</t>"}),
        "<t>\njson{1}</t>",
        {"x": "json{1}"},
        {"x": "{1}"},
    ),
    "a group is in an optional tail": (
        tp(x={"open_pattern": r"<t>(?:\s*<f=(?P<name>\w+)>)?", "close": "</t>", "transform": ["{name}"]}),
        "<t>\n<f=foo>b</t>",
        KeyError,
        {"x": ["foo"]},
    ),
    "an earlier alternative is longer": (
        tp(x={"open": "<x>", "close_pattern": r"\n+END|\n"}, content={}),
        "<x>a\nENDb",
        {"x": "a", "content": "ENDb"},
        {"x": "a", "content": "b"},
    ),
    "the end of the text is an alternative": (
        tp(content={"close_pattern": "<e>|$"}),
        "a<e>",
        {"content": "a<e>"},
        {"content": "a"},
    ),
    "a lookahead needs several characters": (
        tp(x={"open": "<x>", "close_pattern": r"END(?!\n\n)"}, content={}),
        "<x>aEND\n\nbEND!",
        {"x": "a", "content": "bEND!"},
        {"x": "aEND\n\nb", "content": "!"},
    ),
    "an assertion fails at the edge only": (
        tp(x={"open": "<x>", "close_pattern": r"</x>(?!\Z)"}, content={}),
        "<x>a</x>b",
        {"x": "a</x>b"},
        {"x": "a", "content": "b"},
    ),
}


@pytest.mark.parametrize("what", CUTS)
def test_the_cuts_do_not_matter(what: str) -> None:
    template, text, by_character, whole = CUTS[what]
    if isinstance(by_character, dict):
        assert theirs(template, list(text)) == by_character
    else:
        with pytest.raises(by_character):
            theirs(template, list(text))
    assert theirs(template, [text]) == whole
    assert ours(template, [text]) == ours(template, list(text)) == whole


# Where transformers dies of an unrelated exception: template, text, its exception, ours, whether we warn at load.

ERRORS: dict[str, tuple[Any, str, type[Exception], type[Exception], bool]] = {
    "JSON nested deep": (tp(x=JSON), f"<x>{'[' * 3000}</x>", RecursionError, LimitError, False),
    "… with `allow_non_json`": (tp(x=NON_JSON), f"<x>{'[' * 3000}</x>", RecursionError, LimitError, False),
    "a number of 4,301 digits": (tp(x=NON_JSON), f"<x>{'1' * 4301}</x>", ValueError, LimitError, False),
    "a placeholder that nothing supplies": (
        tp(x={**X, "transform": ["{nothing}"]}),
        "<x>1</x>",
        KeyError,
        ParseError,
        True,
    ),
    "an optional group that took no part": (
        tp(x={"open_pattern": "<x(?P<n>a)?>", "close": "</x>", "transform": ["{n}"]}),
        "<x>1</x>",
        KeyError,
        ParseError,
        True,
    ),
    "a default that is no list": (
        {**tp(x={**X, "repeats": True}), "defaults": {"x": None}},
        "<x>1</x>",
        AttributeError,
        ParseError,
        True,
    ),
    "a default that is no text": (
        {**tp(x={**X, "repeats": True, "join": ","}), "defaults": {"x": []}},
        "<x>1</x>",
        TypeError,
        ParseError,
        True,
    ),
    "a tag without its value": (
        tp(
            x={
                **XML,
                "content_args": {
                    "tag_pattern": r"<(?P<key>\w+)>(?P<value>\d)?",
                    "value_parser": {"name": "text"},
                },
            }
        ),
        "<x><a></x>",
        AttributeError,
        ParseError,
        False,
    ),
    "a value parser that there isn't": (
        tp(x={**LINES, "content_args": {"value_parser": {"name": "yaml"}}}),
        "<x>a: 1</x>",
        KeyError,
        ParseError,
        True,
    ),
    "a `tag_pattern` that is none": (
        tp(x={**XML, "content_args": {"tag_pattern": "("}}),
        "<x>1</x>",
        regex.error,
        TemplateError,
        False,
    ),
    "`content_args` that are null": (
        tp(x={**X, "content_args": None}),
        "<x>a</x>",
        AttributeError,
        TemplateError,
        False,
    ),
    "`args` of a value parser that are null": (
        tp(x={**LINES, "content_args": {"value_parser": {"name": "text", "args": None}}}),
        "<x>a: 1</x>",
        AttributeError,
        TemplateError,
        False,
    ),
    "`string_delims` of another form": (
        tp(x={**JSON, "content_args": {"string_delims": [["a"]]}}),
        "<x>1</x>",
        ValueError,
        TemplateError,
        False,
    ),
    "a `content` that is no text": (tp(x={**X, "content": []}), "", TypeError, TemplateError, False),
    "a pattern that is null": (tp(x={"open_pattern": None}), "", TypeError, TemplateError, False),
}


@pytest.mark.parametrize("what", ERRORS)
def test_an_unrelated_exception_is_an_error_of_ours(what: str) -> None:
    template, text, their_error, our_error, warns = ERRORS[what]
    with pytest.raises(their_error):
        theirs(template, [text])
    for pieces in ([text], list(text)):
        with pytest.raises(our_error) as caught:
            ours(template, pieces)
        assert isinstance(caught.value, StreamparseError)
    if our_error is TemplateError:
        with pytest.raises(TemplateError):
            load_response_template(template)
    else:
        assert bool(load_response_template(template).warnings) is warns


# What transformers takes: template and text, our error.

REFUSED: dict[str, tuple[Any, str, type[Exception]]] = {}


def nested(depth: int, inner: Any, wrap: Callable[[Any], Any]) -> Any:
    for _ in range(depth):
        inner = wrap(inner)
    return inner


REFUSED["JSON nested more than 512 levels"] = (tp(x=JSON), f"<x>{'[' * 600}{']' * 600}</x>", LimitError)
REFUSED["a transform nested more than 100 levels"] = (
    tp(x={**X, "transform": nested(150, "{content}", lambda inner: {"a": inner})}),
    "<x>1</x>",
    TemplateError,
)
REFUSED["a transform of more than 200 values"] = (
    tp(x={**X, "transform": ["{content}"] * 201}),
    "<x>1</x>",
    TemplateError,
)
REFUSED["value parsers nested more than 20 levels"] = (
    tp(
        x={
            **LINES,
            "content_args": {
                "value_parser": nested(
                    25, {"name": "text"}, lambda inner: {"name": "kv-lines", "args": {"value_parser": inner}}
                )
            },
        }
    ),
    "<x>a: 1</x>",
    TemplateError,
)
REFUSED["arguments that are null, of a parser without any"] = (
    tp(x={**X, "content": "python-call-list", "content_args": None}),
    "<x>[]</x>",
    TemplateError,
)


@pytest.mark.parametrize("what", REFUSED)
def test_what_transformers_takes_is_refused(what: str) -> None:
    template, text, error = REFUSED[what]
    assert theirs(template, [text]) is not None
    with pytest.raises(error):
        ours(template, [text])


# All others, one by one.


@difference("the longest literal of a list")
def longest_literal() -> None:
    assert_opens_at_once(tp(x={"open": ["<t>", "<t>\n"]}, content={}), "<t>\n")


@difference("a pattern that can't grow")
def pattern_that_cannot_grow() -> None:
    assert_opens_at_once(tp(x={"open_pattern": "<[tu]>"}, content={}), "<t>")


def assert_opens_at_once(template: Any, delimiter: str) -> None:
    opened = [{"type": "region_open", "field": "x"}]
    their_parser = transformers_parser.ResponseParser(template, prefix="")
    assert their_parser.feed(delimiter) == []
    assert their_parser.feed("a")[:1] == opened
    assert ResponseParser(template, prefix="").feed(delimiter) == opened


@difference("the same at the end of the prefix")
def end_of_the_prefix() -> None:
    template = tp(x={"open": ["<t>", "<t>\n"]}, content={})
    opened = [{"type": "region_open", "field": "x"}]
    their_parser = transformers_parser.ResponseParser(template, prefix="@@<t>\n")
    assert their_parser.initial_events == []
    assert their_parser.feed("a")[:1] == opened
    assert ResponseParser(template, prefix="@@<t>\n").initial_events == opened


@difference("open and close match nothing")
def match_nothing() -> None:
    template = tp(x={"open_pattern": "(?=a)", "close_pattern": "(?=a)"}, content={})
    reference = Reference()
    try:
        assert reference.ask(template, "ba") is None, "transformers came to an end"
    finally:
        reference.close()
    assert ours(template, ["ba"]) == ours(template, ["b", "a"]) == {"content": "a"}


@difference("a tool whose schema is a cycle")
def cyclic_schema() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["anyOf"] = [schema]
    tools = [{"name": "f", "parameters": {"properties": {"a": schema}}}]
    template = tp(x={**JSON, "transform": {"function": "{content}"}})
    text = '<x>{"name": "f", "arguments": {"a": "1"}}</x>'
    with pytest.raises(RecursionError):
        theirs(template, [text], tools=tools)
    assert ours(template, [text], tools=tools)["x"]["function"]["arguments"] == {"a": "1"}


@difference("more than a limit")
def limits() -> None:
    limits = Limits()
    assert (limits.regions, limits.region_text, limits.structured_text) == (1_000_000, 64_000_000, 1_000_000)
    template = tp(x={"open": "<x>", "close_pattern": "</[^>]*>"})
    for name, text in (("regions", "<x></x>" * 9), ("region_text", "<x>aaaaaaaaa"), ("held_text", "<x></aaaaaaaa")):
        parser = ResponseParser(template, prefix="", limits=Limits(**{name: 8}))
        with pytest.raises(LimitError) as caught:
            parser.feed(text)
        assert caught.value.limit == name


@difference("one family")
def one_family() -> None:
    for error in (ParseError, TemplateError, streamparse.PrefixError):
        assert issubclass(error, StreamparseError)
        assert issubclass(error, ValueError)
    assert issubclass(FinalizedError, StreamparseError)
    assert issubclass(FinalizedError, RuntimeError)


@difference("after an error in `feed`")
def after_an_error_in_feed() -> None:
    template = tp(x=JSON, content={})
    their_parser = transformers_parser.ResponseParser(template, prefix="")
    with pytest.raises(ValueError, match="JSON"):
        their_parser.feed("<x>{</x>")
    with pytest.raises(ValueError, match="JSON"):
        their_parser.feed("more<x>1</x>")
    parser = ResponseParser(template, prefix="")
    with pytest.raises(ParseError):
        parser.feed("<x>{</x>")
    with pytest.raises(FinalizedError):
        parser.feed("more<x>1</x>")


@difference("after an error in `finalize`")
def after_an_error_in_finalize() -> None:
    template = tp(x=JSON, content={})
    their_parser, parser = transformers_parser.ResponseParser(template, prefix=""), ResponseParser(template, prefix="")
    their_parser.feed("<x>{")
    parser.feed("<x>{")
    for _ in range(2):
        with pytest.raises(ValueError, match="JSON"):
            their_parser.finalize()
    with pytest.raises(ParseError):
        parser.finalize()
    with pytest.raises(FinalizedError):
        parser.finalize()


@difference("several faults in a template")
def several_faults() -> None:
    template = tp(x={"open": "", "join": ","})
    with pytest.raises(ValueError, match="open") as their_error:
        load_in_transformers(template)
    assert "join" not in str(their_error.value)
    with pytest.raises(TemplateError) as our_error:
        load_response_template(template)
    assert {fault.path for fault in our_error.value.faults} == {"fields.x.open", "fields.x.join"}


@difference("what is ignored silently")
def ignored_silently() -> None:
    template = tp(x={"content_args": {"strip_prefix": "x"}})
    assert load_in_transformers(template) is not None
    assert [fault.path for fault in load_response_template(template).warnings] == ["fields.x.content_args.strip_prefix"]


@difference("the value of an event")
def value_of_an_event() -> None:
    values = []
    for parser in (
        transformers_parser.ResponseParser(tp(x=JSON), prefix=""),
        ResponseParser(tp(x=JSON), prefix=""),
    ):
        events = parser.feed('<x>{"a": 1}</x>') + parser.feed("")
        next(event for event in events if event["type"] == "region_close")["value"]["a"] = 2
        values.append(parser.finalize()[0]["x"]["a"])
    assert values == [2, 1]


@difference("a tool without a docstring")
def tool_without_a_docstring() -> None:
    def f(a):  # type: ignore[no-untyped-def]
        return a

    template = tp(x={**JSON, "transform": {"function": "{content}"}})
    text = '<x>{"name": "f", "arguments": {"a": "1"}}</x>'
    with pytest.raises(DocstringParsingException):
        theirs(template, [text], tools=[f])
    assert ours(template, [text], tools=[f])["x"]["function"]["arguments"] == {"a": "1"}


CALLS = tp(x={**JSON, "transform": {"function": "{content}"}})
CALL_TEXT = '<x>{"name": "f", "arguments": {"a": "1"}}</x>'
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


@difference("a tool in Anthropic's form")
def tool_in_anthropics_form() -> None:
    tools = [{"name": "f", "input_schema": SCHEMA}]
    assert theirs(CALLS, [CALL_TEXT], tools=tools)["x"]["function"]["arguments"] == {"a": "1"}
    assert ours(CALLS, [CALL_TEXT], tools=tools)["x"]["function"]["arguments"] == {"a": 1}


@difference("a tool that can't be read")
def tool_that_cannot_be_read() -> None:
    tools = [None, {"name": "f", "paramters": SCHEMA}]
    logged: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("streamparse").addHandler(handler)
    try:
        for parse in (theirs, ours):
            assert parse(CALLS, [CALL_TEXT], tools=tools)["x"]["function"]["arguments"] == {"a": "1"}
    finally:
        logging.getLogger("streamparse").removeHandler(handler)
    assert [message.partition(":")[0] for message in logged] == ["tools[0]", "tools[1]"]


@difference("events before an error")
def events_before_an_error() -> None:
    template, text = tp(x={**X, "content": "json"}, content={}), "Hello <x>{</x>"
    parser = streamparse.ResponseParser(template, "")
    with pytest.raises(streamparse.ParseError) as raised:
        parser.feed(text)
    assert [event["type"] for event in raised.value.events][:2] == ["region_open", "region_chunk"]
    reference = transformers_parser.ResponseParser(load_in_transformers(template), prefix="")
    with pytest.raises(ValueError, match=r".") as theirs_raised:
        reference.feed(text)
    assert not hasattr(theirs_raised.value, "events")


@pytest.mark.parametrize("what", DIFFERENCES)
def test_difference(what: str) -> None:
    DIFFERENCES[what]()


def test_a_template_with_our_own_key_is_refused_by_transformers_and_loads_in_both_without() -> None:
    template = tp(x=X)
    assert load_in_transformers(template) is not None
    with pytest.raises(ValueError, match="streamparse"):
        load_in_transformers({**template, "streamparse": {}})
    assert load_response_template({**template, "streamparse": {}}) is not None


def rows_of_the_page() -> Iterator[str]:
    """The first cell of each row of the page's tables."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        found = re.match(r"\| ([^|]+?) \|", line)
        if found is not None and found[1] != "what":
            yield found[1]


def test_the_page_lists_the_differences_that_are_tested_here_and_no_others() -> None:
    assert sorted(rows_of_the_page()) == sorted([*CUTS, *ERRORS, *REFUSED, *DIFFERENCES])
