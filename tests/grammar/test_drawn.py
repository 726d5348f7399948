"""The loop: whatever a grammar allows, the template that it came from reads as calls of the given tools.

Texts are drawn at random through llguidance's token masks over a vocabulary of bytes; ``make soak-grammar`` draws a
million. Arguments have to be valid against their schemas, but for the keywords that the grammar says it leaves out.
"""

from __future__ import annotations

import json
import logging
import os
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from streamparse import (
    ResponseTemplate,
    get_response_template,
    load_response_template,
    parse_response,
    response_template_names,
)
from streamparse.grammar import Grammar, GrammarError, to_grammar
from streamparse.grammar.nodes import OTHER_CALLS
from streamparse.infer import InferenceError, infer_response_template
from stress.checking import fault_in, prompt_of
from stress.drawing import Drawer
from stress.tool_schemas import TOOLS, an_object, tool

SHARED = Path(os.environ.get("STREAMPARSE_SHARED", Path(__file__).parents[3] / "shared")) / "cases" / "chat"
CHAT_TEMPLATES = sorted((SHARED / "chat_templates").glob("*.jinja"))
TEXTS = 5
MOST_BYTES = 150
LONG_MARKS = {"kimi_k3": 300, "plamo3": 300}
"""Families whose marks alone fill a text of the usual length."""
CLOSING = {"kimi_k3": ("<|close|>argument<|sep|>",)}
"""What ends values and is no token by itself."""


@cache
def drawer(name: str, kind: str, required: bool) -> tuple[ResponseTemplate, Grammar, Drawer]:
    most = LONG_MARKS.get(name, MOST_BYTES)
    return of_template(get_response_template(name), TOOLS[kind], required, most, CLOSING.get(name, ()))


def of_template(
    template: ResponseTemplate,
    tools: list[dict[str, Any]],
    required: bool,
    most_bytes: int = MOST_BYTES,
    closing: tuple[str, ...] = (),
) -> tuple[ResponseTemplate, Grammar, Drawer]:
    grammar = to_grammar(template, tools, target="lark", tool_choice="required" if required else "auto")
    return template, grammar, Drawer(grammar.text, (*grammar.preserved_tokens, *grammar.triggers, *closing), most_bytes)


def draw_and_read(
    template: ResponseTemplate, tools: list[dict[str, Any]], grammar: Grammar, draws: Drawer, required: bool, seed: str
) -> int:
    """Draws some texts and reads each; how many were drawn whole."""
    chance, whole = random.Random(seed), 0
    for _ in range(TEXTS):
        text = draws.draw(chance)
        if text is not None:
            whole += 1
            assert fault_in(template, tools, grammar, text, calls=required) is None, text
    return whole


@pytest.mark.parametrize("required", [True, False], ids=["required", "auto"])
@pytest.mark.parametrize("name", response_template_names())
def test_what_a_bundled_family_may_write_is_read(name: str, required: bool) -> None:
    whole = 0
    for kind, tools in TOOLS.items():
        template, grammar, draws = drawer(name, kind, required)
        whole += draw_and_read(template, tools, grammar, draws, required, f"{name} {kind}")
    assert whole > len(TOOLS) * TEXTS // 2


@cache
def inferred() -> dict[str, ResponseTemplate]:
    """What is inferred from the public chat templates that write calls; of those with the same fields one."""
    found: dict[str, ResponseTemplate] = {}
    seen: set[str] = set()
    logging.disable(logging.WARNING)
    try:
        for path in CHAT_TEMPLATES:
            try:
                source = infer_response_template(path).template
            except InferenceError:
                continue
            key = json.dumps(source["fields"], sort_keys=True)
            if "tool_calls" in source["fields"] and key not in seen:
                seen.add(key)
                found[path.stem] = load_response_template(source)
    finally:
        logging.disable(logging.NOTSET)
    return found


@pytest.mark.skipif(not CHAT_TEMPLATES, reason=f"the public chat templates are not in {SHARED}")
@pytest.mark.filterwarnings("ignore::streamparse.UnverifiedWarning")
def test_what_an_inferred_template_may_write_is_read() -> None:
    kinds = [*TOOLS]
    for number, (name, template) in enumerate(inferred().items()):
        for required in (True, False):
            kind = kinds[(number + required) % len(kinds)]
            _, grammar, draws = of_template(template, TOOLS[kind], required)
            draw_and_read(template, TOOLS[kind], grammar, draws, required, f"{name} {kind}")


@pytest.mark.parametrize("name", response_template_names())
def test_a_call_of_another_tool_is_no_text_unless_the_grammar_says_so(name: str) -> None:
    tools, template = [tool("find")], get_response_template(name)
    auto = to_grammar(template, tools, target="lark", reasoning="none")
    draws = Drawer(auto.text, (*auto.preserved_tokens, *auto.triggers), 60)
    others = to_grammar(template, [tool("other")], target="lark", tool_choice="required", reasoning="none")
    calls = Drawer(others.text, (*others.preserved_tokens, *others.triggers), LONG_MARKS.get(name, 60))
    chance, seen = random.Random(name), 0
    for call in filter(None, (calls.draw(chance) for _ in range(2 * TEXTS))):
        seen += 1
        assert OTHER_CALLS in auto.relaxed or not draws.accepts(call), call
    assert seen


ANSWER = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
BARE = {"llama3_json", "llama4_pythonic", "xlam"}
"""Families whose calls are JSON without a mark."""


@pytest.mark.parametrize("name", [name for name in response_template_names() if name not in BARE])
def test_an_answer_in_json_beside_calls_is_content(name: str) -> None:
    tools, template = TOOLS["all types"], get_response_template(name)
    grammar = to_grammar(template, tools, target="lark", reasoning="none", response_format=ANSWER)
    draws = Drawer(grammar.text, (*grammar.preserved_tokens, *grammar.triggers), 60)
    chance, answers = random.Random(name), 0
    for text in [draws.draw(chance) for _ in range(4 * TEXTS)]:
        if text is not None:
            assert fault_in(template, tools, grammar, text, calls=False) is None, text
            answers += text.lstrip().startswith("{")
    assert answers or name == "gpt_oss"  # which writes the channel first
    call = Drawer(to_grammar(template, tools, target="lark", tool_choice="required", reasoning="none").text, (), 150)
    for quoted in filter(None, (call.draw(chance) for _ in range(TEXTS))):
        answer = json.dumps({"text": quoted}, ensure_ascii=False)
        if draws.accepts(answer):
            message = parse_response(answer, template, prefix=prompt_of(template), tools=tools, errors="report")
            assert "tool_calls" not in message, answer


@pytest.mark.parametrize("name", sorted(BARE))
def test_an_answer_in_json_beside_calls_that_are_json_is_refused(name: str) -> None:
    with pytest.raises(GrammarError, match="can't be told from a call"):
        to_grammar(name, TOOLS["all types"], response_format=ANSWER)


KEYS = st.sampled_from(["a", "b1", "long_name", "Größe", "x-y", "with space", "type", "$ref"])
SCALARS = st.one_of(
    st.sampled_from([{"type": "string"}, {"type": "boolean"}, {"type": "null"}, {"type": "number"}, {}]),
    st.tuples(st.integers(-1000, 1000), st.integers(0, 5000)).map(
        lambda pair: {"type": "integer", "minimum": pair[0], "maximum": pair[0] + pair[1]}
    ),
    st.tuples(st.decimals(-50, 50, places=2), st.decimals("0.01", 90, places=2)).map(
        lambda pair: {"type": "number", "exclusiveMinimum": float(pair[0]), "maximum": float(pair[0] + pair[1])}
    ),
    st.lists(
        st.one_of(st.text("ab\"'<>\\\n/é ", max_size=4), st.integers(), st.booleans()), min_size=1, max_size=3
    ).map(lambda members: {"enum": members}),
    st.sampled_from(["^x+$", "[0-9]{3}", "^(ab|c)d?$", r"\d\.\d", "^[^<>]{1,4}$"]).map(
        lambda pattern: {"type": "string", "pattern": pattern}
    ),
    st.tuples(st.integers(0, 3), st.integers(0, 4)).map(
        lambda pair: {"type": "string", "minLength": pair[0], "maxLength": pair[0] + pair[1]}
    ),
)
SCHEMAS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches}),
        st.tuples(inner, st.integers(0, 2), st.integers(0, 2)).map(
            lambda of: {"type": "array", "items": of[0], "minItems": of[1], "maxItems": of[1] + of[2]}
        ),
        st.dictionaries(KEYS, inner, max_size=3).flatmap(
            lambda members: st.sets(st.sampled_from([*members] or ["a"])).map(
                lambda required: an_object(members, sorted(required & members.keys()))
            )
        ),
    ),
    max_leaves=6,
)


def objects() -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(KEYS, SCHEMAS, max_size=4).flatmap(
        lambda members: st.booleans().map(lambda all_: an_object(members, None if all_ else []))
    )


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[each for each in HealthCheck if each.name != "filter_too_much"],
)
@given(st.sampled_from(response_template_names()), objects(), st.booleans(), st.integers(0, 1000))
def test_any_schema_is_kept(name: str, schema: dict[str, Any], required: bool, seed: int) -> None:
    tools = [tool("one", schema), tool("two")]
    try:
        template, grammar, draws = of_template(get_response_template(name), tools, required)
    except GrammarError:
        reject()  # a format may have no spelling for a key that is required; Hypothesis fails if all examples are such
    draw_and_read(template, tools, grammar, draws, required, str(seed))


@pytest.mark.parametrize("name", response_template_names())
@pytest.mark.parametrize("pattern", ["^(ab|c)d?$", "^a*b?$", "^(x|yz){1,3}$"])
def test_a_pattern_that_ends_with_what_may_be_left_out_is_kept(name: str, pattern: str) -> None:
    tools = [tool("one", an_object({"a": {"type": "string", "pattern": pattern}}, [])), tool("two")]
    template, grammar, draws = of_template(get_response_template(name), tools, False)
    draw_and_read(template, tools, grammar, draws, False, pattern)


def mutants(text: str, chance: random.Random) -> Iterator[str]:
    """The text with a character or a stretch taken out, doubled or changed."""
    for _ in range(6):
        start = chance.randrange(len(text))
        end = min(len(text), start + chance.choice([1, 1, 2, 10]))
        yield text[:start] + text[end:]
        yield text[:end] + text[start:]
        yield text[:start] + chance.choice('"{}<>[]x0,: \n') + text[end:]


@pytest.mark.parametrize("name", response_template_names())
def test_a_mutant_that_is_allowed_is_read_too(name: str) -> None:
    template, grammar, draws = drawer(name, "all types", True)
    chance = random.Random(name)
    refused = 0
    for _ in range(TEXTS):
        if text := draws.draw(chance):
            for mutant in mutants(text, chance):
                if draws.accepts(mutant):
                    assert fault_in(template, TOOLS["all types"], grammar, mutant, calls=True) is None, mutant
                else:
                    refused += 1
    assert refused
