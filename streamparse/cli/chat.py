"""``streamparse demo --live``: a small model in the terminal, its answers parsed while it writes them.

In:  questions, a line each. Out: the live view of each answer.

Ctrl-C stops an answer: the stream is cancelled, and the model stops after the token that it is writing. At the prompt
Ctrl-C or Ctrl-D leave.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
from rich.console import Console
from rich.text import Text

from streamparse.adapters.huggingface.smollm2 import NAME, SmolLM2, missing
from streamparse.cli.command import INTERRUPTED, OK, UsageError
from streamparse.cli.lines import shown
from streamparse.cli.live import LiveView, console_on
from streamparse.cli.output import show
from streamparse.errors import SourceError
from streamparse.stream import ParseStream
from streamparse.template import ResponseTemplate

REMEMBERED = 6
"""How many messages before the question the model is given; it is a small one."""

Message = dict[str, Any]
Answer = Callable[[str, list[Message]], ParseStream]


def run(arguments: argparse.Namespace) -> int:
    """Load the model, then answer questions until there are no more."""
    console = console_on(plain=arguments.plain)
    if not missing():
        console.print(Text(f"loading {NAME} (a very small model), about 20 seconds ...", "dim"))
    try:
        model = SmolLM2.load()
    except SourceError as error:
        raise UsageError(str(error)) from error
    console.print(Text("Ask something. Ctrl-C stops an answer; Ctrl-C or Ctrl-D at the prompt leave.", "dim"))
    answer = partial(model.answer, think=arguments.think)
    return converse(answer, model.template(think=arguments.think), questions(console), console)


def questions(console: Console) -> Iterator[str]:
    """Give what is asked: at a prompt, or, where standard input is no terminal, its lines."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if line.strip():
                console.print(Text(f"\n> {shown(line.strip())}\n", "bold"), soft_wrap=not console.is_terminal)
                yield line.strip()
        return
    with suppress(ImportError):
        import readline  # noqa: F401  a prompt with history and editing, where there is one
    while True:
        try:
            question = input("\n> ").strip()
        except (EOFError, KeyboardInterrupt):
            console.print()
            return
        if question:
            console.print()
            yield question


def converse(answer: Answer, template: ResponseTemplate, asked: Iterator[str], console: Console) -> int:
    """Show the answer to each question; one that was stopped is forgotten, together with its question."""
    history: list[Message] = []
    code = OK
    for question in asked:
        try:
            code, said = anyio.run(_answer, answer, question, history[-REMEMBERED:], template, console)
        except KeyboardInterrupt:
            console.print(Text("\n(stopped)", "dim"))
            code = INTERRUPTED
        else:
            history += [{"role": "user", "content": question}, {"role": "assistant", "content": said}]
    return code


async def _answer(
    answer: Answer, question: str, history: list[Message], template: ResponseTemplate, console: Console
) -> tuple[int, str]:
    """Show one answer; the exit code, and the content, which is what the conversation goes on with."""
    stream = answer(question, history)
    code = await show(stream, LiveView(console, template))
    if stream.end is not None and stream.end.usage is not None:
        tokens, reason = stream.end.usage["completion_tokens"], stream.end.finish_reason
        console.print(Text(f"({tokens} tokens; finish reason: {reason})", "dim"))
    return code, (stream.message or {}).get("content", "")
