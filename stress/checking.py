"""Whether what a grammar allows is what its template reads: one text at a time.

In: a template, the tools, a grammar and a text of it. Out: what is wrong with the calls that the parser finds in it, or
None. A call is right where it is one of the given tools and its arguments fit the tool's schema, but for the keywords
that the grammar says it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import jsonschema

from streamparse import ResponseParser, ResponseTemplate
from streamparse.grammar import Grammar
from streamparse.grammar.derived import ways_of
from streamparse.grammar.forms import usual_text
from streamparse.matching import syntax


@lru_cache(maxsize=256)
def prompt_of(template: ResponseTemplate) -> str:
    """The end of a prompt: what the template takes for the beginning of an answer."""
    anchor = template.source.get("start_anchor")
    if anchor is not None:
        return anchor if isinstance(anchor, str) else str(anchor[0])
    return usual_text(next(iter(ways_of(syntax.parse(template.source["start_anchor_pattern"])))))


def fault_in(
    template: ResponseTemplate, tools: list[dict[str, Any]], grammar: Grammar, text: str, *, calls: bool
) -> str | None:
    """What is wrong with a text; ``calls`` says that it has to have one."""
    parser = ResponseParser(template, prompt_of(template), tools=tools, errors="report")
    parser.feed(text)
    message, _ = parser.finalize("stop")
    # A grammar lets free text be any text, and so also a mark that delimits nothing there, which the parser drops.
    problems = [problem for problem in parser.problems if problem["type"] != "region_unclaimed"]
    if problems:
        return f"the parser has problems: {problems}"
    found = message.get("tool_calls") or []
    if calls and not found:
        return "there is no call"
    for call in found if isinstance(found, list) else [found]:
        function = call["function"]
        if (fault := _fault_of(function["name"], function.get("arguments"), tools, grammar)) is not None:
            return fault
    return None


def _fault_of(name: str, arguments: Any, tools: Iterable[Mapping[str, Any]], grammar: Grammar) -> str | None:
    schemas = {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in tools}
    if name not in schemas:
        return f"there is no tool {name!r}"
    left_out = {keyword for relaxed in grammar.relaxed for keyword in relaxed.keyword.partition(":")[0].split(", ")}
    validator = jsonschema.Draft202012Validator(
        without(schemas[name], left_out), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    faults = [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(arguments)
    ]
    return f"arguments of {name}: {faults[0]}" if faults else None


def without(schema: Any, keywords: Iterable[str]) -> Any:
    """A schema without some keywords, at any depth; ``nullable``, which JSON Schema doesn't know, becomes a type."""
    if isinstance(schema, list):
        return [without(item, keywords) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: without(value, keywords) for key, value in schema.items() if key not in keywords}
    if result.get("nullable") is True and isinstance(result.get("type"), str):
        result["type"] = [result["type"], "null"]
    return result
