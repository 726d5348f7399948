from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders
from transformers import PreTrainedTokenizerFast

from streamparse.errors import SourceError
from streamparse.tokens.decode import REPLACEMENT, IncrementalDecode

from .conftest import TOKENIZERS, byte_fallback_tokenizer, byte_level_tokenizer

KINDS = st.sampled_from(sorted(TOKENIZERS))
TEXTS = st.text(st.sampled_from("ab {}\"<>/|\n\t.,'é삼我🦜👩‍🚀\ufffd") | st.characters(codec="utf-8"), max_size=30)


class Bare:
    """A tokenizer of no known library: it only decodes, and counts how much it was asked to."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.decoded = 0
        self.longest = 0

    def decode(self, ids: list[int]) -> str:
        self.decoded += len(ids)
        self.longest = max(self.longest, len(ids))
        return str(self.tokenizer.decode(ids, skip_special_tokens=False))


def streamed(tokenizer: Any, ids: list[int]) -> str:
    decode = IncrementalDecode(tokenizer)
    return "".join(map(decode.step, ids)) + decode.finish()


def whole(tokenizer: Tokenizer, ids: list[int]) -> str:
    return str(tokenizer.decode(ids, skip_special_tokens=False))


def any_ids(tokenizer: Tokenizer) -> st.SearchStrategy[list[int]]:
    return st.lists(st.sampled_from(sorted(tokenizer.get_vocab().values())), max_size=20)


@given(KINDS, TEXTS)
def test_a_text_comes_back_as_the_tokenizer_decodes_it(kind: str, text: str) -> None:
    tokenizer = TOKENIZERS[kind]()
    ids = tokenizer.encode(text).ids
    assert streamed(tokenizer, ids) == whole(tokenizer, ids)
    assert streamed(Bare(tokenizer), ids) == whole(tokenizer, ids)


@given(st.sampled_from(sorted(set(TOKENIZERS) - {"byte-fallback"})), st.data())
def test_any_ids_whatsoever_come_out_as_the_tokenizer_decodes_them(kind: str, data: st.DataObject) -> None:
    tokenizer = TOKENIZERS[kind]()
    ids = data.draw(any_ids(tokenizer))
    assert streamed(tokenizer, ids) == whole(tokenizer, ids)
    assert streamed(Bare(tokenizer), ids) == whole(tokenizer, ids)


@given(any_ids(byte_fallback_tokenizer()))
def test_invalid_byte_tokens_differ_from_decode_in_replacement_characters_only(ids: list[int]) -> None:
    tokenizer = byte_fallback_tokenizer()
    streaming = streamed(tokenizer, ids)
    # Word by word, the words that decode keeps are all there: only byte tokens decode to U+FFFD.
    words = [tokenizer.decode([i], skip_special_tokens=False) for i in ids if not is_byte(tokenizer, i)]
    place = 0
    for word in words:
        place = streaming.index(word, place) + len(word)
    if REPLACEMENT not in whole(tokenizer, ids):
        assert streaming == whole(tokenizer, ids)


def is_byte(tokenizer: Tokenizer, token_id: int) -> bool:
    return str(tokenizer.id_to_token(token_id)).startswith("<0x")


def test_a_character_cut_off_in_a_run_of_byte_tokens_leaves_those_before_it() -> None:
    tokenizer = byte_fallback_tokenizer()
    ids = [tokenizer.token_to_id(f"<0x{value:02X}>") for value in "中中".encode()[:-1]]
    ids.append(tokenizer.token_to_id("a"))
    assert streamed(tokenizer, ids) == "中" + 2 * REPLACEMENT + "a"
    assert whole(tokenizer, ids) == 5 * REPLACEMENT + "a"


@given(KINDS, TEXTS.filter(lambda text: REPLACEMENT not in text))
def test_no_replacement_character_comes_out_while_a_character_is_arriving(kind: str, text: str) -> None:
    tokenizer = TOKENIZERS[kind]()
    decode = IncrementalDecode(tokenizer)
    for token_id in tokenizer.encode(text).ids:
        assert REPLACEMENT not in decode.step(token_id)
    assert REPLACEMENT not in decode.finish()


@given(TEXTS)
def test_text_is_given_out_as_soon_as_it_is_whole(text: str) -> None:
    tokenizer = byte_level_tokenizer()
    ids = tokenizer.encode(text).ids
    decode = IncrementalDecode(tokenizer)
    given_out = ""
    for count, token_id in enumerate(ids, 1):
        given_out += decode.step(token_id)
        so_far = whole(tokenizer, ids[:count])
        assert so_far.startswith(given_out)
        if not so_far.endswith(REPLACEMENT):
            assert given_out == so_far


@pytest.mark.parametrize(
    "text", ["🦜", "👩‍🚀 삼겹살", "我喜欢", "a\ufffdb", "\ufffd", "\ufffd\ufffd\ufffd\ufffd🦜", "x\ufffd" * 9]
)
def test_characters_over_several_tokens_and_replacement_characters_that_were_written(text: str) -> None:
    for make in (byte_level_tokenizer, byte_fallback_tokenizer):
        ids = make().encode(text).ids
        assert len(ids) > 1 or text == REPLACEMENT
        assert streamed(make(), ids).lstrip(" ") == text
        assert streamed(Bare(make()), ids).lstrip(" ") == text


def test_a_replacement_character_that_was_written_waits_for_three_ids_at_most() -> None:
    tokenizer = byte_level_tokenizer()
    decode = IncrementalDecode(tokenizer)
    text = ""
    ids = tokenizer.encode(REPLACEMENT * 50).ids
    for token_id in ids:
        text += decode.step(token_id)
        assert decode.held <= 3
    assert text + decode.finish() == REPLACEMENT * 50


@pytest.mark.parametrize("wrap", [lambda tokenizer: tokenizer, Bare], ids=["tokenizers", "bare"])
def test_bytes_that_never_become_text_take_linear_time(wrap: Any) -> None:
    tokenizer = byte_level_tokenizer()
    invalid = next(i for i in range(tokenizer.get_vocab_size()) if whole(tokenizer, [i]) == REPLACEMENT)
    count = 100_000  # one decode of all so far per id, as the library alone does it, would be five thousand million
    assert streamed(wrap(tokenizer), [invalid] * count) == REPLACEMENT * count


def test_the_work_and_the_memory_per_id_are_bounded() -> None:
    bare = Bare(byte_level_tokenizer())
    ids = byte_level_tokenizer().encode("Say hello to 我🦜\ufffd\ufffd\ufffd\ufffd\ufffd, world. " * 500).ids
    decode = IncrementalDecode(bare)
    for token_id in ids:
        decode.step(token_id)
    assert bare.decoded < 40 * len(ids)
    assert bare.longest <= 16
    assert len(json.dumps(decode.snapshot())) < 200


@given(KINDS, st.data())
@settings(max_examples=50)
def test_a_restored_decoder_goes_on_as_if_nothing_had_happened(kind: str, data: st.DataObject) -> None:
    tokenizer = TOKENIZERS[kind]()
    ids = data.draw(any_ids(tokenizer) | TEXTS.map(lambda text: tokenizer.encode(text).ids))
    cut = data.draw(st.integers(0, len(ids)))
    straight, first, second = (IncrementalDecode(tokenizer) for _ in range(3))
    for token_id in ids[:cut]:
        assert first.step(token_id) == straight.step(token_id)
    second.restore(json.loads(json.dumps(first.snapshot())))
    assert [second.step(i) for i in ids[cut:]] == [straight.step(i) for i in ids[cut:]]
    assert second.finish() == straight.finish()


def test_special_tokens_and_added_ones_are_kept(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("<think>hello</think><|im_end|>").ids
    text = streamed(tokenizer, ids)
    assert all(token in text for token in ("<think>", "</think>", "<|im_end|>"))


def test_a_tokenizer_of_transformers_needs_no_care(byte_level: Tokenizer) -> None:
    # Fast ones are used through their `tokenizers` object, so their clean-up of blanks never applies.
    fast = PreTrainedTokenizerFast(tokenizer_object=byte_level, clean_up_tokenization_spaces=True)
    text = "Hello , world ! <think>I do n't 🦜</think><|im_end|>"
    assert streamed(fast, fast(text)["input_ids"]) == text


class InPython:
    """As transformers' tokenizers written in Python: everything but the ids is optional, blanks are cleaned up."""

    clean_up_tokenization_spaces = True

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.inner = tokenizer

    def decode(self, token_ids: list[int], skip_special_tokens: bool = True, **kwargs: Any) -> str:
        text = str(self.inner.decode(token_ids, skip_special_tokens=skip_special_tokens))
        return text.replace(" .", ".") if kwargs.get("clean_up_tokenization_spaces", True) else text


class LikeMistral:
    """As mistral-common: special tokens are dropped unless a policy says otherwise."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.inner = tokenizer

    def decode(self, tokens: list[int], special_token_policy: str = "ignore") -> str:
        return str(self.inner.decode(tokens, skip_special_tokens=special_token_policy != "keep"))


@pytest.mark.parametrize("wrapper", [InPython, LikeMistral])
def test_other_libraries_are_told_to_keep_everything(wrapper: Any, byte_level: Tokenizer) -> None:
    text = "Hello . <|im_start|>🦜<|im_end|>"
    assert streamed(wrapper(byte_level), byte_level.encode(text).ids) == text


def test_a_decoder_that_strips_the_first_blank_keeps_all_others() -> None:
    tokenizer = Tokenizer.from_str(byte_fallback_tokenizer().to_str())
    ids = tokenizer.encode("a  b <think>  c\n d").ids
    assert streamed(tokenizer, ids) == whole(tokenizer, ids)
    tokenizer.decoder = decoders.Metaspace()
    assert streamed(tokenizer, ids) == whole(tokenizer, ids)


def test_what_cannot_decode_is_refused() -> None:
    with pytest.raises(SourceError, match=r"object can't turn token ids into text.*decode\(ids\)"):
        IncrementalDecode(object())


def test_an_id_that_no_tokenizer_has_is_an_error_of_ours(byte_level: Tokenizer) -> None:
    with pytest.raises(SourceError, match=r"can't decode the ids \[1099511627776\]"):
        IncrementalDecode(byte_level).step(2**40)

    class Strict:
        def decode(self, ids: list[int]) -> str:
            raise KeyError(ids[0])

    with pytest.raises(SourceError, match=r"can't decode the ids \[5\]: KeyError"):
        IncrementalDecode(Strict()).step(5)
