"""OpenAI's Agents SDK, with its model for chat completions."""

from __future__ import annotations

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from agents.items import MessageOutputItem, ReasoningItem, ToolCallItem
from openai import AsyncOpenAI
from pydantic import BaseModel, Field

from clients.python.program import STEPS, Job, Outcome, run

set_tracing_disabled(True)


class WeatherRecord(BaseModel):
    """The weather in a city."""

    city: str = Field(description="The city")
    days: int = Field(description="How many days")


def _model(job: Job) -> OpenAIChatCompletionsModel:
    client = AsyncOpenAI(base_url=job.url, api_key=job.key, max_retries=0)
    return OpenAIChatCompletionsModel(job.model, client)


async def _run(job: Job, outcome: Outcome, helper: Agent) -> object:
    if job.stream:
        result = Runner.run_streamed(helper, job.question, max_turns=STEPS)
        async for _ in result.stream_events():
            pass
    else:
        result = await Runner.run(helper, job.question, max_turns=STEPS)
    outcome.usage = result.context_wrapper.usage.total_tokens
    for item in result.new_items:
        if isinstance(item, ReasoningItem):
            parts = item.raw_item.summary or item.raw_item.content or []
            outcome.reasoning = "".join(part.text for part in parts)
        elif isinstance(item, ToolCallItem):
            outcome.called(item.raw_item.name, item.raw_item.arguments)
        elif isinstance(item, MessageOutputItem):
            outcome.content = "".join(getattr(part, "text", "") for part in item.raw_item.content)
    return result.final_output


async def agent(job: Job, outcome: Outcome) -> None:
    """An agent with one tool."""

    @function_tool
    def get_weather(city: str, days: int) -> str:
        """The weather in a city."""
        outcome.executed.append({"city": city, "days": days})
        return job.result

    settings = ModelSettings(include_usage=True)
    helper = Agent(name="Weather", model=_model(job), tools=[get_weather], model_settings=settings)
    outcome.content = await _run(job, outcome, helper)


async def by_schema(job: Job, outcome: Outcome) -> None:
    """An output type, which is asked for by a schema."""
    data = await _run(job, outcome, Agent(name="Weather", model=_model(job), output_type=WeatherRecord))
    outcome.data = data.model_dump()


if __name__ == "__main__":
    run("openai-agents", agent=agent, by_schema=by_schema)
