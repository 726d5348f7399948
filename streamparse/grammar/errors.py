"""The error of grammars."""

from __future__ import annotations

from streamparse.errors import StreamparseError


class GrammarError(StreamparseError, ValueError):
    """There is no grammar for what was asked: a tool that the format can't write, or a template without calls."""
