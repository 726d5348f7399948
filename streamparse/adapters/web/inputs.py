"""What is parsed on the page: a recording, or an output that was pasted or comes from a file, checked.

In:  the name of a recording; or a page's request, as ``requested`` and ``from_file`` say.
Out: ``Input``, with everything that a parser needs; or ``RequestError``, whose text the page shows.

A page never names a path: a template is the name of a bundled one, or its whole text.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from streamparse.adapters.web.cutting import cut_evenly, cut_like_tokens
from streamparse.arguments import ERROR_MODES, ErrorMode
from streamparse.cli.demo import recording
from streamparse.errors import StreamparseError
from streamparse.parser import ResponseParser
from streamparse.template import ResponseTemplate, load_response_template, response_template_names
from streamparse.template.bundled import bundled_source

TEXT_AT_MOST = 250_000
"""Characters of one text from a page: what a browser still draws at ease."""

Request = Mapping[str, Any]


class RequestError(StreamparseError):
    """A page asked for something that can't be done; the message says why."""


@dataclass(frozen=True, slots=True)
class Input:
    """One generation to be, in pieces, with all that its parser needs.

    ``template_name`` is how the template is called, for display; ``origin`` says where the input is from.
    ``expected`` is the message that came out when the input was saved, where it is from a file. ``writes`` gives the
    pieces while a model writes them, where they are not there yet: ``pieces`` is then an empty list, which they are put
    into as they come.
    """

    title: str
    template: ResponseTemplate
    template_name: str
    pieces: Sequence[str]
    prefix: str = ""
    tools: tuple[Any, ...] = ()
    errors: ErrorMode = "repair"
    prompt: str = ""
    origin: str = ""
    expected: Mapping[str, Any] | None = None
    writes: Callable[[], AsyncGenerator[str, None]] | None = None

    def parser(self) -> ResponseParser:
        """A parser for this input, which gives all that the page shows."""
        return ResponseParser(
            self.template,
            self.prefix,
            tools=list(self.tools),
            errors=self.errors,
            deltas=True,
            spans=True,
        )


def recorded(name: str) -> Input:
    """A recording that ships with the package.

    >>> recorded("qwen3_5").title
    'a coding agent: a file with code in it, then a command'
    """
    about, pieces = recording(name)
    return Input(
        title=about["title"],
        template=load_response_template(bundled_source(about["template"])),
        template_name=about["template"],
        pieces=pieces,
        prefix=about["prefix"],
        tools=tuple(about["tools"]),
        prompt=about["prompt"],
        origin="recorded" if "by hand" not in about["made_by"] else "written by hand",
    )


def requested(request: Request) -> Input:
    """What was typed into the page.

    ``text`` is the output, ``template`` one of ``{"name": …}``, ``{"chat": …}`` (a chat template to infer from) and
    ``{"source": …}`` (a response template as JSON text), ``prefix`` the prompt, ``tools`` JSON text, ``errors`` a mode,
    ``cut`` ``"tokens"`` or a number of characters. Inferring takes seconds: call it in a thread.

    >>> requested({"text": "<think>Hm</think>Hi", "template": {"name": "qwen3"}, "cut": "8"}).pieces
    ['<think>H', 'm</think', '>Hi']
    """
    text = _text(request, "text")
    template, name = _template(request.get("template"))
    cut = _text(request, "cut") or "tokens"
    if cut != "tokens" and not (cut.isascii() and cut.isdigit() and len(cut) < 10 and int(cut) > 0):
        raise RequestError(f"cut is 'tokens' or a number of characters, not {cut[:100]!r}")
    pieces = cut_like_tokens(text) if cut == "tokens" else cut_evenly(text, int(cut))
    return _checked(
        Input(
            title=_text(request, "title") or "pasted",
            template=template,
            template_name=name,
            pieces=pieces,
            prefix=_text(request, "prefix"),
            tools=tuple(_tools(request.get("tools"))),
            errors=_mode(request.get("errors", "repair")),
            origin="pasted",
        )
    )


def _checked(made: Input) -> Input:
    """Say now what a parser would say of the prompt, the tools and the template when it starts."""
    if not any(made.pieces):
        raise RequestError("there is no text to parse")
    try:
        made.parser()
    except StreamparseError as error:
        raise RequestError(f"a parser can't be made of this: {error}") from error
    return made


def _template(asked: Any) -> tuple[ResponseTemplate, str]:
    """The template that was asked for, and its name for display."""
    if not isinstance(asked, Mapping):
        raise RequestError("no template was chosen")
    if "name" in asked:
        if asked["name"] not in response_template_names():
            raise RequestError(f"there is no bundled template {asked['name']!r}")
        return load_response_template(bundled_source(asked["name"])), asked["name"]
    if "chat" in asked:
        return _inferred(_text(asked, "chat"))
    source = asked.get("source")
    return _loaded(_json(source, "the response template") if isinstance(source, str) else source), "its own template"


def _loaded(source: Any) -> ResponseTemplate:
    if not isinstance(source, dict):
        raise RequestError("a response template is a JSON object")
    try:
        return load_response_template(source)
    except StreamparseError as error:
        raise RequestError(str(error)) from error


def _inferred(chat: str) -> tuple[ResponseTemplate, str]:
    """The template that a chat template implies: Jinja text, or a configuration that has it."""
    from streamparse.infer import InferenceError, infer_response_template  # it needs Jinja, which is an extra

    if "{" not in chat:
        raise RequestError("a chat template is Jinja text, with {{ … }} and {% … %}")
    source: Any = _json(chat, "the configuration") if chat.lstrip().startswith('{"') else chat + "\n"
    try:
        inference = infer_response_template(source)
    except InferenceError as error:
        raise RequestError(f"nothing can be inferred from this chat template: {error}") from error
    verified = "inferred, verified" if inference.verified else "inferred, not verified"
    return load_response_template(inference.template), verified


def _text(request: Request, key: str) -> str:
    text = request.get(key, "")
    if not isinstance(text, str):
        raise RequestError(f"{key} is a text, not {type(text).__name__}")
    if len(text) > TEXT_AT_MOST:
        raise RequestError(f"{key} has {len(text):,} characters; the page takes {TEXT_AT_MOST:,} at most")
    return text


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{what} is not JSON: {error}") from error


def _tools(tools: Any) -> list[Any]:
    tools = _json(tools, "the list of tools") if isinstance(tools, str) and tools.strip() else tools or []
    if isinstance(tools, Mapping):
        tools = tools.get("tools")
    if not isinstance(tools, list):
        raise RequestError("tools are a JSON list")
    return tools


def _mode(mode: Any) -> ErrorMode:
    if mode not in ERROR_MODES:
        raise RequestError(f"errors is one of {', '.join(ERROR_MODES)}, not {mode!r}")
    return cast(ErrorMode, mode)
