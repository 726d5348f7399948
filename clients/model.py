"""A model that follows a script: what it writes after a prompt, in its family's own format.

In:  a prompt as a chat template renders it, and whether the request asks the engine for JSON.
Out: the text that goes on from there, and why it ends.

The question that stands last in the prompt says which scene is played, and a tool's result behind it that the tool has
answered. As a model does, it goes on with what the prompt has begun: reasoning, or a call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.field.forms import Call, Form

TOOL = "get_weather"
ARGUMENTS = {"days": 3, "city": "Rome"}
"""The city comes last: a call that is cut there has all its arguments, and some clients would run it."""

RESULT = "clear-sky-21-degrees"
ANSWER = "Rome will have a clear sky and 21 degrees."
THOUGHT = "The user wants to know something."
RECORD = {"city": "Rome", "days": 3}
"""What a call of another tool than the weather's, or an answer in JSON, says."""

GREETING = "Say hello to me."
GREETED = "Hello, nice to meet you."
QUESTION = "What will the weather be in Rome in the next 3 days?"
WORDY = "Tell me what you do, and then the weather in Rome in the next 3 days."
WORDS = "I will look it up."
TWO = "Compare the weather in Rome and Oslo, please."
IN_BOTH: list[dict[str, Any]] = [ARGUMENTS, {"days": 3, "city": "Oslo"}]
CUT_BY_LENGTH = "What is the weather in Rome, if you have the room to say so?"
CUT_SHORT = "What is the weather in Rome, or will you break off?"
BROKEN = "What is the weather in Rome, in broken words?"
RECORDED = "Give me a record of Rome for 3 days."
AS_JSON = "Give me JSON about Rome for 3 days."
REFUSED = "Is there any room left?"
FAULTY = "Is this request understood?"
FAILING = "Will the connection hold?"
"""The questions, each of which is one scene."""

RECORDER = re.compile(r"\w*WeatherRecord|final_result")
"""Tools by which frameworks have an answer as data; instructor's streams name theirs ``PartialWeatherRecord``."""


@dataclass(frozen=True)
class Said:
    """What the model writes, and why it ends; ``status`` of an engine that refuses, ``breaks`` for one that fails."""

    text: str
    reason: str = "stop"
    status: int = 200
    breaks: bool = False


class ScriptedModel:
    """A model of one family: how it writes, and in which other forms it goes on with a call that has begun so."""

    def __init__(self, form: Form, in_history: Sequence[Form] = ()) -> None:
        self._form = form
        self._in_history = in_history

    def completes(self, prompt: str, *, held: bool = False) -> Said:
        """What it writes after the prompt; ``held`` to JSON by its engine, it can't write anything else."""
        if held:
            return Said(json.dumps(RECORD))
        scene = max(_SCENES, key=prompt.rfind)
        where = prompt.rfind(scene)
        assert where >= 0, f"the prompt has no question of the script: {prompt!r}"
        return _SCENES[scene](self, prompt, RESULT in prompt[where:])

    def _answers(self, prompt: str, text: str) -> Said:
        if "final_answer" in prompt:  # the tool by which smolagents has answers
            return self._calls(prompt, [("final_answer", {"answer": text})])
        return Said(self._thought(prompt) + self._form.says(text))

    def _calls(self, prompt: str, calls: list[Call], words: str = "") -> Said:
        """Calls, with words before them unless the prompt has begun the first one."""
        for form in (self._form, *self._in_history):
            text = form.calls(calls)
            begun = _overlap(prompt, text)
            if begun > _overlap(form.prompt, text):  # more than what each assistant's turn begins with
                return Said(text[begun:])
        return Said(self._thought(prompt) + words + self._form.calls(calls))

    def _greets(self, prompt: str, _answered: bool) -> Said:
        return self._answers(prompt, GREETED)

    def _looks_up(self, prompt: str, answered: bool) -> Said:
        return self._answers(prompt, ANSWER) if answered else self._calls(prompt, [(TOOL, ARGUMENTS)])

    def _looks_up_and_says_so(self, prompt: str, answered: bool) -> Said:
        if answered:
            return self._answers(prompt, ANSWER)
        return self._calls(prompt, [(TOOL, ARGUMENTS)], self._form.says(WORDS))

    def _compares(self, prompt: str, answered: bool) -> Said:
        if answered:
            return self._answers(prompt, ANSWER)
        return self._calls(prompt, [(TOOL, arguments) for arguments in IN_BOTH])

    def _cut(self, prompt: str, _answered: bool) -> Said:
        return Said(self._half(prompt), "length")

    def _breaks_off(self, prompt: str, _answered: bool) -> Said:
        return Said(self._half(prompt))

    def _half(self, prompt: str) -> str:
        text = self._calls(prompt, [(TOOL, ARGUMENTS)]).text
        return text[: text.rindex("Rome") + 2]

    def _stutters(self, prompt: str, _answered: bool) -> Said:
        """The end of the last value is missing, with the quote or the tag and the brackets that close it."""
        text = self._calls(prompt, [(TOOL, ARGUMENTS)]).text
        city = text.rindex("Rome")
        return Said(text[: city + 2] + _CLOSERS.sub("", text[city + 4 :], count=1))

    def _records(self, prompt: str, answered: bool) -> Said:
        recorder = RECORDER.search(prompt)
        name = recorder[0] if recorder else TOOL
        return self._answers(prompt, ANSWER) if answered else self._calls(prompt, [(name, RECORD)])

    def _writes_json(self, prompt: str, _answered: bool) -> Said:
        return self._answers(prompt, json.dumps(RECORD))

    def _refuses(self, _prompt: str, _answered: bool) -> Said:
        return Said("", status=429)

    def _misunderstands(self, _prompt: str, _answered: bool) -> Said:
        return Said("", status=400)

    def _fails(self, prompt: str, _answered: bool) -> Said:
        return Said(self._thought(prompt) + self._form.says(GREETED), breaks=True)

    def _thought(self, prompt: str) -> str:
        """Reasoning, if the family's models reason and the prompt doesn't say that it is over."""
        form, end = self._form, prompt.rstrip()
        if form.reasoning is None or end.endswith(form.reasoning[1].strip()):
            return ""
        if form.thinking is not None and end.endswith(form.thinking.strip()):
            return THOUGHT + form.reasoning[1]
        return form.thinks(THOUGHT)


_CLOSERS = re.compile(r"""\s*(<[^>]*>|["'])[\s}\])]*""")


def _overlap(prompt: str, text: str) -> int:
    """How many characters of the text's beginning the prompt ends with."""
    return next((length for length in range(len(text), 0, -1) if prompt.endswith(text[:length])), 0)


_SCENES = {
    GREETING: ScriptedModel._greets,
    QUESTION: ScriptedModel._looks_up,
    WORDY: ScriptedModel._looks_up_and_says_so,
    TWO: ScriptedModel._compares,
    CUT_BY_LENGTH: ScriptedModel._cut,
    CUT_SHORT: ScriptedModel._breaks_off,
    BROKEN: ScriptedModel._stutters,
    RECORDED: ScriptedModel._records,
    AS_JSON: ScriptedModel._writes_json,
    REFUSED: ScriptedModel._refuses,
    FAULTY: ScriptedModel._misunderstands,
    FAILING: ScriptedModel._fails,
}
