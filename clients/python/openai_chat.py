"""OpenAI's package for Python, without any framework."""

from __future__ import annotations

import json

import openai
from openai.types.chat import ChatCompletionMessage

from clients.python.program import SCHEMA, STEPS, TOOL, Job, Outcome, run


def _client(job: Job) -> openai.OpenAI:
    return openai.OpenAI(base_url=job.url, api_key=job.key, max_retries=0)


def _ask(job: Job, outcome: Outcome, messages: list, **options) -> ChatCompletionMessage:
    """One request; streamed, its chunks are put together by the package's own helper."""
    client = _client(job)
    request = {"model": job.model, "messages": messages, **options}
    if not job.stream:
        answer = client.chat.completions.create(**request)
    else:
        with client.chat.completions.stream(**request, stream_options={"include_usage": True}) as stream:
            for _ in stream:
                pass
            answer = stream.get_final_completion()
    outcome.usage = answer.usage and answer.usage.total_tokens
    outcome.finish = answer.choices[0].finish_reason
    return answer.choices[0].message


def chat(job: Job, outcome: Outcome) -> None:
    """One request; its calls are read as JSON, as OpenAI's documentation asks for."""
    message = _ask(job, outcome, [{"role": "user", "content": job.question}], **{"tools": [TOOL], **job.options})
    outcome.content = message.content
    outcome.reasoning = getattr(message, "reasoning_content", None)
    for call in message.tool_calls or []:
        outcome.called(call.function.name, call.function.arguments)


def agent(job: Job, outcome: Outcome) -> None:
    """The loop of OpenAI's documentation."""
    messages = [{"role": "user", "content": job.question}]
    for _ in range(STEPS):
        message = _ask(job, outcome, messages, tools=[TOOL])
        outcome.content = message.content
        if not message.tool_calls:
            return
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            outcome.called(call.function.name, call.function.arguments)
            if not outcome.invalid:
                outcome.executed.append(outcome.calls[-1]["arguments"])
            result = f"not JSON: {outcome.invalid[-1]}" if outcome.invalid else job.result
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def odd(job: Job, outcome: Outcome) -> None:
    """A history that the API allows and few write: arguments that are no JSON, a refusal, a bare tool."""
    function = {"name": "get_weather", "arguments": '{"city": "Ro'}
    messages = [
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Is it warm in Rome?"}]},
        {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "no such city"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I can't say."}]},
        {"role": "user", "content": job.question},
    ]
    tools = [{"type": "function", "function": {"name": "get_weather"}}]
    outcome.content = _ask(job, outcome, messages, tools=tools).content


def by_schema(job: Job, outcome: Outcome) -> None:
    """A schema as the response format."""
    schema = {"name": "WeatherRecord", "schema": SCHEMA, "strict": True}
    request = {"response_format": {"type": "json_schema", "json_schema": schema}}
    message = _ask(job, outcome, [{"role": "user", "content": job.question}], **request)
    outcome.content = message.content
    outcome.data = json.loads(message.content or "")


def models(job: Job, outcome: Outcome) -> None:
    """The list of models."""
    outcome.models = [model.id for model in _client(job).models.list()]


def retrieve(job: Job, outcome: Outcome) -> None:
    """One model."""
    outcome.models = [_client(job).models.retrieve(job.model).id]


if __name__ == "__main__":
    run("openai", chat=chat, agent=agent, odd=odd, by_schema=by_schema, models=models, retrieve=retrieve)
