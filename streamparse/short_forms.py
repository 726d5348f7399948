"""Whole outputs in one call, and a tokenizer's own parser: the short forms of ``ResponseParser``.

In: outputs (text or token ids, one or a batch), or a tokenizer. Out: messages, or a parser. Both have the interface of
their namesakes in transformers (``transformers.utils.chat_parsing``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from streamparse.arguments import ErrorMode, as_text, template_for
from streamparse.batches import as_batch, prefixes_for
from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.parser import ResponseParser
from streamparse.template import TemplateSource, load_response_template


def parse_response(
    text: Any,
    response_template: TemplateSource | None = None,
    *,
    prefix: Any = None,
    tools: Sequence[Any] | None = None,
    errors: ErrorMode = "strict",
    tokenizer: Any = None,
    without: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Any:
    """Parse whole outputs: one gives its message, a batch gives a list of messages.

    ``text`` is a text, or, with ``tokenizer``, token ids (a list, an array, a tensor); a list of texts, a list of lists
    of ids, or a two-dimensional array is a batch. ``prefix`` is one prompt for all, or a list of as many as there are
    outputs. Without a template the tokenizer's own is used. Raises like :class:`ResponseParser`.

    >>> parse_response("<think>Hm.</think>Hi", "qwen3", prefix="")
    {'role': 'assistant', 'reasoning_content': 'Hm.', 'content': 'Hi'}
    >>> parse_response(["a", "b"], "qwen3", prefix="")
    [{'role': 'assistant', 'content': 'a'}, {'role': 'assistant', 'content': 'b'}]
    """
    template = load_response_template(template_for(response_template, tokenizer))
    outputs, batched = as_batch(text)
    prefixes = [None] * len(outputs) if prefix is None else prefixes_for(prefix, len(outputs))
    messages = []
    for output, prompt in zip(outputs, prefixes, strict=True):
        parser = ResponseParser(
            template,
            prefix=None if prompt is None else as_text(prompt, tokenizer),
            tools=tools,
            errors=errors,
            tokenizer=None if isinstance(output, str) else tokenizer,
            without=without,
            limits=limits,
        )
        parser.feed(output)
        messages.append(parser.finalize()[0])
    return messages if batched else messages[0]


def get_response_parser(
    tokenizer: Any,
    response_template: TemplateSource | None = None,
    *,
    prefix: Any = None,
    tools: Sequence[Any] | None = None,
    **options: Any,
) -> ResponseParser:
    """A parser with the tokenizer's own ``response_template``, as the tokenizer's method of that name in transformers.

    It takes text, as that one does; ``prefix`` may be text or token ids. ``options`` are those of
    :class:`ResponseParser`; with ``tokenizer=`` among them the parser takes token ids instead of text.
    """
    text = None if prefix is None else as_text(prefix, tokenizer)
    return ResponseParser(template_for(response_template, tokenizer), prefix=text, tools=tools, **options)
