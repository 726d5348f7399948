"""Prompts of all kinds before a chat template, and what a model would write behind each.

In: a chat template (Jinja). Out: for each conversation, with and without a generation prompt and under every thinking
switch of the template, the prompt, the generations that fit behind it, and the message that each stands for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from streamparse.infer.render import Renderer
from streamparse.infer.sandbox import Refusal

Message = dict[str, Any]

OPENS_REASONING = re.compile(r"<[\w:]*think>\s*$")
FIRST_MARK = re.compile(r"<[^>]*>|\S*")
SWITCHES = (
    *("enable_thinking", "thinking", "thinking_mode", "thinking_option", "thinking_budget", "reasoning_effort"),
    *("preserve_thinking", "clear_thinking", "keep_reasoning"),
)
"""What chat templates call their thinking, when it is for a caller to set."""

SECRETS = ("Wsystemw", "Wquestionw", "Wnextw", "Wearlierw", "Wbeforew", "Wresultw", "wearliertownw")
"""Words that only prompts have."""

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string", "description": "c"}}, "required": ["city"]}
TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "Weather.", "parameters": PARAMETERS}},
    {"type": "function", "function": {"name": "get_time", "description": "Time.", "parameters": PARAMETERS}},
]


def user(text: str = "Wquestionw") -> Message:
    return {"role": "user", "content": text}


def said(content: str = "", reasoning: str = "", calls: int = 0, first: int = 0) -> Message:
    """A turn of the assistant in the history; ``first`` numbers its first call."""
    message: Message = {"role": "assistant", "content": content}
    if reasoning:
        message |= {"reasoning_content": reasoning, "thinking": reasoning, "reasoning": reasoning}
    if calls:
        message["tool_calls"] = [
            _call(f"abcdefgh{at}", "get_time", "wearliertownw") for at in range(first, first + calls)
        ]
    return message


def _call(call_id: str, name: str, city: str) -> Message:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": {"city": city}}}


def results(calls: int, first: int = 0) -> list[Message]:
    return [
        {"role": "tool", "tool_call_id": f"abcdefgh{at}", "name": "get_time", "content": "Wresultw"}
        for at in range(first, first + calls)
    ]


AN_ANSWER = "an answer"
CONVERSATIONS: dict[str, list[Message]] = {
    "a question": [user()],
    "a system message": [{"role": "system", "content": "Wsystemw"}, user()],
    "an answer before": [user(), said("Wearlierw"), user("Wnextw")],
    "a reasoned answer before": [user(), said("Wearlierw", "Wbeforew"), user("Wnextw")],
    "a result": [user(), said(calls=1), *results(1)],
    "a result, with a system message": [{"role": "system", "content": "Wsystemw"}, user(), said(calls=1), *results(1)],
    "content and a result": [user(), said("Wearlierw", calls=1), *results(1)],
    "reasoning and a result": [user(), said("", "Wbeforew", 1), *results(1)],
    "reasoning, content and a result": [user(), said("Wearlierw", "Wbeforew", 1), *results(1)],
    "two results": [user(), said(calls=2), *results(2)],
    "content and two results": [user(), said("Wearlierw", calls=2), *results(2)],
    "two rounds": [user(), said(calls=1), *results(1), said(calls=1, first=1), *results(1, 1)],
    "two rounds with all": [
        user(),
        said("Wearlierw", "Wbeforew", 1),
        *results(1),
        said("Wearlierw", "Wbeforew", 1, 1),
        *results(1, 1),
    ],
    "a result, an answer, a question": [user(), said(calls=1), *results(1), said("Wearlierw"), user("Wnextw")],
    "a result, an answer, a result": [
        user(),
        said(calls=1),
        *results(1),
        said("Wearlierw"),
        user("Wnextw"),
        said("", "Wbeforew", calls=1, first=1),
        *results(1, 1),
    ],
    AN_ANSWER: [user(), said("Wearlierw")],
}


@dataclass(frozen=True)
class Prompt:
    """A prompt, and what may be written behind it with the message that comes of it."""

    label: str
    text: str
    generations: tuple[tuple[str, Message], ...] = field(repr=False)


def prompts(source: str, eos_token: str, every: int = 1, offset: int = 0) -> Iterator[Prompt]:
    """Every different prompt of a chat template, or ``every`` so many from ``offset`` on.

    The template's own turns are tried where a turn was asked for: elsewhere its header is still to come.
    """
    renderer = Renderer(source, bos_token="<s>", eos_token=eos_token, seconds=20)
    seen: set[str] = set()
    for label, messages in CONVERSATIONS.items():
        for switches in _switches(renderer):
            for asked in (True, False):
                if label == AN_ANSWER and asked:
                    continue
                text = _rendered(renderer, messages, asked, switches)
                if text is None or text in seen or ("result" in label and "Wresultw" not in text):
                    continue
                if text.rstrip().endswith("Wearlierw"):
                    continue  # a turn left open is one that the model goes on with: its text belongs to the message
                seen.add(text)
                if len(seen) % every != offset:
                    continue
                turns = _turns(renderer, messages, switches, text, eos_token) if asked else ()
                named = f"{label}{'' if asked else ', not asked for more'}{switches or ''}"
                yield Prompt(named, text, (("Hello", {"content": "Hello"}), *turns))


def _switches(renderer: Renderer) -> list[dict[str, Any]]:
    """No setting, and each setting of each thinking switch."""
    return [{}, *({name: value} for name in SWITCHES for value in renderer.switches.get(name, ()))]


@dataclass(frozen=True)
class Frame:
    """What a chat template writes around turns: ``header`` begins the model's, ``appended`` ends every conversation."""

    header: str
    appended: tuple[str, ...]


def _frame(renderer: Renderer, switches: dict[str, Any], eos_token: str) -> Frame:
    """The frame, read off a question with and without a generation prompt."""
    asked, bare = (_rendered(renderer, [user()], asked, switches) or "" for asked in (True, False))
    prompted = asked.rpartition("Wquestionw")[2] if asked == bare else ""
    header = FIRST_MARK.match(asked.removeprefix(bare).strip()) if asked.startswith(bare) else None
    end = eos_token if bare.rstrip().endswith(eos_token) else ""
    return Frame(header[0] if header else "", (prompted, end))


def _turns(
    renderer: Renderer, messages: list[Message], switches: dict[str, Any], prompt: str, eos_token: str
) -> Iterator[tuple[str, Message]]:
    """What the template itself writes behind the prompt for an answer, with reasoning and without, and for a call."""
    frame = _frame(renderer, switches, eos_token)
    called = {"role": "assistant", "content": "", "tool_calls": [_call("abcdefgh8", "get_weather", "Oslo")]}
    for turn, word, expected in (
        (said("Wansweredw", "Wreasonw"), "Wansweredw", {"content": "Wansweredw"}),
        (said("Wansweredw"), "Wansweredw", {"content": "Wansweredw"}),
        (called, "Oslo", {"tool_calls": [["get_weather", {"city": "Oslo"}]]}),
    ):
        whole = _rendered(renderer, [*messages, turn], False, switches)
        if whole is None or not whole.startswith(prompt) or word not in whole[len(prompt) :]:
            continue
        text = whole[len(prompt) :]
        if frame.header and frame.header in text:
            continue  # a model gets its header from the generation prompt
        if OPENS_REASONING.search(prompt) and "think" not in text:
            continue  # no model answers within its reasoning
        for appended in frame.appended:
            text = text.rstrip().removesuffix(appended.rstrip())
        yield text, {**expected, **({"reasoning_content": "Wreasonw"} if "Wreasonw" in text else {})}


def _rendered(renderer: Renderer, messages: list[Message], asked: bool, switches: dict[str, Any]) -> str | None:
    """The conversation with calls as objects, or as JSON text where the template wants that; None if it refuses."""
    for as_text in (False, True):
        try:
            return renderer.render(
                [_with_text(message) if as_text else message for message in messages],
                tools=TOOLS,
                generation_prompt=asked,
                switches=switches,
            )
        except Refusal:
            continue
    return None


def _with_text(message: Message) -> Message:
    copied: Message = json.loads(json.dumps(message))
    for call in copied.get("tool_calls", []):
        call["function"]["arguments"] = json.dumps(call["function"]["arguments"])
    return copied


def shown(message: Message) -> Message:
    """What of a message is compared: texts without outer white space, calls without their ids."""
    texts = {key: str(message.get(key) or "").strip() for key in ("content", "reasoning_content")}
    calls = [_name_and_arguments(call) for call in message.get("tool_calls") or []]
    return {key: value for key, value in {**texts, "tool_calls": calls}.items() if value}


def _name_and_arguments(call: Any) -> Any:
    """A call's name and arguments; what is no call comes back as it is."""
    function = call.get("function") if isinstance(call, dict) else None
    return [function.get("name"), function.get("arguments")] if isinstance(function, dict) else call


def of_the_prompt(message: Message) -> list[str]:
    """The words of the prompt that came into a message."""
    text = json.dumps(message)
    return [secret for secret in chain(SECRETS, ["get_time"]) if secret in text]
