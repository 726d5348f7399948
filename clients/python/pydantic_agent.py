"""pydantic-ai: an agent with a tool, and output types."""

from __future__ import annotations

from collections.abc import AsyncIterable

from openai import AsyncOpenAI
from pydantic import BaseModel, Field
from pydantic_ai import Agent, NativeOutput, ToolOutput, UsageLimits
from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from clients.python.program import STEPS, Job, Outcome, run


class WeatherRecord(BaseModel):
    """The weather in a city."""

    city: str = Field(description="The city")
    days: int = Field(description="How many days")


def _model(job: Job) -> OpenAIChatModel:
    client = AsyncOpenAI(base_url=job.url, api_key=job.key, max_retries=0)
    return OpenAIChatModel(job.model, provider=OpenAIProvider(openai_client=client))


async def _run(job: Job, outcome: Outcome, helper: Agent) -> object:
    """Run the agent to its end, and note what the model said."""

    async def watch(_context: object, events: AsyncIterable[object]) -> None:
        async for _ in events:
            pass

    # With a handler of events, every answer is streamed; ``run_stream`` would end at the first text.
    result = await helper.run(
        job.question,
        usage_limits=UsageLimits(request_limit=STEPS),
        event_stream_handler=watch if job.stream else None,
    )
    outcome.usage = result.usage.total_tokens
    for message in result.all_messages():
        for part in message.parts:
            if isinstance(part, ThinkingPart):
                outcome.reasoning = part.content
            elif isinstance(part, TextPart):
                outcome.content = part.content
            elif isinstance(part, ToolCallPart):
                outcome.called(part.tool_name, part.args)
        outcome.finish = getattr(message, "finish_reason", outcome.finish)
    return result.output


async def agent(job: Job, outcome: Outcome) -> None:
    """An agent with one tool."""
    helper = Agent(_model(job))

    @helper.tool_plain
    def get_weather(city: str, days: int) -> str:
        """The weather in a city."""
        outcome.executed.append({"city": city, "days": days})
        return job.result

    outcome.content = await _run(job, outcome, helper)


async def by_call(job: Job, outcome: Outcome) -> None:
    """An output type by a forced call, which is the default."""
    output = ToolOutput(WeatherRecord, name="WeatherRecord")
    outcome.data = (await _run(job, outcome, Agent(_model(job), output_type=output))).model_dump()


async def by_schema(job: Job, outcome: Outcome) -> None:
    """An output type by a schema."""
    output = NativeOutput(WeatherRecord, name="WeatherRecord")
    outcome.data = (await _run(job, outcome, Agent(_model(job), output_type=output))).model_dump()


if __name__ == "__main__":
    run("pydantic-ai-slim", agent=agent, by_call=by_call, by_schema=by_schema)
