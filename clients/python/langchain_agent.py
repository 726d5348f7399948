"""LangChain: ``ChatOpenAI``, ``create_agent`` and structured output."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessageChunk
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

from clients.python.program import STEPS, TOOL, Job, Outcome, run


class WeatherRecord(BaseModel):
    """The weather in a city."""

    city: str = Field(description="The city")
    days: int = Field(description="How many days")


def _model(job: Job) -> ChatOpenAI:
    return ChatOpenAI(
        base_url=job.url, api_key=job.key, model=job.model, max_retries=0, stream_usage=True, streaming=job.stream
    )


def _note(message: AIMessage | BaseMessageChunk, outcome: Outcome) -> None:
    outcome.content = message.text
    outcome.reasoning = message.additional_kwargs.get("reasoning_content")
    outcome.calls += [{"name": call["name"], "arguments": call["args"]} for call in message.tool_calls]
    outcome.invalid += [str(call["args"]) for call in message.invalid_tool_calls]
    outcome.usage = message.usage_metadata and message.usage_metadata["total_tokens"]
    outcome.finish = message.response_metadata.get("finish_reason")


def chat(job: Job, outcome: Outcome) -> None:
    """One request; the chunks of a stream are added up, as LangChain does."""
    options = {**job.options}
    model = _model(job).bind_tools(
        [TOOL], **{key: options.pop(key) for key in ("tool_choice", "parallel_tool_calls") if key in options}
    )
    if not job.stream:
        _note(model.invoke(job.question), outcome)
        return
    whole = None
    for chunk in model.stream(job.question):
        whole = chunk if whole is None else whole + chunk
    _note(whole, outcome)


def agent(job: Job, outcome: Outcome) -> None:
    """``create_agent`` with one tool."""

    @tool
    def get_weather(city: str, days: int) -> str:
        """The weather in a city."""
        outcome.executed.append({"city": city, "days": days})
        return job.result

    graph = create_agent(_model(job), [get_weather])
    asked, limit = {"messages": [("user", job.question)]}, {"recursion_limit": 2 * STEPS}
    if job.stream:
        for _mode, said in graph.stream(asked, limit, stream_mode=["messages", "values"]):
            if _mode == "values":
                state = said
    else:
        state = graph.invoke(asked, limit)
    for message in state["messages"]:
        if isinstance(message, AIMessage):
            _note(message, outcome)


def by_call(job: Job, outcome: Outcome) -> None:
    """``with_structured_output`` by a forced call."""
    _record(job, outcome, "function_calling")


def by_schema(job: Job, outcome: Outcome) -> None:
    """``with_structured_output`` by a schema, which is its default."""
    _record(job, outcome, "json_schema")


def _record(job: Job, outcome: Outcome, method: str) -> None:
    model = _model(job).with_structured_output(WeatherRecord, method=method)
    if job.stream:
        for record in model.stream(job.question):
            outcome.data = record.model_dump()
    else:
        outcome.data = model.invoke(job.question).model_dump()


if __name__ == "__main__":
    run("langchain-openai", chat=chat, agent=agent, by_call=by_call, by_schema=by_schema)
