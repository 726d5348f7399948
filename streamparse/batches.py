"""One output of a model or a batch of them, as text or as token ids: which it is, and which prefix goes with each.

The rules are those of ``parse_response`` of transformers' tokenizers. One output is a text, or ids in one dimension; a
batch is a list of texts, a list of sequences of ids, or an array or a tensor in two dimensions. The ids are not decoded
here: ids say more than their text does (see `streamparse.tokens.marks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.errors import PrefixError, SourceError
from streamparse.tokens.ids import as_ids

Output = str | list[int]


def as_batch(outputs: Any) -> tuple[list[Output], bool]:
    """The outputs as a list of texts or of lists of ids, and whether a batch was given rather than one output.

    An empty list is an empty batch. Raises SourceError for anything else.

    >>> as_batch("text"), as_batch([5, 6])
    ((['text'], False), ([[5, 6]], False))
    >>> as_batch(["a", "b"]), as_batch([[5, 6], [7]])
    ((['a', 'b'], True), ([[5, 6], [7]], True))
    """
    if isinstance(outputs, str):
        return [outputs], False
    plain = _plain(outputs)
    if isinstance(plain, list | tuple) and not plain:
        return [], True
    if not _is_batch(plain):
        return [as_ids(plain)], False
    return [item if isinstance(item, str) else as_ids(item) for item in plain], True


def prefixes_for(prefix: Any, outputs: int) -> list[Output]:
    """One prefix for each of so many outputs; a single one goes with all of them, and an empty list means no prefix.

    Raises PrefixError where there are as many prefixes as outputs neither way.

    >>> prefixes_for("<think>", 2), prefixes_for([], 2), prefixes_for([[1], [2]], 2)
    (['<think>', '<think>'], ['', ''], [[1], [2]])
    """
    plain = _plain(prefix)
    if isinstance(plain, list | tuple) and not plain:
        return [""] * outputs
    try:
        prefixes, batched = as_batch(plain)
    except SourceError as error:
        raise PrefixError(f"prefix: {error}") from error
    if not batched:
        return prefixes * outputs
    if len(prefixes) != outputs:
        raise PrefixError(
            f"got {_count(outputs, 'output')} but {_count(len(prefixes), 'prefix')}: "
            "pass a single prefix, which goes with every output, or one for each"
        )
    return prefixes


def _plain(value: Any) -> Any:
    """Arrays and tensors as lists; of what a tokenizer returns for a prompt, the ids."""
    if isinstance(value, Mapping) and "input_ids" in value:
        value = value["input_ids"]
    to_list = getattr(value, "tolist", None)
    return value if to_list is None or isinstance(value, memoryview) else to_list()


def _is_batch(outputs: Any) -> bool:
    """Whether a plain value that isn't empty holds several outputs: texts, or sequences of ids."""
    if not isinstance(outputs, list | tuple):
        return False
    first = _plain(outputs[0])
    return isinstance(first, str | list | tuple)


def _count(number: int, noun: str) -> str:
    """A number with its noun."""
    plural = noun if number == 1 else f"{noun}es" if noun.endswith("x") else f"{noun}s"
    return f"{number} {plural}"
