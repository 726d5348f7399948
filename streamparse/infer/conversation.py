"""Poses conversations to a chat template in the words that it understands, and reads what the assistant's turn looks
like.

Chat templates differ in what they take: arguments as an object or as JSON text, content as text or as parts,
reasoning under one key or another, tools declared or not. A ``Phrasing`` is one such way; a ``Prober`` renders
turns in it. What the probes say (names, values, contents) are words that occur in no template, so that whatever
stands around them was written by the template.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from streamparse.infer.render import Message, Renderer
from streamparse.infer.sandbox import Refusal

Tool = dict[str, Any]
Switches = Mapping[str, Any]

USER = "Wquestionw"
CONTENT = "Wanswerw"
REASONING = "Wthoughtw"
RESULT = "Wresultw"
EARLIER = "Wearlierw"
DECOY = "wdecoyw"
"""A key that no template reads: where it shows, the template printed the structure itself."""


@dataclass(frozen=True)
class Call:
    """A tool call that a probe makes."""

    name: str
    arguments: Mapping[str, Any]
    id: str = "kcallidw1"


FIRST = Call("wfirstw", {"wkeyonew": "wvalonew", "wkeytwow": "wvaltwow"})
SECOND = Call("wsecondw", {"wkeythreew": "wvalthreew"}, "kcallidw2")

PROBE_WORDS = (
    *(USER, CONTENT, REASONING, RESULT, EARLIER, DECOY),
    *(word for call in (FIRST, SECOND) for word in (call.name, call.id, *call.arguments, *call.arguments.values())),
)
"""Words that must never be part of what is inferred."""


@dataclass(frozen=True)
class Said:
    """What the assistant says in one turn."""

    content: str | None = None
    reasoning: str | None = None
    calls: tuple[Call, ...] = ()


CallForm = Literal["function", "flat", "id that names"]


@dataclass(frozen=True)
class Phrasing:
    """How a conversation is put to a chat template.

    ``reasoning`` is the message's key for reasoning, or ``part:TYPE`` for a content part of that type.
    ``call_form`` is how a call is put: with its ``function`` as the format has it; ``flat``, name and arguments
    beside its id; or with an ``id that names`` the function (``functions.get_weather:0``), for templates that show
    nothing but the id. ``no_content`` is what ``content`` is when the assistant only calls tools (``missing``: the
    key is left out).
    """

    tools: bool = False
    parts: bool = False
    system: bool = False
    arguments_as_text: bool = False
    reasoning: str = "reasoning_content"
    no_content: str | None = ""
    call_form: CallForm = "function"
    switches: Switches = field(default_factory=dict)


REASONING_KEYS = ("reasoning_content", "reasoning", "thinking", "part:thinking", "part:reasoning")


@dataclass(frozen=True)
class Rendering:
    """A conversation's prompt (with and without the generation prompt) and the same with the assistant's turn."""

    prompt: str
    bare: str
    full: str


class Prober:
    """Renders the assistant's turns of one chat template, put in one phrasing."""

    def __init__(self, renderer: Renderer, phrasing: Phrasing) -> None:
        self.renderer = renderer
        self.phrasing = phrasing

    def rephrased(self, **changes: Any) -> Prober:
        """The same chat template, spoken to in another way."""
        return Prober(self.renderer, replace(self.phrasing, **changes))

    def opening(self) -> list[Message]:
        """The conversation up to the user's question."""
        system = [{"role": "system", "content": self.worded("Wsystemw")}] if self.phrasing.system else []
        return [*system, {"role": "user", "content": self.worded(USER)}]

    def message(self, said: Said) -> Message:
        """The assistant's message."""
        message: Message = {"role": "assistant", "content": self.worded(said.content)}
        if said.content is None:
            message["content"] = self.worded("") if self.phrasing.no_content == "" else self.phrasing.no_content
        if said.reasoning is not None:
            self._add_reasoning(message, said)
        if said.calls:
            message["tool_calls"] = [self._call(call, index) for index, call in enumerate(said.calls)]
        if message["content"] == "missing":
            del message["content"]
        return message

    def render(
        self,
        said: Said | None,
        *,
        tools: Sequence[Tool] | None = None,
        switches: Switches | None = None,
        before: Sequence[Message] = (),
        after: Sequence[Message] = (),
        generation_prompt: bool = False,
    ) -> str:
        """The conversation as text; ``before`` stands between the system message and the question."""
        opening = self.opening()
        messages = [*opening[:-1], *before, opening[-1]]
        if said is not None:
            messages.append(self.message(said))
        messages.extend(after)
        declared = tools
        if declared is None and (self.phrasing.tools or (said is not None and said.calls)):
            declared = declarations(said.calls if said is not None and said.calls else (FIRST, SECOND))
        return self.renderer.render(
            messages,
            tools=list(declared) if declared else None,
            generation_prompt=generation_prompt,
            switches={**self.phrasing.switches, **(switches or {})},
        )

    def conversation(self, said: Said, **context: Any) -> str:
        """The conversation up to the assistant's turn; raises ``Refusal``.

        Where the template takes calls only with their results, it goes on to where the first result would stand.
        """
        try:
            return self.render(said, **context)
        except Refusal:
            if not said.calls or "after" in context:
                raise
            results = [self.result(call) for call in said.calls]
            return self.render(said, **context, after=results).partition(RESULT)[0]

    def turn(self, said: Said, **context: Any) -> str:
        """What follows the user's question when the assistant says this; raises ``Refusal``."""
        return _bounded(after_last(self.conversation(said, **context), USER))

    def prompt(self, **context: Any) -> str:
        """What follows the user's question in a prompt for the assistant."""
        return _bounded(after_last(self.render(None, generation_prompt=True, **context), USER))

    def bare(self, **context: Any) -> str:
        """What follows the user's question when nothing is asked of the assistant yet."""
        return _bounded(after_last(self.render(None, **context), USER))

    def attempt(self, said: Said, **context: Any) -> str | None:
        """Like ``turn``, None where the template refuses."""
        try:
            return self.turn(said, **context)
        except Refusal:
            return None

    def result(self, call: Call, text: str = RESULT) -> Message:
        """The tool's answer to a call."""
        return {"role": "tool", "content": self.worded(text), "tool_call_id": call.id, "name": call.name}

    def worded(self, text: str | None) -> Any:
        """A text as message content: as it is, or as a list of parts."""
        if text is None or not self.phrasing.parts:
            return text
        return [{"type": "text", "text": text}]

    def _call(self, call: Call, index: int) -> dict[str, Any]:
        arguments: Any = dict(call.arguments)
        if self.phrasing.arguments_as_text:
            arguments = json.dumps(arguments, ensure_ascii=False)
        function = {"name": call.name, "arguments": arguments}
        if self.phrasing.call_form == "flat":
            return {"id": call.id, "type": "function", **function}
        named = self.phrasing.call_form == "id that names"
        return {
            "id": f"functions.{call.name}:{index}" if named else call.id,
            "type": "function",
            "function": function,
        }

    def _add_reasoning(self, message: Message, said: Said) -> None:
        kind, is_part, part = self.phrasing.reasoning.partition(":")
        if not is_part:
            message[kind] = said.reasoning
            return
        parts = [{"type": part, part: said.reasoning, DECOY: DECOY}]
        if said.content is not None:
            parts.append({"type": "text", "text": said.content})
        message["content"] = parts


MAX_TURN = 20_000
"""Longest turn that is looked at, in characters; real ones have some hundreds."""


def _bounded(turn: str) -> str:
    if len(turn) > MAX_TURN:
        raise Refusal(f"a turn of more than {MAX_TURN} characters")
    return turn


def after_last(text: str, word: str) -> str:
    """What follows the last occurrence of a word; ``Refusal`` if it does not occur."""
    at = text.rfind(word)
    if at < 0:
        raise Refusal(f"the chat template does not show {word!r}")
    return text[at + len(word) :]


_TYPES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


def declarations(calls: Sequence[Call]) -> list[Tool]:
    """Tools that fit the calls: one for each name, with a parameter for each argument, typed as the argument is."""
    tools: dict[str, Tool] = {}
    for call in calls:
        properties = {
            key: {"type": _TYPES[type(value)], "description": "a parameter"} for key, value in call.arguments.items()
        }
        parameters = {"type": "object", "properties": properties, "required": list(properties)}
        function = {"name": call.name, "description": "a function", "parameters": parameters}
        tools.setdefault(call.name, {"type": "function", "function": function})
    return list(tools.values())
