"""What the fuzzer attacks: each target draws an input and sees that the library keeps to its documentation.

In: a Hypothesis ``data`` object. Out: nothing, or a :class:`stress.oracle.Find`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from streamparse import (
    Limits,
    ResponseParser,
    ResponseTemplate,
    StreamparseError,
    get_response_template,
    infer_response_template,
    load_response_template,
)
from streamparse.encode import encode_event
from streamparse.infer.meter import RenderLimits
from streamparse.stages.content import CONTENT_PARSERS, check_content, prepare_content
from streamparse.stages.schema_typing import ToolSchemas
from stress import inputs
from stress.oracle import Find, checked

Target = Callable[[st.DataObject], None]

QUICK = Limits(pattern_seconds=0.5, pattern_steps=200_000)
TOOLS = [{"name": "f", "parameters": {"properties": {"a": {"type": "integer"}, "c": {"type": "array"}}}}]

names = st.sampled_from(inputs.NAMES)
modes = st.sampled_from(["strict", "report", "repair"])
sizes = st.sampled_from([1, 3, 50, 10**9])


def in_pieces(data: Any, size: int) -> list[Any]:
    """A text, bytes or a list of token ids, cut."""
    return [data[at : at + size] for at in range(0, len(data), size)]


def options(draw: Callable[..., Any]) -> dict[str, Any]:
    """Options of a parser."""
    flags: dict[str, Any] = {name: draw(st.booleans()) for name in ("deltas", "spans", "call_ids")}
    return {**flags, "errors": draw(modes), "tools": draw(st.sampled_from([None, TOOLS])), "limits": QUICK}


def fed(parser: ResponseParser, pieces: list[Any]) -> list[Any]:
    """The events of all pieces and of the end, each as it would be sent."""
    events = [event for piece in pieces for event in parser.feed(piece)]
    message, last = parser.finalize()
    encode_event({"type": "message", "message": message})
    for event in [*events, *last]:
        encode_event(event)
    return [*events, *last]


def parsing(data: st.DataObject) -> None:
    """Bundled templates, any text, in pieces of text, bytes and token ids."""
    name = data.draw(names)
    text = data.draw(inputs.texts(name))
    kind, size, chosen = data.draw(st.sampled_from(["text", "bytes", "ids"])), data.draw(sizes), options(data.draw)
    whole: Any = text
    if kind == "bytes":
        whole = text.encode("utf-8", "surrogatepass")
    elif kind == "ids":
        whole = inputs.byte_tokenizer().encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False).ids
        chosen["tokenizer"] = inputs.byte_tokenizer()
    prefix = data.draw(st.sampled_from(["", "<|im_start|>assistant\n<think>\n"]) | inputs.texts(name))

    def parse() -> list[dict[str, Any]]:
        return fed(ResponseParser(name, prefix, **chosen), in_pieces(whole, size))

    events = checked(parse, len(text) + len(prefix))
    if events is None and chosen["errors"] != "strict" and "1" * 5000 not in text and len(text) < 1000:
        raise Find("a lenient mode raised an error for a short text")


def templates(data: st.DataObject) -> None:
    """Response templates that are damaged, and what is parsed with those that load."""
    name = data.draw(names)
    source = data.draw(inputs.damaged(get_response_template(name).source))
    text, chosen, size = data.draw(inputs.texts(name)), options(data.draw), data.draw(sizes)
    template = checked(lambda: load_response_template(source), 2_000)
    if isinstance(template, ResponseTemplate):
        checked(lambda: fed(ResponseParser(template, "", **chosen), in_pieces(text, size)), len(text), seconds=15)


def delimiters(data: st.DataObject) -> None:
    """Patterns of all kinds as delimiters and as anchors."""
    open_pattern, close_pattern, anchor = (data.draw(inputs.patterns) for _ in range(3))
    field = {"open_pattern": open_pattern, "close_pattern": close_pattern}
    source = {"start_anchor_pattern": anchor, "fields": {"content": {}, "x": field}}
    text = "".join(
        data.draw(st.lists(st.sampled_from(["a", "b", "<", ">", " ", "a" * 50, "ab" * 30, "\n"]), max_size=12))
    )
    chosen, size = options(data.draw), data.draw(sizes)
    template = checked(lambda: load_response_template(source), 2_000)
    if isinstance(template, ResponseTemplate):
        checked(lambda: fed(ResponseParser(template, text, **chosen), in_pieces(text, size)), len(text), seconds=15)


def content(data: st.DataObject) -> None:
    """Content parsers with any arguments and any text."""
    parser = data.draw(st.sampled_from([*CONTENT_PARSERS]))
    given = data.draw(inputs.arguments)
    text = data.draw(inputs.texts("qwen3_5"))
    faults, _ = checked(lambda: check_content(parser, given, "x"), 1_000) or ([], [])
    if not faults:
        for keep_source in (False, True):
            parse = prepare_content(parser, given, limits=QUICK, keep_source=keep_source)
            checked(lambda parse=parse: parse(text), len(text))  # type: ignore[misc]


def schemas(data: st.DataObject) -> None:
    """Schemas of tools, and values that are cast by them."""
    schema = data.draw(inputs.schemas)
    loop = data.draw(st.booleans())
    if loop and isinstance(schema, dict):
        schema["anyOf"] = [schema, {"items": schema}]
    tools = [{"name": "f", "parameters": {"properties": {"a": schema}, "$defs": {"a": schema}}}]
    values = st.recursive(
        st.sampled_from(["1", "null", "[1]", '{"a": "1"}', "x", 1, None, "1" * 5000, "1e999999999", "[" * 5000]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=3),
        max_leaves=8,
    )
    argument = data.draw(values)

    def cast() -> None:
        known = ToolSchemas.from_tools(tools)
        for lenient in (False, True):
            known.cast(
                {"function": {"name": "f", "arguments": {"a": json.loads(json.dumps(argument))}}}, lenient=lenient
            )

    checked(cast, 1_000)


def snapshots(data: st.DataObject) -> None:
    """Snapshots that are damaged, outside or inside, and parsers that were restored from them."""
    name = data.draw(names)
    text, rest = data.draw(inputs.texts(name)), data.draw(inputs.texts(name))
    chosen = {**options(data.draw), "call_ids": False}  # ids differ from run to run
    parser = ResponseParser(name, "", **chosen)
    try:
        for piece in in_pieces(text, 20):
            parser.feed(piece)
        saved = parser.snapshot(message=data.draw(st.booleans()))
    except StreamparseError:
        return
    if data.draw(st.booleans()):
        saved = inputs.with_checksum(data.draw(inputs.damaged(json.loads(saved))))
    else:
        at = data.draw(st.integers(0, len(saved) - 1))
        saved = (
            saved[:at]
            + data.draw(st.binary(max_size=3))
            + saved[at + data.draw(st.sampled_from([0, 1, 1, 40, 10**6])) :]
        )

    def restore() -> None:
        fed(ResponseParser.restore(saved, name, tools=chosen["tools"], limits=QUICK), in_pieces(rest, 7))

    checked(restore, len(text) + len(rest))


def chat_templates(data: st.DataObject) -> None:
    """Chat templates, damaged and hostile."""
    source = data.draw(inputs.jinja())
    checked(lambda: infer_response_template(source), len(source), seconds=10 + 2 * RenderLimits().seconds)


TARGETS: dict[str, Target] = {
    target.__name__.replace("_", "-"): target
    for target in (parsing, templates, delimiters, content, schemas, snapshots, chat_templates)
}
