from __future__ import annotations

import json
from importlib.resources import files
from itertools import pairwise
from typing import Any, ClassVar

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer

from streamparse.errors import SourceError
from streamparse.tokens.marks import TokenMarks
from streamparse.tokens.needed import needed_tokens, refuse_dropped_tokens

from .conftest import byte_level_tokenizer


def template(**fields: Any) -> dict[str, Any]:
    return {"start_anchor": "<|im_start|>assistant\n", "fields": fields}


def tokenizer_with(*texts: str, special: tuple[str, ...] = ()) -> Tokenizer:
    tokenizer = Tokenizer.from_str(byte_level_tokenizer().to_str())
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in texts])
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in special])
    return tokenizer


def needed(field: dict[str, Any], tokenizer: Tokenizer) -> set[str]:
    return {token.text for token in needed_tokens(template(x=field), tokenizer).values()}


@pytest.mark.parametrize(
    ("field", "texts"),
    [
        ({"open": "<think>", "close": "</think>"}, {"<think>", "</think>"}),
        ({"open": ["<think>\n", "<think>"], "close_pattern": r"</think>\s*"}, {"<think>", "</think>"}),
        ({"open": "<|channel|>analysis<|message|>"}, {"<|channel|>", "<|message|>"}),
        ({"open_pattern": r"<\|channel\|>(?P<c>\w+)<\|message\|>"}, {"<|channel|>", "<|message|>"}),
        ({"close_pattern": r"<\|(?:im_end|message)\|>\s*"}, {"<|im_end|>", "<|message|>"}),
        ({"close_pattern": r"(?:<\|im_end\|>|$)"}, {"<|im_end|>"}),
        ({"open_pattern": r"</?think>"}, {"<think>", "</think>"}),
        ({"open_pattern": r"(?:<think>\s*)+x"}, {"<think>"}),
        ({"open_pattern": r"x(?=</think>)"}, {"</think>"}),
        ({"open_pattern": r"x(?!</think>)"}, set()),
        ({"open_pattern": r"(?i)<think>"}, {"<think>"}),
        ({"open_pattern": r"(?R)?<\|im_end\|>"}, {"<|im_end|>"}),
        ({"open_pattern": r"[<think>]+"}, set()),
        ({"open_pattern": r"<tool.call>"}, set()),
        ({"open": "<other>"}, set()),
        ({}, set()),
    ],
)
def test_the_tokens_that_delimiters_are_made_of_are_found(field: dict[str, Any], texts: set[str]) -> None:
    assert needed(field, byte_level_tokenizer()) == texts


def test_the_start_anchor_needs_no_token() -> None:
    assert needed_tokens(template(content={}), byte_level_tokenizer()) == {}
    assert TokenMarks.for_template(template(content={}), byte_level_tokenizer()) is None


def test_a_delimiter_is_split_as_the_tokenizer_splits_it() -> None:
    # The tokenizer writes <think> as one token, so the shorter ones are no part of it.
    assert needed({"open": "<think>"}, tokenizer_with("<thi", "think>")) == {"<think>"}


def test_runs_of_blanks_and_words_are_no_markup() -> None:
    tokenizer = tokenizer_with("\n\n", "    ", "analysis", "> ")
    assert needed({"open": "<think>\n\n    analysis> "}, tokenizer) == {"<think>"}
    assert needed({"open": "a"}, tokenizer_with(special=("a",))) == {"a"}


def test_many_alternatives_are_found_without_writing_out_every_combination() -> None:
    words = "|".join("abcdefghijklmnopqrst")
    pattern = rf"(?:{words})(?:{words})(?:{words})(?:{words})<think>(?:{words})</think>"
    assert needed({"open_pattern": pattern}, byte_level_tokenizer()) == {"<think>", "</think>"}


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("qwen3", ["<think>", "</think>", "<tool_call>", "</tool_call>", "<|im_end|>", "<|endoftext|>"]),
        ("gpt_oss", ["<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>", "<|return|>", "<|call|>"]),
        (
            "cohere2",
            ["<|START_THINKING|>", "<|END_THINKING|>", "<|START_ACTION|>", "<|END_ACTION|>", "<|END_RESPONSE|>"],
        ),
    ],
)
def test_the_bundled_templates_are_made_of_their_families_tokens(name: str, tokens: list[str]) -> None:
    tokenizer = tokenizer_with(special=tuple(tokens))
    source = json.loads((files("streamparse.template.bundled") / f"{name}.json").read_text())
    assert {token.text for token in needed_tokens(source, tokenizer).values()} >= set(tokens)


def test_the_marks_are_made_once_for_a_template_and_a_tokenizer_until_the_tokenizer_grows() -> None:
    tokenizer, source = tokenizer_with(), template(x={"open": "<think>", "close": "<later>"})
    first = TokenMarks.for_template(source, tokenizer)
    assert first is not None
    assert TokenMarks.for_template(source, tokenizer) is first
    assert TokenMarks.for_template(template(x={"open": "</think>"}), tokenizer) is not first
    tokenizer.add_tokens(["<later>"])
    grown = TokenMarks.for_template(source, tokenizer)
    assert grown is not None
    assert set(grown.texts.values()) == {"<think>", "<later>"}


def test_an_object_that_tells_nothing_of_its_tokens_needs_none() -> None:
    class Bare:
        def decode(self, ids: list[int]) -> str:
            return ""

    assert needed_tokens(template(x={"open": "<think>"}), Bare()) == {}


def test_a_tokenizer_that_compares_by_value_works_too() -> None:
    class Equal(LikeTiktoken):
        def __eq__(self, other: object) -> bool:
            return True

    marks = TokenMarks.for_template(template(x={"open": "<|end|>"}), Equal())
    assert marks is not None
    assert marks.texts == {7: "<|end|>"}


class LikeTiktoken:
    special_tokens_set = frozenset({"<|end|>", "<|unused|>"})

    def encode_single_token(self, text: str) -> int:
        return {"<|end|>": 7, "<|unused|>": 8}[text]

    def decode(self, tokens: list[int]) -> str:
        return "".join({7: "<|end|>", 8: "<|unused|>"}[token] for token in tokens)


class LikeMistral(LikeTiktoken):
    special_tokens_set = None  # type: ignore[assignment]
    special_ids = frozenset({7, 8})


class LikeTransformersInPython(LikeTiktoken):
    added_tokens_decoder: ClassVar[dict[int, Any]] = {7: AddedToken("<|end|>", special=True), 8: "<|unused|>"}


@pytest.mark.parametrize("kind", [LikeTiktoken, LikeMistral, LikeTransformersInPython])
def test_other_libraries_tell_of_their_tokens_in_their_own_ways(kind: Any) -> None:
    assert needed_tokens(template(x={"open": "<|end|>"}), kind()) == {7: ("<|end|>", True)}


def test_a_token_that_decodes_to_something_else_is_not_watched() -> None:
    class Upper(LikeTiktoken):
        def decode(self, tokens: list[int]) -> str:
            return super().decode(tokens).upper()

    assert needed_tokens(template(x={"open": "<|end|>"}), Upper()) == {}


def test_skipping_special_tokens_is_refused_where_delimiters_are_made_of_them() -> None:
    with pytest.raises(SourceError, match=r"drops '<\|im_end\|>', which .* Set skip_special_tokens=False"):
        refuse_dropped_tokens(template(x={"open": "<think>", "close": "<|im_end|>"}), byte_level_tokenizer())


def test_skipping_special_tokens_does_no_harm_where_the_added_ones_are_not_special() -> None:
    refuse_dropped_tokens(template(x={"open": "<think>", "close": "</think>"}), byte_level_tokenizer())


WATCHED = {1: "<think>", 2: "</think>", 3: "[TOOL_CALLS]", 4: '<|"|>', 5: "<｜tool▁call｜>"}
MARKS = TokenMarks(WATCHED)
ORDINARY = st.lists(
    st.sampled_from(
        ["<", "/", "think", ">", "</thi", "nk>", "[TOOL_", "CALLS]", '<|"', "|>", "🦜", "<｜tool▁", "call｜>", "a"]
    ),
    max_size=12,
).map("".join)


@given(ORDINARY, st.lists(st.integers(0, 40), max_size=5))
def test_every_look_alike_is_marked_however_the_text_is_cut(text: str, cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    marked = "".join(
        MARKS.mark(text[start:end], text[max(0, start - MARKS.reach) : start]) for start, end in pairwise(bounds)
    )
    assert not any(token in marked for token in WATCHED.values())
    assert len(marked) == len(text)
    assert MARKS.unmark(marked) == text
    # Nothing but the last characters of look-alikes is touched.
    ends = {
        match.end() - 1
        for token in WATCHED.values()
        for match in regex.finditer(regex.escape(token), text, overlapped=True)
    }
    assert {place for place, (one, other) in enumerate(zip(marked, text, strict=True)) if one != other} == ends


def test_all_text_survives_even_what_can_only_come_from_invalid_decoding() -> None:
    every_plane = "".join(chr(plane * 0x10000 + 0xFDD0 + i) for plane in range(17) for i in range(0, 0x230, 16))
    assert MARKS.unmark(MARKS.mark(every_plane, "")) == every_plane
    assert MARKS.mark("a\udb80", "") == "a\ufffd"


def test_values_are_unmarked_through_and_through() -> None:
    marked = MARKS.mark("a</think>", "")
    event = {"type": "region_close", "value": [{marked: marked, "n": 1, "none": None}], "start": 3}
    assert MARKS.unmark_value(event) == {
        "type": "region_close",
        "value": [{"a</think>": "a</think>", "n": 1, "none": None}],
        "start": 3,
    }


def test_patterns_that_exclude_a_tokens_first_character_still_stop_at_it() -> None:
    # The token's own text stays as it is, so a class such as [^<] means what the template's author meant.
    match = regex.match(r"<tool_call>(?P<name>[^<\n]+)", "<tool_call>" + MARKS.mark("f", "") + "</tool_call>")
    assert match is not None
    assert match["name"] == "f"
