from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from streamparse.errors import SourceError
from streamparse.stages.detokenize import Detokenizer, decode_prefix
from streamparse.tokens.marks import TokenMarks


def byte_tokenizer() -> Tokenizer:
    """One token a byte (the ids 0 to 255), and two that are tokens of their own, ``<think>`` and ``</think>``."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    ordered = {bytes_of(letter): letter for letter in letters}
    vocabulary = {ordered[bytes([value])]: value for value in range(256)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens([AddedToken("<think>"), AddedToken("</think>")])
    return tokenizer


def bytes_of(letter: str) -> bytes:
    """The byte that a letter of the byte-level alphabet stands for, as GPT-2 defined it."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [value for value in range(256) if value not in printable]
    return bytes([ord(letter) if ord(letter) in printable else others[ord(letter) - 256]])


BYTES = byte_tokenizer()
OPEN, CLOSE = 256, 257


def run(detokenizer: Detokenizer, items: list[Any]) -> str:
    return "".join(text for item in items for text in detokenizer.feed(item)) + "".join(detokenizer.finish())


def cut(whole: Any, places: list[int]) -> list[Any]:
    bounds = [0, *sorted(min(place, len(whole)) for place in places), len(whole)]
    return [whole[start:end] for start, end in pairwise(bounds)]


CUTS = st.lists(st.integers(0, 40), max_size=6)


def test_text_passes_through() -> None:
    assert run(Detokenizer(), ["Hel", "", "lo 🦜", "\udc80"]) == "Hello 🦜\udc80"
    assert Detokenizer().feed("") == []


@given(st.binary(max_size=40) | st.text(max_size=15).map(str.encode), CUTS)
def test_bytes_cut_anywhere_are_decoded_as_if_they_were_whole(data: bytes, places: list[int]) -> None:
    assert run(Detokenizer(), cut(data, places)) == data.decode(errors="replace")


@given(st.binary(max_size=40), CUTS)
def test_token_ids_cut_anywhere_are_decoded_as_if_they_were_whole(data: bytes, places: list[int]) -> None:
    assert run(Detokenizer(BYTES), cut(list(data), places)) == data.decode(errors="replace")


def test_a_character_comes_when_its_last_byte_does() -> None:
    for detokenizer, items in [
        (Detokenizer(), [bytes([value]) for value in "🦜".encode()]),
        (Detokenizer(BYTES), list("🦜".encode())),
    ]:
        assert [detokenizer.feed(item) for item in items] == [[], [], [], ["🦜"]]
        assert detokenizer.finish() == []


def test_a_character_cut_off_at_the_end_is_one_replacement_character() -> None:
    assert run(Detokenizer(), ["a🦜".encode()[:-1]]) == "a\ufffd"
    assert run(Detokenizer(BYTES), list("a🦜".encode()[:-1])) == "a\ufffd"


@pytest.mark.parametrize(
    "whole", ["삼겹살 🦜", "삼겹살 🦜".encode(), list("삼겹살 🦜".encode())], ids=["text", "bytes", "ids"]
)
def test_a_snapshot_at_any_place_leads_to_the_same_text(whole: Any) -> None:
    for place in range(len(whole) + 1):
        first, second = Detokenizer(BYTES, offsets=True), Detokenizer(BYTES, offsets=True)
        before = "".join(first.feed(whole[:place]))
        second.restore(json.loads(json.dumps(first.snapshot())))
        assert before + run(second, [whole[place:]]) == "삼겹살 🦜"
        assert second.tokens == (len(whole) if isinstance(whole, list) else None)


@pytest.mark.parametrize(
    "items",
    [
        [104, 105],
        [[104], [105]],
        [(104, 105)],
        [np.int64(104), np.array([105])],
        [np.array([104, 105])],
        [[], 104, [], 105],
    ],
)
def test_ids_come_one_by_one_or_several_at_once(items: list[Any]) -> None:
    assert run(Detokenizer(BYTES), items) == "hi"


@pytest.mark.parametrize("view", [bytes, bytearray, memoryview])
def test_bytes_come_in_any_of_their_types(view: Any) -> None:
    assert run(Detokenizer(), [view(b"hi")]) == "hi"


def test_a_stream_is_of_one_kind() -> None:
    for first, second, message in [
        ("a", b"b", "the source gave bytes after text"),
        (b"a", 98, "the source gave token ids after bytes"),
        ([97], "b", "the source gave text after token ids"),
    ]:
        detokenizer = Detokenizer(BYTES)
        detokenizer.feed(first)
        with pytest.raises(SourceError, match=message):
            detokenizer.feed(second)


def test_empty_items_are_of_every_kind() -> None:
    assert run(Detokenizer(BYTES), ["", b"", [], 97, "", [98], b""]) == "ab"


@pytest.mark.parametrize("item", [None, 1.5, True, {"a": 1}, object()])
def test_what_is_no_item_is_refused(item: Any) -> None:
    with pytest.raises(SourceError, match="text, UTF-8 bytes or token ids, not"):
        Detokenizer(BYTES).feed(item)


def test_a_batch_is_refused() -> None:
    with pytest.raises(SourceError, match="got a batch of 1 row"):
        Detokenizer(BYTES).feed(np.array([[104, 105]]))


def test_ids_need_a_tokenizer() -> None:
    with pytest.raises(SourceError, match="token ids need tokenizer="):
        Detokenizer().feed(5)
    with pytest.raises(SourceError, match="token ids need tokenizer="):
        decode_prefix(None, [5])


def test_text_and_bytes_need_no_tokenizer_that_can_decode() -> None:
    assert run(Detokenizer(object()), ["hi"]) == "hi"


def test_the_tokenizer_may_be_a_file(tmp_path: Path) -> None:
    BYTES.save(str(tmp_path / "tokenizer.json"))
    for source in (tmp_path, str(tmp_path), tmp_path / "tokenizer.json"):
        assert run(Detokenizer(source), [104, 105, CLOSE]) == "hi</think>"
    with pytest.raises(SourceError, match=r"no tokenizer at .*nowhere"):
        Detokenizer(tmp_path / "nowhere")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(SourceError, match=r"is not a tokenizer\.json"):
        Detokenizer(tmp_path)


def test_without_the_library_a_file_is_refused_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(SourceError, match=r"pip install streamparse-llm\[tokenizers\]"):
        Detokenizer(tmp_path)


def test_no_tokenizer_library_is_imported_with_the_stage() -> None:
    code = (
        "import sys, streamparse.stages.detokenize; print({'tokenizers', 'transformers', 'numpy'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_a_prefix_is_decoded_with_its_special_tokens() -> None:
    fast = PreTrainedTokenizerFast(tokenizer_object=BYTES)
    for tokenizer in (BYTES, fast):
        assert decode_prefix(tokenizer, [104, 105, OPEN]) == "hi<think>"
        assert decode_prefix(tokenizer, np.array([104, 105])) == "hi"
    assert decode_prefix(None, "text") == "text"
    with pytest.raises(SourceError, match="got a batch of 2 rows"):
        decode_prefix(BYTES, [[104], [105]])


def test_only_the_token_itself_comes_out_unmarked() -> None:
    marks = TokenMarks({OPEN: "<think>", CLOSE: "</think>"})
    quoted = list(b"it ends with `</think>`.")
    for items in (quoted, [quoted], [quoted[:20], quoted[20:]]):
        detokenizer = Detokenizer(BYTES, marks=marks)
        assert not detokenizer.marked
        text = run(detokenizer, [OPEN, *items, CLOSE, *b"</", *b"think>"])
        assert detokenizer.marked
        assert (text.count("<think>"), text.count("</think>")) == (1, 1)
        assert text.index("</think>") == len("<think>it ends with `</think>`.")
        assert marks.unmark(text) == "<think>it ends with `</think>`.</think></think>"


def test_text_and_bytes_are_never_marked() -> None:
    marks = TokenMarks({CLOSE: "</think>"})
    for item in ("a</think>", b"a</think>"):
        detokenizer = Detokenizer(BYTES, marks=marks)
        assert run(detokenizer, [item]) == "a</think>"
        assert not detokenizer.marked


def test_a_look_alike_across_a_snapshot_is_marked() -> None:
    marks = TokenMarks({CLOSE: "</think>"})
    ids = list(b"x</think>y")
    for place in range(len(ids)):
        first, second = Detokenizer(BYTES, marks=marks), Detokenizer(BYTES, marks=marks)
        before = "".join(first.feed(ids[:place]))
        second.restore(json.loads(json.dumps(first.snapshot())))
        text = before + run(second, ids[place:])
        assert "</think>" not in text
        assert marks.unmark(text) == "x</think>y"
        assert second.marked


def test_offsets_tell_which_tokens_a_stretch_of_text_came_from() -> None:
    detokenizer = Detokenizer(BYTES, offsets=True)
    ids = [OPEN, *b"hm ", *"🦜".encode(), CLOSE, *b"ok", *"🦜".encode()[:2]]
    text = run(detokenizer, ids)
    assert text == "<think>hm 🦜</think>ok\ufffd"
    assert detokenizer.offsets is not None
    spans = [
        detokenizer.offsets.span(text.index(part), text.index(part) + len(part))
        for part in ("<think>", "hm 🦜", "</think>", "ok\ufffd")
    ]
    assert spans == [(0, 1), (1, 8), (8, 9), (9, 13)]
    assert detokenizer.tokens == len(ids)


@given(st.binary(max_size=30))
def test_the_offsets_of_all_text_are_all_tokens(data: bytes) -> None:
    detokenizer = Detokenizer(BYTES, offsets=True)
    text = run(detokenizer, list(data))
    assert detokenizer.offsets is not None
    assert detokenizer.offsets.span(0, len(text)) == (0, len(data))
    assert detokenizer.offsets.characters == len(text)


def test_a_source_of_text_has_no_tokens() -> None:
    detokenizer = Detokenizer(BYTES, offsets=True)
    assert run(detokenizer, ["hi"]) == "hi"
    assert detokenizer.tokens is None
    assert detokenizer.offsets is not None
    assert detokenizer.offsets.characters == 0
