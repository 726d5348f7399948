"""What a completion server is sent so that a model can write only calls that parse.

In:  a kind of server, a template, the tools, and a request's options in the words of OpenAI's API.
Out: the fields of the request to the upstream; none where nothing has to be forced.

A grammar is sent where a request relies on one: a forced ``tool_choice``, a tool with ``"strict": true``,
``parallel_tool_calls: false``, or an answer by a schema beside tools. Each server has its own field for it:

- llama.cpp (``tools/server/README.md``): ``grammar`` in GBNF; with ``grammar_lazy`` it holds from a trigger on, and
  ``preserved_tokens`` are not left out of the text.
- vLLM (``vllm/entrypoints/openai/completion/protocol.py``): ``structured_outputs`` with a ``structural_tag`` as text.
- SGLang (``python/sglang/srt/entrypoints/openai/protocol.py``): ``response_format`` of the type ``structural_tag``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamparse.errors import ArgumentError
from streamparse.grammar import Grammar, to_grammar
from streamparse.grammar.grammar import Target
from streamparse.template import TemplateSource

WORD = 1
"""The number of llama.cpp's ``COMMON_GRAMMAR_TRIGGER_TYPE_WORD``."""


@dataclass(frozen=True, slots=True)
class Constraining:
    """How a kind of server is given a grammar: the target, and the fields of the request."""

    target: Target
    fields: Callable[[Grammar], dict[str, Any]]


def constraint(
    server: str,
    template: TemplateSource,
    tools: Sequence[Any],
    *,
    prefix: str | None = None,
    tool_choice: Any = None,
    parallel_tool_calls: bool | None = None,
    response_format: Any = None,
) -> dict[str, Any]:
    """Give the fields of an upstream request that hold a model to what was asked.

    ``server`` is a name of ``streamparse.adapters.openai.servers.SERVERS``. ``prefix`` is the prompt. Raises
    ArgumentError where a server of that kind has no field for a grammar, and what ``to_grammar`` raises.

    >>> tools = [{"type": "function", "function": {"name": "now"}}]
    >>> constraint("vllm", "qwen3", tools)
    {}
    >>> sorted(constraint("llama.cpp", "qwen3", tools, tool_choice="required"))
    ['grammar', 'preserved_tokens']
    """
    if not needs_grammar(tools, tool_choice, parallel_tool_calls, response_format):
        return {}
    kind = CONSTRAINING.get(server)
    if kind is None:
        known = ", ".join(CONSTRAINING)
        raise ArgumentError(f"no field of {server!r} takes a grammar; the servers that have one are {known}")
    grammar = to_grammar(
        template,
        tools,
        target=kind.target,
        tool_choice="auto" if tool_choice is None else tool_choice,
        parallel=parallel_tool_calls is not False,
        response_format=response_format,
        prefix=prefix,
    )
    return kind.fields(grammar)


def needs_grammar(
    tools: Sequence[Any], tool_choice: Any, parallel_tool_calls: bool | None, response_format: Any
) -> bool:
    """Tell whether a request relies on what only a grammar can keep.

    >>> needs_grammar([{"name": "f"}], "auto", None, None), needs_grammar([{"name": "f"}], "auto", False, None)
    (False, True)
    """
    if not tools or tool_choice == "none":
        return False
    if tool_choice not in (None, "auto"):
        return True
    if parallel_tool_calls is False or any(map(_is_strict, tools)):
        return True
    return isinstance(response_format, Mapping) and response_format.get("type") in ("json_schema", "json_object")


def _is_strict(tool: Any) -> bool:
    function = tool.get("function", tool) if isinstance(tool, Mapping) else {}
    return isinstance(function, Mapping) and function.get("strict") is True


def _llama_cpp(grammar: Grammar) -> dict[str, Any]:
    fields: dict[str, Any] = {"grammar": grammar.text, "preserved_tokens": list(grammar.preserved_tokens)}
    if grammar.lazy:
        fields["grammar_lazy"] = True
        fields["grammar_triggers"] = [{"type": WORD, "value": trigger} for trigger in grammar.triggers]
    return fields


def _vllm(grammar: Grammar) -> dict[str, Any]:
    return {"structured_outputs": {"structural_tag": grammar.text}}


def _sglang(grammar: Grammar) -> dict[str, Any]:
    return {"response_format": grammar.value}


CONSTRAINING: dict[str, Constraining] = {
    "llama.cpp": Constraining("gbnf", _llama_cpp),
    "llama.cpp-native": Constraining("gbnf", _llama_cpp),
    "vllm": Constraining("structural_tag", _vllm),
    "sglang": Constraining("structural_tag", _sglang),
}
