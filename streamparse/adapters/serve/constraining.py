"""Whether the upstream is held to a request by a grammar, and the fields that say so.

In:  a checked request, the kind of server, the response template, and the prompt.
Out: the fields of the upstream request; None where no grammar is sent.

A grammar goes to servers that take one, for a forced ``tool_choice``, for tools with ``"strict": true``, for
``parallel_tool_calls: false``, and for a ``response_format`` beside tools. None is sent where the request has a grammar
of its own, where the prompt already ends inside a call, and where the response template's format can't be written as
one. What then happens is up to ``beginning``.
"""

from __future__ import annotations

from typing import Any

from streamparse.adapters.openai.constraint import CONSTRAINING, constraint
from streamparse.adapters.serve.request import ChatRequest
from streamparse.errors import ArgumentError
from streamparse.grammar import GrammarError
from streamparse.template import ResponseTemplate

_OF_THE_CLIENT = frozenset(
    {"grammar", "grammar_lazy", "grammar_triggers", "json_schema"}  # llama.cpp
    | {"structured_outputs", "guided_json", "guided_regex", "guided_choice", "guided_grammar"}  # vLLM
    | {"regex", "ebnf", "structural_tag"}  # SGLang
)
"""Parameters by which a client holds the model to something itself; servers take one grammar."""


def takes_grammar(server: str) -> bool:
    """Tell whether servers of this kind take a grammar.

    >>> takes_grammar("vllm"), takes_grammar("openai")
    (True, False)
    """
    return server in CONSTRAINING


def grammar_fields(request: ChatRequest, server: str, template: ResponseTemplate, prompt: str) -> dict[str, Any] | None:
    """Give the fields that hold the upstream to the request, None where nothing has to be held or nothing can."""
    if not takes_grammar(server) or not _OF_THE_CLIENT.isdisjoint(request.parameters):
        return None
    try:
        fields = constraint(
            server,
            template,
            request.tool_choice.tools,
            prefix=prompt,
            tool_choice=_choice(request),
            parallel_tool_calls=not request.one_call,
            response_format=request.json,
        )
    except (GrammarError, ArgumentError):  # the latter for a schema that is none
        return None
    return fields or None


def _choice(request: ChatRequest) -> Any:
    choice = request.tool_choice
    if not choice.forced:
        return "auto" if choice.tools else "none"
    return "required" if choice.name is None else {"type": "function", "function": {"name": choice.name}}
