"""The special tokens of a model that its chat template writes, read from the files of its tokenizer.

In:  a model's folder, or the file of its chat template.
Out: the texts of these tokens, for servers that have to be told which to keep (llama.cpp).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any


def special_tokens_of(path: Path, chat_template: str) -> list[str]:
    """Give the added tokens of ``tokenizer.json`` and ``tokenizer_config.json`` that stand in the chat template."""
    folder = path if path.is_dir() else path.parent
    texts = {text for name in ("tokenizer.json", "tokenizer_config.json") for text in _added_tokens(folder / name)}
    return sorted(text for text in texts if text and text in chat_template)


def _added_tokens(file: Path) -> Iterator[str]:
    data: Any = {}
    with suppress(OSError, ValueError, RecursionError):  # the tokens are of use, not needed
        data = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(data, dict):
        return
    listed, by_id = data.get("added_tokens"), data.get("added_tokens_decoder")
    tokens = [*(listed if isinstance(listed, list) else ()), *(by_id.values() if isinstance(by_id, dict) else ())]
    for token in tokens:
        if isinstance(token, dict) and isinstance(token.get("content"), str):
            yield token["content"]
