"""Small tokenizers of the kinds that chat models have, trained here."""

from __future__ import annotations

import json
from functools import cache

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

TEXT = (
    "The quick brown fox jumps over the lazy dog. Say hello to the new world, hello! "
    '{"name": "get_weather", "arguments": {"city": "Oslo"}} think call tool </ |> <| im_end '
    "삼겹살 좋아요. 我喜欢吃苹果。 Grüße, naïve café. 🦜 👩‍🚀 \ufffd\n\n\tdef f(x): return x\n"
)
SPECIAL = ["<|im_start|>", "<|im_end|>", "<|channel|>", "<|message|>"]
ADDED = ["<think>", "</think>", "<tool_call>", "</tool_call>"]


def with_added_tokens(tokenizer: Tokenizer) -> Tokenizer:
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in SPECIAL])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in ADDED])
    return tokenizer


@cache
def byte_level_tokenizer() -> Tokenizer:
    """As Qwen, Llama 3, gpt-oss: the vocabulary is made of bytes, a character may need several tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator([TEXT], trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet))
    return with_added_tokens(tokenizer)


@cache
def byte_fallback_tokenizer() -> Tokenizer:
    """As Llama 2, Gemma, Mistral's older ones: words with their blank, unknown characters as byte tokens."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trainer = trainers.BpeTrainer(vocab_size=150, special_tokens=["<unk>"], limit_alphabet=60)
    tokenizer.train_from_iterator([TEXT], trainer)
    plain = json.loads(tokenizer.to_str())
    plain["model"]["byte_fallback"] = True
    for value in range(256):
        plain["model"]["vocab"][f"<0x{value:02X}>"] = len(plain["model"]["vocab"])
    tokenizer = Tokenizer.from_str(json.dumps(plain))
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return with_added_tokens(tokenizer)


@cache
def metaspace_tokenizer() -> Tokenizer:
    """As T5 and XLNet: words with their blank, unigrams, nothing below the character."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(TEXT.splitlines(), trainer)
    return with_added_tokens(tokenizer)


@cache
def word_piece_tokenizer() -> Tokenizer:
    """As BERT: whole words and their continuations, blanks put between words when decoding."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(cleanup=True)
    tokenizer.train_from_iterator([TEXT], trainers.WordPieceTrainer(vocab_size=200, special_tokens=["[UNK]"]))
    return with_added_tokens(tokenizer)


TOKENIZERS = {
    "byte-level": byte_level_tokenizer,
    "byte-fallback": byte_fallback_tokenizer,
    "metaspace": metaspace_tokenizer,
    "word-piece": word_piece_tokenizer,
}


@pytest.fixture(scope="session", params=TOKENIZERS)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    """Each kind of tokenizer."""
    return TOKENIZERS[request.param]()


@pytest.fixture(scope="session")
def byte_level() -> Tokenizer:
    return byte_level_tokenizer()


@pytest.fixture(scope="session")
def byte_fallback() -> Tokenizer:
    return byte_fallback_tokenizer()
