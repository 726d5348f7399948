"""Where a chat template reads the reasoning of earlier answers.

In:  a chat template.
Out: the key of a message (``reasoning_content``, ``reasoning``, ``thinking``), or ``part:`` and the type of a part.

Clients send reasoning back under whatever name they got it; gpt-oss reads ``thinking``, most templates
``reasoning_content``, Ministral's a part of the content.
"""

from __future__ import annotations

from streamparse.infer.envelope import find_envelope
from streamparse.infer.errors import InferenceError
from streamparse.infer.phrasing import find_phrasing
from streamparse.infer.reasoning import find_reasoning
from streamparse.infer.render import Renderer
from streamparse.infer.sandbox import Refusal
from streamparse.infer.source import ChatTemplate

DEFAULT = "reasoning_content"


def reasoning_key(source: ChatTemplate) -> str:
    """Give the key under which the template shows reasoning; the most usual one where it shows none.

    >>> reasoning_key(ChatTemplate("{% for m in messages %}<{{ m.role }}>{% if m.thinking %}<think>{{ m.thinking }}"
    ...     "</think>{% endif %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"))
    'thinking'
    """
    try:
        renderer = Renderer(source.text, bos_token=source.bos_token, eos_token=source.eos_token)
        prober = find_phrasing(renderer)
        reasoning, _ = find_reasoning(prober, find_envelope(prober))
    except (InferenceError, Refusal):
        return DEFAULT
    return reasoning.key or DEFAULT
