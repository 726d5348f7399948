"""Anthropic's package: streams of messages."""

from __future__ import annotations

import anthropic

from clients.python.program import SCHEMA, STEPS, Job, Outcome, run

LENGTH = 1000
TOOL = {"name": "get_weather", "description": "The weather in a city", "input_schema": SCHEMA}


def _client(job: Job) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=job.url, api_key=job.key, max_retries=0)


def _note(message: anthropic.types.Message, outcome: Outcome) -> None:
    outcome.content = "".join(block.text for block in message.content if block.type == "text")
    for block in message.content:
        if block.type == "thinking":
            outcome.reasoning = block.thinking
        elif block.type == "tool_use":
            outcome.called(block.name, block.input)
    outcome.usage = message.usage.input_tokens + message.usage.output_tokens
    outcome.finish = message.stop_reason


def _ask(job: Job, messages: list) -> anthropic.types.Message:
    with _client(job).messages.stream(model=job.model, max_tokens=LENGTH, messages=messages, tools=[TOOL]) as stream:
        return stream.get_final_message()


def chat(job: Job, outcome: Outcome) -> None:
    """One request with the tool."""
    _note(_ask(job, [{"role": "user", "content": job.question}]), outcome)


def agent(job: Job, outcome: Outcome) -> None:
    """The loop of Anthropic's documentation; that of the package keeps the conversation on the server."""
    messages = [{"role": "user", "content": job.question}]
    for _ in range(STEPS):
        message = _ask(job, messages)
        outcome.calls.clear()
        _note(message, outcome)
        results = []
        for block in message.content:
            if block.type == "tool_use":
                outcome.executed.append(block.input)
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": job.result})
        if not results:
            return
        content = [block.model_dump(exclude_none=True) for block in message.content]
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]


if __name__ == "__main__":
    run("anthropic", chat=chat, agent=agent)
