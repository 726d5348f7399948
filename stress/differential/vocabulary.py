"""``python -m stress.differential.vocabulary PACKAGE FOLDER``: the vocabulary file that openai-harmony wants.

In: the unpacked npm package js-tiktoken, which carries the vocabulary in a form of its own. Out: the same in tiktoken's
form, as ``o200k_base.tiktoken``; openai-harmony checks its hash.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def write_vocabulary(package: Path, folder: Path) -> None:
    """Lines of ``! first-number token token …`` become lines of ``token number``."""
    source = (package / "dist" / "ranks" / "o200k_base.js").read_text(encoding="utf-8")
    found = re.search(r'bpe_ranks"?\s*[:=]\s*"((?:[^"\\]|\\.)*)"', source)
    assert found is not None, "the package has another form"
    ranks: list[tuple[int, str]] = []
    for line in found[1].replace("\\n", "\n").splitlines():
        _, first, *tokens = line.split(" ")
        ranks += enumerate(tokens, int(first))
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{token} {rank}\n" for rank, token in sorted(ranks))
    (folder / "o200k_base.tiktoken").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_vocabulary(Path(sys.argv[1]), Path(sys.argv[2]))
