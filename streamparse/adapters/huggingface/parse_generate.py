"""One call from a conversation to events: ``parse_generate``.

In:  a model and a tokenizer of transformers, and the messages so far.
Out: a ``ParseStream``: the events of the answer while the model writes it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from streamparse.adapters.huggingface.constrained import grammar_processor
from streamparse.adapters.huggingface.finish import Ending
from streamparse.adapters.huggingface.prompt import chat_prompt
from streamparse.adapters.huggingface.stop_text import StopText, stop_strings_in
from streamparse.adapters.huggingface.token_streamer import AHEAD, TokenStreamer
from streamparse.arguments import ErrorMode
from streamparse.errors import SourceError
from streamparse.grammar import Grammar
from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.stream import ParseStream, parse_stream
from streamparse.template import TemplateSource
from streamparse.tokens.tokenizer import decode_prefix


def parse_generate(
    model: Any,
    tokenizer: Any,
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Sequence[Any] | None = None,
    template: TemplateSource | None = None,
    chat_template: str | None = None,
    chat_template_kwargs: Mapping[str, Any] | None = None,
    errors: ErrorMode = "report",
    deltas: bool = False,
    spans: bool = False,
    call_ids: bool = False,
    without: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    ahead: int = AHEAD,
    stop_strings: str | Sequence[str] | None = None,
    grammar: Grammar | None = None,
    **generate_arguments: Any,
) -> ParseStream:
    """Have a Hugging Face model answer a conversation; iterate over the result for events.

    ``messages`` and ``tools`` go through the tokenizer's chat template (``chat_template`` in place of its own, with
    ``chat_template_kwargs``), with a generation prompt; where the last message is an assistant's, it is continued. The
    prompt is the parser's prefix. ``template`` is the response template; without it the tokenizer's own
    ``response_template`` is used, or else one is inferred from the chat template (``infer_response_template``).

    ``generate_arguments`` are those of ``model.generate``: ``max_new_tokens``, ``do_sample``, ``generation_config``,
    ``stopping_criteria`` and so on. It runs in a thread, at most ``ahead`` tokens ahead of the reader. Besides what
    the model's config says, the tokenizer's ``eos_token_id`` ends a turn. The other arguments are those of
    ``parse_stream``; delimiters are recognized by token, and ``spans`` count tokens too.

    ``stop_strings`` end the generation where the model has written one of them, anywhere, a tool call included. The
    text is left out of the message, with all behind it, as completion servers do with ``stop``; ``finish_reason`` is
    ``"stop"``. The parser gets text then, as a stop string may end within a token, so delimiters are recognized by
    their text, and ``spans`` count characters only.

    ``grammar`` keeps the model within what ``to_grammar`` wrote for ``"lark"`` or ``"structural_tag"``; its masks need
    the extra ``llguidance`` or ``xgrammar``.

    The stream ends and is closed as any ``ParseStream``: after ``async with``, ``aclose()`` or a cancellation the model
    has stopped, after the token that it was writing. (One step of the model can't be interrupted: where it takes
    longer than ``streamparse.graph.cleanup.CLOSING_SECONDS``, as a long prompt may, closing raises SourceError and the
    step runs to its end.) The ``message`` event says ``"stop"``, ``"length"`` or, where that isn't known, None.

    Raises what ``parse_stream`` raises for its arguments, PrefixError for a batch of conversations, and what the chat
    template raises; what ``generate()`` raises is raised to the reader as SourceError, with its cause::

        async with parse_generate(model, tokenizer, messages, tools=tools, max_new_tokens=500) as events:
            async for event in events:
                ...
    """
    if "streamer" in generate_arguments:
        raise SourceError("parse_generate brings a streamer of its own; for another one use text_source")
    switches = dict(chat_template_kwargs or {})
    if template is None:
        template = _template_of(tokenizer, chat_template, switches)
    prompt = chat_prompt(
        tokenizer,
        messages,
        tools=tools,
        chat_template=chat_template,
        options=switches,
        device=getattr(model, "device", None),
    )
    stops = stop_strings_in(stop_strings)
    if stops:
        generate_arguments = {"tokenizer": tokenizer, **generate_arguments, "stop_strings": list(stops)}
    arguments = {**_end_of_turn(model, tokenizer, generate_arguments), **generate_arguments}
    streamer = TokenStreamer(ahead=ahead, ending=Ending.of(model, arguments))
    arguments["stopping_criteria"] = [*(arguments.get("stopping_criteria") or ()), streamer.stop]
    if grammar is not None:
        masks = grammar_processor(grammar, tokenizer, _vocabulary(model))
        arguments["logits_processor"] = [*(arguments.get("logits_processor") or ()), masks]
    generate = partial(model.generate, **{**prompt.inputs, **arguments}, streamer=streamer)
    return parse_stream(
        streamer.source(generate),
        template,
        prefix=decode_prefix(tokenizer, prompt.ids) if stops else prompt.ids,
        tools=tools,
        errors=errors,
        tokenizer=None if stops else tokenizer,
        input_stages=[StopText(tokenizer, stops)] if stops else (),
        deltas=deltas,
        spans=spans,
        call_ids=call_ids,
        without=without,
        limits=limits,
    )


def _vocabulary(model: Any) -> int | None:
    """How many scores a model gives."""
    config = getattr(model, "config", None)
    count = getattr(config, "vocab_size", None) or getattr(getattr(config, "text_config", None), "vocab_size", None)
    return count if isinstance(count, int) else None


def _template_of(tokenizer: Any, chat_template: str | None, switches: Mapping[str, Any]) -> TemplateSource:
    """The tokenizer's response template, or the one that the chat template implies."""
    own: TemplateSource | None = getattr(tokenizer, "response_template", None)
    if own is not None and chat_template is None:
        return own
    from streamparse.infer import infer_response_template  # it needs Jinja, which is an extra

    return infer_response_template(
        tokenizer if chat_template is None else chat_template,
        bos_token=getattr(tokenizer, "bos_token", None),
        eos_token=getattr(tokenizer, "eos_token", None),
        chat_template_kwargs=switches,
    ).to_use()


def _end_of_turn(model: Any, tokenizer: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The argument that has the tokenizer's end of turn end the generation too, where the model's config forgets it."""
    eos = getattr(tokenizer, "eos_token_id", None)
    known = Ending.of(model, arguments).eos
    if eos is None or eos in known or "eos_token_id" in arguments:
        return {}
    return {"eos_token_id": sorted({eos, *known})}
