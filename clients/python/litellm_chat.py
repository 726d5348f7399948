"""litellm's ``completion``, whose answers have OpenAI's form."""

from __future__ import annotations

import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or else the import looks it up

import litellm

from clients.python.program import SCHEMA, STEPS, TOOL, Job, Outcome, run

litellm.telemetry = False


def _ask(job: Job, outcome: Outcome, messages: list, **options) -> litellm.Message:
    request = {"model": f"openai/{job.model}", "messages": messages, "max_retries": 0, **options}
    request |= {"api_base": job.url, "api_key": job.key}
    if job.stream:
        chunks = list(litellm.completion(**request, stream=True, stream_options={"include_usage": True}))
        answer = litellm.stream_chunk_builder(chunks, messages=messages)
    else:
        answer = litellm.completion(**request)
    outcome.usage = answer.usage.total_tokens
    outcome.finish = answer.choices[0].finish_reason
    return answer.choices[0].message


def chat(job: Job, outcome: Outcome) -> None:
    """One request; its calls are read as JSON."""
    message = _ask(job, outcome, [{"role": "user", "content": job.question}], **{"tools": [TOOL], **job.options})
    outcome.content = message.content
    outcome.reasoning = getattr(message, "reasoning_content", None)
    for call in message.tool_calls or []:
        outcome.called(call.function.name, call.function.arguments)


def agent(job: Job, outcome: Outcome) -> None:
    """The loop of litellm's documentation."""
    messages = [{"role": "user", "content": job.question}]
    for _ in range(STEPS):
        message = _ask(job, outcome, messages, tools=[TOOL])
        outcome.content = message.content
        if not message.tool_calls:
            return
        messages.append(message.model_dump())
        for call in message.tool_calls:
            outcome.called(call.function.name, call.function.arguments)
            if not outcome.invalid:
                outcome.executed.append(outcome.calls[-1]["arguments"])
            result = f"not JSON: {outcome.invalid[-1]}" if outcome.invalid else job.result
            messages.append({"role": "tool", "tool_call_id": call.id, "name": call.function.name, "content": result})


def by_schema(job: Job, outcome: Outcome) -> None:
    """A schema as the response format."""
    schema = {"name": "WeatherRecord", "schema": SCHEMA, "strict": True}
    request = {"response_format": {"type": "json_schema", "json_schema": schema}}
    message = _ask(job, outcome, [{"role": "user", "content": job.question}], **request)
    outcome.content = message.content
    outcome.data = json.loads(message.content or "")


if __name__ == "__main__":
    run("litellm", chat=chat, agent=agent, by_schema=by_schema)
