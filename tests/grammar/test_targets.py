"""What each target says: notation that its engine takes, size, what is left out, and what asks for what."""

from __future__ import annotations

import random
from typing import Any

import llguidance
import pytest
from llguidance.gbnf_to_lark import gbnf_to_lark

from streamparse import get_response_template, response_template_names
from streamparse.errors import ArgumentError
from streamparse.grammar import TARGETS, Grammar, GrammarError, to_grammar
from streamparse.grammar.numbers import decimals, integers
from stress.checking import fault_in
from stress.drawing import Drawer, tokenizer
from stress.tool_schemas import TOOLS, an_object, tool


@pytest.mark.parametrize("choice", ["auto", "required", "none"])
@pytest.mark.parametrize("name", response_template_names())
def test_llguidance_takes_every_gbnf(name: str, choice: str) -> None:
    for tools in TOOLS.values():
        lark = gbnf_to_lark(to_grammar(name, tools, tool_choice=choice).text)
        assert not llguidance.LLMatcher.validate_grammar(lark, tokenizer())


@pytest.mark.parametrize("target", TARGETS)
def test_size_grows_linearly_with_the_schemas(target: Any) -> None:
    def size(count: int) -> int:
        tools = [
            tool(f"tool_{n}", an_object({f"key_{n}_{k}": {"type": "string"} for k in range(8)}, []))
            for n in range(count)
        ]
        return len(to_grammar("qwen3_coder", tools, target=target, tool_choice="required").text)

    sizes = [size(count) for count in (10, 20, 40)]
    assert sizes[2] - sizes[1] <= 2.2 * (sizes[1] - sizes[0])


def test_one_tool_with_many_keys_grows_linearly() -> None:
    def size(count: int) -> int:
        tools = [tool("f", an_object({f"key_{k:03}": {"type": "integer"} for k in range(count)}, []))]
        return len(to_grammar("qwen3", tools, tool_choice="required").text)

    assert size(80) - size(40) <= 2.2 * (size(40) - size(20))


UNKEPT = an_object(
    {
        "n": {"type": "integer", "multipleOf": 3},
        "s": {"type": "string", "pattern": "(?=a)b"},
        "l": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "e": {"type": "string", "format": "iri"},
    }
)


@pytest.mark.parametrize("target", ["gbnf", "lark"])
def test_what_is_left_out_is_said(target: Any) -> None:
    relaxed = to_grammar("qwen3", [tool("f", UNKEPT)], target=target).relaxed
    assert {(each.where.rsplit("/", 1)[-1], each.keyword) for each in relaxed} == {
        ("n", "multipleOf"),
        ("s", "pattern"),
        ("l", "uniqueItems"),
        ("e", "format: iri"),
    }


def test_lark_keeps_more_than_gbnf() -> None:
    schema = an_object({"s": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]*$"}})
    assert not to_grammar("qwen3", [tool("f", schema)], target="lark").relaxed
    assert [each.keyword for each in to_grammar("qwen3", [tool("f", schema)]).relaxed] == ["minLength, maxLength"]


def test_gbnf_is_lazy_where_calls_are_the_models_choice() -> None:
    auto, required = (to_grammar("qwen3", TOOLS["simple"], tool_choice=choice) for choice in ("auto", "required"))
    assert (auto.lazy, auto.triggers) == (True, ("<tool_call>",))
    assert (required.lazy, required.triggers) == (False, ())
    assert {"<tool_call>", "</tool_call>", "<think>", "</think>"} <= set(auto.preserved_tokens)


def accepts(grammar: Grammar, text: str) -> bool:
    return Drawer(grammar.text).accepts(text)


CALL = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'


def test_what_is_asked_for_is_kept() -> None:
    def grammar(**options: Any) -> Grammar:
        return to_grammar("qwen3", TOOLS["simple"], target="lark", **options)

    assert accepts(grammar(), "Hello.")
    assert accepts(grammar(), f"Hello. {CALL} Bye.")
    assert not accepts(grammar(tool_choice="required"), "Hello.")
    assert accepts(grammar(tool_choice="required"), f"{CALL}\n{CALL}")
    assert not accepts(grammar(tool_choice="required", parallel=False), f"{CALL}\n{CALL}")
    assert not accepts(grammar(parallel=False), f"{CALL}\n{CALL}")
    assert accepts(grammar(parallel=False), CALL)
    assert not accepts(grammar(tool_choice="add_note"), CALL)
    named = {"type": "function", "function": {"name": "now"}}
    assert accepts(grammar(tool_choice=named), CALL)
    assert not accepts(grammar(tool_choice=named), f"{CALL}\n{CALL}")
    assert accepts(grammar(tool_choice="none"), "Hello.")
    assert not accepts(grammar(tool_choice="none"), CALL)


def test_reasoning_is_where_it_may_be() -> None:
    def grammar(**options: Any) -> Grammar:
        return to_grammar("qwen3", TOOLS["simple"], target="lark", tool_choice="required", **options)

    assert accepts(grammar(), CALL)
    assert accepts(grammar(), f"<think>\nHm.\n</think>\n\n{CALL}")
    assert not accepts(grammar(reasoning="must"), CALL)
    assert not accepts(grammar(reasoning="none"), f"<think>\nHm.\n</think>\n\n{CALL}")
    opened = grammar(prefix="<|im_start|>assistant\n<think>\n")
    assert accepts(opened, f"Hm.\n</think>\n{CALL}")
    assert not accepts(opened, CALL)
    assert not accepts(grammar(prefix="<|im_start|>assistant\n<think>\n\n</think>\n\n"), f"Hm.</think>{CALL}")


def test_an_answer_in_json() -> None:
    schema = an_object({"answer": {"type": "integer"}})
    wanted = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    alone = to_grammar("qwen3", target="lark", response_format=wanted)
    assert accepts(alone, '{"answer": 42}')
    assert not accepts(alone, '{"answer": "x"}')
    beside = to_grammar("qwen3", TOOLS["simple"], target="lark", response_format=wanted)
    assert accepts(beside, '{"answer": 42}')
    assert accepts(beside, CALL)
    assert not accepts(beside, "42")


def test_strict_decides_whose_arguments_follow_their_schema() -> None:
    loose = {"type": "function", "function": {"name": "now", "strict": False, "parameters": an_object({"a": {}})}}
    for strict, free in ((None, True), (True, False), (False, True)):
        grammar = to_grammar("qwen3", [loose], target="lark", tool_choice="required", strict=strict)
        assert accepts(grammar, CALL) is free


def test_members_in_any_order() -> None:
    tools = [
        tool("f", an_object({"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "null"}}, ["a", "b"]))
    ]
    text = '<tool_call>{"name": "f", "arguments": {"b": 1, "c": null, "a": 2}}</tool_call>'
    assert not accepts(to_grammar("qwen3", tools, target="lark"), text)
    assert accepts(to_grammar("qwen3", tools, target="lark", any_order=True), text)
    assert not accepts(to_grammar("qwen3", tools, target="lark", any_order=True), text.replace(', "a": 2', ""))


@pytest.mark.parametrize("name", ["qwen3", "glm45", "olmo3"])
def test_what_any_order_allows_is_read(name: str) -> None:
    template, tools = get_response_template(name), TOOLS["all types"]
    grammar = to_grammar(template, tools, target="lark", tool_choice="required", any_order=True)
    draws, chance = Drawer(grammar.text, grammar.preserved_tokens, 150), random.Random(name)
    for _ in range(10):
        if text := draws.draw(chance):
            assert fault_in(template, tools, grammar, text, calls=True) is None, text


def test_what_cannot_be_written_is_an_error() -> None:
    with pytest.raises(GrammarError, match="a b"):
        to_grammar("lfm2", [{"name": "a b"}])
    with pytest.raises(GrammarError, match="no field"):
        to_grammar({"start_anchor": "A", "fields": {"content": {}}}, [{"name": "f"}])
    with pytest.raises(ArgumentError, match="'g'"):
        to_grammar("qwen3", [{"name": "f"}], tool_choice="g")
    with pytest.raises(ArgumentError, match="no tools"):
        to_grammar("qwen3", tool_choice="required")
    with pytest.raises(ArgumentError, match="target"):
        to_grammar("qwen3", target="ebnf")  # type: ignore[arg-type]


def matcher(node: Any) -> Drawer:
    from streamparse.grammar.lark import lark

    return Drawer(lark({}, node))


@pytest.mark.parametrize(("low", "high"), [(None, None), (3, None), (None, -4), (-12, 7), (0, 0), (95, 1204), (7, 7)])
def test_integers_within_bounds(low: int | None, high: int | None) -> None:
    node = integers(low, high)
    assert node is not None
    draws = matcher(node)
    for number in [*range(-40, 40), *range(90, 110), 999, 1000, 1203, 1204, 1205, 99999]:
        inside = (low is None or number >= low) and (high is None or number <= high)
        assert draws.accepts(str(number)) is inside, number


@pytest.mark.parametrize(
    ("low", "high", "open_"),
    [("0.5", "7.25", False), ("-1.5", "2", True), ("0", "1", False), ("3.14", "3.2", True), ("-2.25", "-0.5", False)],
)
def test_decimals_within_bounds(low: str, high: str, open_: bool) -> None:
    from decimal import Decimal

    least, most = Decimal(low), Decimal(high)
    node = decimals(least, most, low_open=open_, high_open=open_)
    assert node is not None
    draws = matcher(node)
    for hundredths in range(-400, 900, 1):
        number = Decimal(hundredths) / 100
        inside = least < number < most if open_ else least <= number <= most
        if number or not str(number).startswith("-"):
            assert draws.accepts(f"{number:f}") is inside, number
