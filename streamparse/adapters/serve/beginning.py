"""Where an answer begins: in the prompt, in a call that has to be made, or in a content that has to be JSON.

In:  a checked request, the renderer of its prompt, and the response template.
Out: a ``Beginning``: the prompt that the upstream gets, and what the parser is given of it.

Whatever begins in the prompt is written as the chat template writes it: it renders an answer with a call, or with a
content, and the prompt ends where two such answers, with other names or texts, begin to differ. That closes reasoning
too, where the prompt would open it. Each beginning is tried on the response template before it is used: what the chat
template writes behind it has to be read as that call, or as that content. Where it isn't, or where the chat template
shows no call, the request is refused.

Where the upstream takes a grammar (``constraining``), a call that has to be made is left to that instead: the prompt is
as it is, the model may reason, and its arguments follow the tool's schema.

An answer that is held to JSON is the content, whatever a string in it may look like: it is read by a template that
knows nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamparse.adapters.openai.calls import new_call_id
from streamparse.adapters.serve.constraining import grammar_fields, takes_grammar
from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.prompt import PromptRenderer
from streamparse.adapters.serve.request import ChatRequest
from streamparse.events import RawEvent
from streamparse.infer.compare import common_prefix
from streamparse.parser import ResponseParser
from streamparse.stages.deltas.plan import is_call_field
from streamparse.template import ResponseTemplate, load_response_template

_END = "Wgoesonherew"
_NAMES = ("wfirstw", "vsecondv")
_ARGUMENTS: tuple[dict[str, Any], ...] = ({"wkeyonew": "wvalonew"}, {"vkeytwov": "vvaltwov"}, {})
_SAMPLE = '{"wkeyw": "wvalw"}'
_ONLY_CONTENT = {"start_anchor": "\n", "fields": {"content": {}}}


@dataclass(frozen=True, slots=True)
class Beginning:
    """``prompt`` goes to the upstream. The parser takes ``prefix`` for the prompt, and ``begun``, the rest of it, for
    the first text of the answer; ``template`` is what it reads with, and the fields ``without`` are text to it.
    ``held`` are the fields of the upstream request that hold the model to a grammar.
    """

    prompt: str
    prefix: str
    template: ResponseTemplate
    begun: str = ""
    without: tuple[str, ...] = ()
    held: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Beginnings:
    """Finds the beginnings of answers for one chat template and one response template.

    ``server`` is the kind of the upstream where it may be sent grammars, None where it may not.
    """

    prompts: PromptRenderer
    template: ResponseTemplate
    server: str | None = None

    def of(self, request: ChatRequest) -> Beginning:
        """Give the beginning of the answer to a request; raises RequestError where it can't begin as it has to."""
        calls = self._calls()
        prompt = self._continued(request) if request.continues else self._prompt(request)
        if not request.tool_choice.tools:
            if request.json is not None and not request.continues:
                return self._of_json(request, prompt, calls)
            return Beginning(prompt, prompt, self.template, without=calls)
        held = self._held(request, prompt)
        if held is None and request.json is not None:
            raise _refused("response_format", self._why_no_json())
        if held is None and request.tool_choice.forced:
            return self._of_call(request, prompt)
        return Beginning(prompt, prompt, self.template, held=held or {})

    def _held(self, request: ChatRequest, prompt: str) -> dict[str, Any] | None:
        """The fields of a grammar; none behind a prompt that ends inside a call, where no grammar begins."""
        fields = None if self.server is None else grammar_fields(request, self.server, self.template, prompt)
        return None if fields is None or self._in_call(prompt) else fields

    def _why_no_json(self) -> str:
        if self.server is None or not takes_grammar(self.server):
            return (
                "an answer in JSON beside calls needs an upstream that takes a grammar (llama.cpp, vLLM, SGLang): "
                'give tool_choice "none" or no tools'
            )
        return (
            "no grammar can hold this answer to JSON beside calls, because the request has a grammar of its own or "
            'the schema or the model\'s format has no spelling in one: give tool_choice "none" or no tools'
        )

    def _prompt(self, request: ChatRequest, *answer: dict[str, Any], generation_prompt: bool = True) -> str:
        return self.prompts.render(
            [*request.messages, *answer],
            request.tool_choice.tools,
            request.template_arguments,
            generation_prompt=generation_prompt and not answer,
        )

    def _continued(self, request: ChatRequest) -> str:
        """The conversation up to the end of its last message."""
        *before, last = request.messages
        content = last.get("content") or ""
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        marked = {**last, "content": [*parts, {"type": "text", "text": _END}]}
        text = self.prompts.render(
            [*before, marked], request.tool_choice.tools, request.template_arguments, generation_prompt=False
        )
        prompt, found, _ = text.partition(_END)
        if not found:
            raise _refused("continue_final_message", "the chat template does not show the last message")
        return prompt

    def _of_json(self, request: ChatRequest, prompt: str, calls: tuple[str, ...]) -> Beginning:
        answers = [({"role": "assistant", "content": content},) for content in ("Wanswerw", "Votherv")]
        begun = common_prefix([text for answer in answers if (text := self._attempt(request, answer)) is not None])
        for beginning in [begun, prompt] if self._is_answer(request, prompt, begun) else [prompt]:
            parser = ResponseParser(self.template, beginning, errors="report", without=calls)
            parser.feed(_SAMPLE)
            if parser.finalize("stop")[0] == {"role": "assistant", "content": _SAMPLE}:
                return Beginning(beginning, "\n", load_response_template(_ONLY_CONTENT))
        raise _refused("response_format", "the chat template's prompts don't end where a content begins")

    def _of_call(self, request: ChatRequest, prompt: str) -> Beginning:
        name = request.tool_choice.name or _only(request)
        if name is None and self._in_call(prompt):
            return Beginning(prompt, prompt, self.template)
        names = (name,) * len(_ARGUMENTS) if name else _NAMES
        for call_id in (new_call_id(), "functions.{name}:0"):  # the latter is how Kimi's models write theirs
            rendered: list[tuple[str, str, dict[str, Any]]] = []
            for called, arguments in zip(names, _ARGUMENTS, strict=False):
                call, result = _calling(called, arguments, call_id.format(name=called))
                text = self._attempt(request, (call,)) or self._attempt(request, (call, result))
                if text is not None:
                    rendered.append((text, called, arguments))
            if len(rendered) < 2:
                continue
            begun = _cut(common_prefix([text for text, _, _ in rendered]), name)
            if name and begun.endswith(name) and self._goes_on(request, name):
                continue
            if not self._is_answer(request, prompt, begun):
                continue
            start = len(prompt) if begun.startswith(prompt) else self._shared(request, prompt, begun)
            read = all(self._reads(begun[:start], *call) for call in rendered if call[2])
            if read and begun[start:].strip():
                return Beginning(begun, begun[:start], self.template, begun[start:])
        raise _refused("tool_choice", "with this chat template no call can begin in the prompt; auto and none are kept")

    def _in_call(self, prompt: str) -> bool:
        """Whether the prompt ends inside a call: what follows belongs to one that has not opened behind the prompt."""
        events: list[RawEvent] = [*ResponseParser(self.template, prompt, errors="report").feed("w")]
        field, kind = next(((event["field"], event["type"]) for event in events if event.get("field")), ("", ""))
        return field in self._calls() and kind != "region_open"

    def _calls(self) -> tuple[str, ...]:
        return tuple(name for name, field in self.template.fields.items() if is_call_field(field))

    def _goes_on(self, request: ChatRequest, name: str) -> bool:
        """Whether another tool's name begins with this one, so that the model might go on to that."""
        names = [tool["function"]["name"] for tool in request.tool_choice.tools]
        return any(other != name and other.startswith(name) for other in names)

    def _attempt(self, request: ChatRequest, answer: tuple[dict[str, Any], ...]) -> str | None:
        """The conversation with an answer, None where the template refuses."""
        try:
            return self._prompt(request, *answer)
        except RequestError:
            return None

    def _is_answer(self, request: ChatRequest, prompt: str, begun: str) -> bool:
        """Whether a text is the same conversation, with an answer begun as in the prompt."""
        return begun.startswith(prompt) or self._shared(request, prompt, begun) > 0

    def _shared(self, request: ChatRequest, prompt: str, begun: str) -> int:
        """How much of a prompt an answer shares that does not begin with all of it; 0 if less than the conversation."""
        bare = self._prompt(request, generation_prompt=False)
        shared = len(common_prefix([prompt, begun]))
        return shared if prompt.startswith(bare) and len(bare) < shared else 0

    def _reads(self, prefix: str, text: str, name: str, arguments: dict[str, Any]) -> bool:
        """Whether the response template reads what the chat template writes as this call."""
        parser = ResponseParser(self.template, prefix, errors="report")
        parser.feed(text[len(prefix) :])
        message = parser.finalize("stop")[0] or {}
        calls = [call.get("function", {}) for call in message.get("tool_calls", [])]
        return [(call.get("name"), call.get("arguments")) for call in calls] == [(name, arguments)]


def _only(request: ChatRequest) -> str | None:
    """The name of the only tool, None where there are more."""
    names = [tool["function"]["name"] for tool in request.tool_choice.tools]
    return names[0] if len(names) == 1 else None


def _calling(name: str, arguments: dict[str, Any], call_id: str) -> tuple[dict[str, Any], ...]:
    """An answer with a call, and its result, without which some templates take no call."""
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return (
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "name": name, "content": "wresultw"},
    )


def _cut(begun: str, name: str | None) -> str:
    """A beginning without what a tokenizer would join with what follows: the open of the name, or of the arguments.

    >>> _cut('<tool_call>{"name": "', None), _cut('<function=f>\\n<', "f"), _cut("call:f{", "f")
    ('<tool_call>{"name":', '<function=f>', 'call:f{')
    """
    if name is None:
        return begun.rstrip("\"' ")
    cut = begun.rstrip("{<[\"' \n")
    return begun if cut.endswith(name) else cut


def _refused(param: str, reason: str) -> RequestError:
    return RequestError(400, f"{param} can't be kept: {reason}", param=param, code="unsupported")
