"""The parameter ``response_format`` in the words of each kind of server's raw completions.

In:  the parameter, and the kind of server.
Out: what goes to the upstream for it.

- vLLM reads ``response_format`` at its endpoint of completions as it does at that of chats
  (``vllm/entrypoints/openai/completion/protocol.py``).
- SGLang reads ``json_schema`` there, a schema as text (``python/sglang/srt/entrypoints/openai/protocol.py``).
- llama.cpp passes over ``response_format`` there, and reads ``json_schema`` (``tools/server/README.md``).
- Any other server is given ``response_format`` as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from streamparse.adapters.serve.errors import RequestError

_ANY_OBJECT = {"type": "object"}

_WORDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "sglang": lambda schema: {"json_schema": json.dumps(schema)},
    "llama.cpp": lambda schema: {"json_schema": schema},
    "llama.cpp-native": lambda schema: {"json_schema": schema},
}


def wants_json(response_format: Any) -> bool:
    """Tell whether the answer has to be JSON; raises RequestError for what is no ``response_format``.

    >>> wants_json({"type": "text"}), wants_json({"type": "json_object"})
    (False, True)
    """
    if response_format is None:
        return False
    kind = response_format.get("type") if isinstance(response_format, Mapping) else None
    if kind == "text":
        return False
    if kind == "json_object":
        return True
    held = response_format.get("json_schema") if kind == "json_schema" else None
    if not isinstance(held, Mapping) or not isinstance(held.get("schema", {}), Mapping | bool):
        raise RequestError(
            400,
            "response_format must be of type text, json_object, or json_schema with a schema",
            param="response_format",
        )
    return True


def upstream_parameters(response_format: Mapping[str, Any], server: str) -> dict[str, Any]:
    """Give what a server of this kind reads.

    >>> upstream_parameters({"type": "json_object"}, "llama.cpp")
    {'json_schema': {'type': 'object'}}
    """
    if server not in _WORDS:
        return {"response_format": dict(response_format)}
    held = response_format.get("json_schema")
    schema = held.get("schema", _ANY_OBJECT) if isinstance(held, Mapping) else _ANY_OBJECT
    return _WORDS[server](schema)
