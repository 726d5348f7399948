"""The parts of a request's body, read one by one, or an error that names the part at fault.

In:  JSON objects that a client sent.
Out: values of the type that a part has to have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from streamparse.adapters.serve.errors import RequestError

Value = TypeVar("Value")

_NAMES: dict[Any, str] = {str: "a string", bool: "true or false", list: "an array", dict: "an object", int: "a number"}


def optional(data: Mapping[str, Any], key: str, kind: type[Value], where: str = "") -> Value | None:
    """Give a part, None where it is absent or null; raises RequestError where it is of another type.

    >>> optional({"a": "x"}, "a", str), optional({}, "a", str)
    ('x', None)
    """
    value = data.get(key)
    if value is None or isinstance(value, kind):
        return value
    raise _wrong(f"{where}{key} must be {_NAMES[kind]}", f"{where}{key}")


def needed(data: Mapping[str, Any], key: str, kind: type[Value], where: str = "") -> Value:
    """Give a part; raises RequestError where it is absent or of another type.

    >>> needed({"a": [1]}, "a", list)
    [1]
    """
    value = optional(data, key, kind, where)
    if value is None:
        raise _wrong(f"{where}{key} is missing", f"{where}{key}")
    return value


def objects(data: Mapping[str, Any], key: str, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the objects of a list, each with where it is; none where there is no list.

    >>> list(objects({"a": [{"b": 1}]}, "a"))
    [('a[0].', {'b': 1})]
    """
    for index, value in enumerate(optional(data, key, list, where) or []):
        if not isinstance(value, dict):
            raise _wrong(f"{where}{key}[{index}] must be an object", f"{where}{key}[{index}]")
        yield f"{where}{key}[{index}].", value


def unsupported(name: str, reason: str) -> RequestError:
    """Give the error of a part that can't be kept."""
    return RequestError(400, f"{name} can't be kept: {reason}", param=name, code="unsupported")


def _wrong(text: str, param: str) -> RequestError:
    return RequestError(400, text, param=param)
