"""Logits processors that keep ``generate()`` within a grammar.

In:  a grammar of ``to_grammar`` for ``"lark"`` or ``"structural_tag"``, and a tokenizer of transformers.
Out: a logits processor, which sets the scores of all tokens that the grammar doesn't allow next to minus infinity.

Lark goes through llguidance (extra ``llguidance``), structural tags through xgrammar (extra ``xgrammar``). A processor
serves one generation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any

from streamparse.errors import ArgumentError, SourceError
from streamparse.grammar import Grammar


def grammar_processor(grammar: Grammar, tokenizer: Any, vocabulary: int | None = None) -> Any:
    """Make the logits processor of a grammar.

    ``vocabulary`` is the number of scores that the model gives, which may be more than the tokenizer has tokens. Raises
    ArgumentError for a grammar in GBNF, which neither library takes, and SourceError where the library is missing or
    refuses the grammar.
    """
    if grammar.target == "gbnf":
        raise ArgumentError(
            "generate() takes a grammar for lark (llguidance) or structural_tag (xgrammar), not for gbnf"
        )
    try:
        if grammar.target == "structural_tag":
            return _xgrammar_processor(grammar, tokenizer, vocabulary)
        import llguidance.hf

        return LarkProcessor(grammar, llguidance.hf.from_tokenizer(tokenizer, vocabulary))
    except ImportError as error:
        extra = "xgrammar" if grammar.target == "structural_tag" else "llguidance"
        raise SourceError(
            f"a grammar for {grammar.target} needs {extra}: pip install streamparse-llm[{extra}]"
        ) from error


def _xgrammar_processor(grammar: Grammar, tokenizer: Any, vocabulary: int | None) -> Any:
    xgrammar, processors = import_module("xgrammar"), import_module("xgrammar.contrib.hf")
    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocabulary)
    return processors.LogitsProcessor(xgrammar.GrammarCompiler(info).compile_structural_tag(grammar.text))


class LarkProcessor:
    """Masks scores by a grammar in Lark; called by ``generate()`` before each token, with all ids so far.

    ``tokens`` is an ``llguidance.LLTokenizer``. What is there at the first call is the prompt.
    """

    def __init__(self, grammar: Grammar, tokens: Any) -> None:
        import llguidance
        import llguidance.numpy

        self._fill = llguidance.numpy.fill_next_token_bitmask
        self._matcher = llguidance.LLMatcher(tokens, grammar.text)
        if problem := self._matcher.get_error():
            raise SourceError(f"llguidance refuses the grammar: {problem}")
        self._mask = llguidance.numpy.allocate_token_bitmask(1, tokens.vocab_size)
        self._ends: Collection[int] = [tokens.eos_token]
        self._seen: int | None = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Take the ids of one sequence and the scores of its next token; give the scores of those that are allowed."""
        if len(input_ids) != 1:
            raise SourceError(f"a grammar holds for one sequence, and there are {len(input_ids)}")
        ids = input_ids[0].tolist() if hasattr(input_ids[0], "tolist") else list(input_ids[0])
        if self._seen is not None:
            self.advance(ids[self._seen :])
        self._seen = len(ids)
        forbidden = self.forbidden(scores.shape[-1])
        if type(scores).__module__.startswith("torch"):
            return scores.masked_fill(import_module("torch").from_numpy(forbidden).to(scores.device), float("-inf"))
        masked = scores.copy()
        masked[:, forbidden] = float("-inf")
        return masked

    def advance(self, ids: Sequence[int]) -> None:
        """Take in tokens that were chosen; raises SourceError for one that was not allowed."""
        for token in ids:
            if token not in self._ends and not self._matcher.consume_token(token):
                raise SourceError(f"token {token} is not in the grammar: {self._matcher.get_error() or 'it has ended'}")

    def forbidden(self, count: int) -> Any:
        """Tell for each of so many tokens whether it is forbidden next, as an array of truth values."""
        import numpy as np

        if self._matcher.is_stopped():
            allowed = np.zeros(count, dtype=bool)
            allowed[[*self._ends]] = True
            return ~allowed
        self._fill(self._matcher, self._mask, 0)
        bits = np.unpackbits(self._mask.view(np.uint8), bitorder="little").astype(bool)
        return ~np.pad(bits, (0, max(0, count - len(bits))))[:count]
