"""The first stage: whatever the source gives becomes text. In: str, UTF-8 bytes, or token ids; out: pieces of str.

Bytes and ids may be cut anywhere: what is not a whole character yet is held. One stream is of one kind throughout;
each kind has its reader.
"""

from __future__ import annotations

import codecs
from typing import Any

from streamparse.errors import SourceError
from streamparse.tokens.decode import IncrementalDecode
from streamparse.tokens.ids import as_ids, holds_ids
from streamparse.tokens.marks import TokenMarks
from streamparse.tokens.offsets import TokenOffsets
from streamparse.tokens.tokenizer import TOKENIZER_MISSING, decode_prefix, load_tokenizer

__all__ = ["MAY_BE_EMPTY", "Detokenizer", "decode_prefix"]


class Detokenizer:
    """Turns the items of a source into text.

    ``tokenizer`` (see `streamparse.tokens.tokenizer`) is needed for token ids only. With ``marks``, text in token ids
    that spells a delimiter's token without being that token comes out marked. With ``offsets=True``, ``offsets`` tells
    which tokens a stretch of the text came from. ``after_text`` says that text has come already.

    >>> detokenizer = Detokenizer()
    >>> detokenizer.feed("삼겹살".encode()[:4]), detokenizer.feed("삼겹살".encode()[4:]), detokenizer.finish()
    (['삼'], ['겹살'], [])
    """

    def __init__(
        self, tokenizer: Any = None, *, marks: TokenMarks | None = None, offsets: bool = False, after_text: bool = False
    ) -> None:
        self._tokenizer = None if tokenizer is None else load_tokenizer(tokenizer)
        self._marks = marks
        self._reader: _TextReader | _BytesReader | _IdReader | None = _TextReader() if after_text else None
        self.offsets: TokenOffsets | None = TokenOffsets() if offsets else None
        """The ledger from characters to tokens; it stays empty unless the source gives token ids."""

    @property
    def tokens(self) -> int | None:
        """How many token ids have been taken, or None if none were."""
        return self._reader.taken if isinstance(self._reader, _IdReader) else None

    @property
    def takes_text(self) -> bool:
        """Whether a piece of text may come: nothing of another kind has."""
        return self._reader is None or self._reader.kind == _TextReader.kind

    @property
    def marked(self) -> bool:
        """Whether any text so far came out marked; while False, there is nothing to unmark."""
        return isinstance(self._reader, _IdReader) and self._reader.marked

    def feed(self, item: Any) -> list[str]:
        """The text that has become certain: no piece or one.

        ``item`` is text, a piece of UTF-8 (bytes, bytearray, memoryview), a token id, or a sequence, an array or a
        tensor of ids. Raises SourceError for an item of another kind than those before it, and for a batch.
        """
        reader = self._reader
        if reader is None or type(item) not in reader.types:
            if isinstance(item, MAY_BE_EMPTY) and not item:
                return []
            reader = self._reader_for(item)
        text = reader.read(item)
        return [text] if text else []

    def finish(self) -> list[str]:
        """The text of what was held for more to come: U+FFFD for a character that was cut off."""
        text = "" if self._reader is None else self._reader.finish()
        return [text] if text else []

    def snapshot(self) -> dict[str, Any]:
        """The stage's state as plain data; small, whatever has gone through."""
        return {
            "kind": None if self._reader is None else self._reader.kind,
            "reader": None if self._reader is None else self._reader.snapshot(),
            "offsets": None if self.offsets is None else self.offsets.snapshot(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where a snapshot was taken; the tokenizer and the marks must be those of then."""
        if self.offsets is not None and state["offsets"] is not None:
            self.offsets.restore(state["offsets"])
        self._reader = None
        if state["kind"] is not None:
            self._reader = self._new_reader(state["kind"])
            self._reader.restore(state["reader"])

    def _reader_for(self, item: Any) -> _TextReader | _BytesReader | _IdReader:
        """The reader of the stream, which the first item decides on."""
        kind = _kind_of(item)
        if self._reader is None:
            self._reader = self._new_reader(kind)
        elif self._reader.kind != kind:
            raise SourceError(f"the source gave {kind} after {self._reader.kind}: a stream is of one kind throughout")
        return self._reader

    def _new_reader(self, kind: str) -> _TextReader | _BytesReader | _IdReader:
        if kind == _TextReader.kind:
            return _TextReader()
        if kind == _BytesReader.kind:
            return _BytesReader()
        if self._tokenizer is None:
            raise SourceError(TOKENIZER_MISSING)
        return _IdReader(self._tokenizer, self._marks, self.offsets)


class _TextReader:
    """Text is text already."""

    kind = "text"
    types = (str,)

    def read(self, item: str) -> str:
        return item

    def finish(self) -> str:
        return ""

    def snapshot(self) -> None:
        return None

    def restore(self, state: None) -> None:
        pass


class _BytesReader:
    """UTF-8 cut anywhere; invalid bytes become U+FFFD as in ``bytes.decode(errors="replace")``."""

    kind = "bytes"
    types = (bytes, bytearray, memoryview)

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read(self, item: bytes | bytearray | memoryview) -> str:
        return self._decoder.decode(bytes(item))

    def finish(self) -> str:
        return self._decoder.decode(b"", final=True)

    def snapshot(self) -> str:
        return self._decoder.getstate()[0].hex()

    def restore(self, state: str) -> None:
        self._decoder.setstate((bytes.fromhex(state), 0))


class _IdReader:
    """Token ids, decoded as they arrive, with look-alikes marked and the ledger kept."""

    kind = "token ids"
    types = (int, list)

    def __init__(self, tokenizer: Any, marks: TokenMarks | None, offsets: TokenOffsets | None) -> None:
        self._decode = IncrementalDecode(tokenizer)
        self._marks = marks
        self._offsets = offsets
        self._ordinary = ""  # the ordinary text right before, as far as a look-alike could have begun in it
        self.taken = 0
        self.marked = False

    def read(self, item: Any) -> str:
        if type(item) is int and item >= 0:
            return self._next(item)
        return "".join([self._next(token_id) for token_id in as_ids(item)])

    def finish(self) -> str:
        return self._given(None, self._decode.finish())

    def snapshot(self) -> dict[str, Any]:
        return {
            "decode": self._decode.snapshot(),
            "ordinary": self._ordinary,
            "taken": self.taken,
            "marked": self.marked,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._decode.restore(state["decode"])
        self._ordinary, self.taken, self.marked = state["ordinary"], state["taken"], state["marked"]

    def _next(self, token_id: int) -> str:
        """The text that one id completes."""
        text = self._decode.step(token_id)
        self.taken += 1
        return self._given(token_id, text) if text else ""

    def _given(self, token_id: int | None, text: str) -> str:
        """The text as it is given out, noted in the ledger; ``token_id`` is the id that completed it, if one did."""
        if self._marks is not None and text:
            text = self._with_marks(self._marks, token_id, text)
        if self._offsets is not None and text:
            self._offsets.add(self.taken - self._decode.held - self._offsets.tokens, len(text))
        return text

    def _with_marks(self, marks: TokenMarks, token_id: int | None, text: str) -> str:
        """The text with look-alikes marked; a watched token's own text, at its end, stays."""
        own = "" if token_id is None else marks.texts.get(token_id, "")
        is_token = own != "" and text.endswith(own)
        ordinary = text[: -len(own)] if is_token else text
        given = marks.mark(ordinary, self._ordinary)
        if given != ordinary:
            self.marked = True
        if is_token:
            self._ordinary = ""
            return given + own
        self._ordinary = (self._ordinary + ordinary)[-marks.reach :]
        return given


MAY_BE_EMPTY = (str, bytes, bytearray, memoryview, list, tuple)
"""Pieces of these types that are empty hold nothing, and are of no kind yet."""


def _kind_of(item: Any) -> str:
    """The kind of stream that an item belongs to."""
    for reader in (_TextReader, _BytesReader):
        if isinstance(item, reader.types):
            return reader.kind
    if holds_ids(item):
        return _IdReader.kind
    raise SourceError(f"a source gives text, UTF-8 bytes or token ids, not {type(item).__name__}")
