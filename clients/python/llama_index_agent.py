"""LlamaIndex: ``OpenAILike`` and ``FunctionAgent``."""

from __future__ import annotations

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel, Field

from clients.python.program import STEPS, Job, Outcome, run


class WeatherRecord(BaseModel):
    """The weather in a city."""

    city: str = Field(description="The city")
    days: int = Field(description="How many days")


def _model(job: Job, **options) -> OpenAILike:
    return OpenAILike(
        model=job.model,
        api_base=job.url,
        api_key=job.key,
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
        context_window=8000,
        additional_kwargs={"stream_options": {"include_usage": True}, **options} if job.stream else options,
    )


def _tool(job: Job, outcome: Outcome) -> FunctionTool:
    def get_weather(city: str, days: int) -> str:
        """The weather in a city."""
        outcome.executed.append({"city": city, "days": days})
        return job.result

    return FunctionTool.from_defaults(get_weather)


def chat(job: Job, outcome: Outcome) -> None:
    """One request with the tool; ``get_tool_calls_from_response`` is how LlamaIndex's own agents read calls."""
    options = dict(job.options)
    allow = options.pop("parallel_tool_calls", True)
    model = _model(job, **options)
    asked = {"user_msg": job.question, "allow_parallel_tool_calls": allow}
    tools = [_tool(job, outcome)]
    if job.stream:
        *_, answer = model.stream_chat_with_tools(tools, **asked)
    else:
        answer = model.chat_with_tools(tools, **asked)
    outcome.content = answer.message.content
    outcome.reasoning = answer.message.additional_kwargs.get("reasoning_content") or next(
        (block.content for block in answer.message.blocks if block.block_type == "thinking"), None
    )
    for call in model.get_tool_calls_from_response(answer, error_on_no_tool_call=False):
        outcome.calls.append({"name": call.tool_name, "arguments": call.tool_kwargs})
    usage = getattr(answer.raw, "usage", None)
    outcome.usage = usage and usage.total_tokens


async def agent(job: Job, outcome: Outcome) -> None:
    """``FunctionAgent`` with one tool."""
    helper = FunctionAgent(llm=_model(job), tools=[_tool(job, outcome)], streaming=job.stream)
    outcome.content = str(await helper.run(job.question, max_iterations=STEPS))


def by_call(job: Job, outcome: Outcome) -> None:
    """``structured_predict``, which forces a call."""
    model = _model(job).as_structured_llm(WeatherRecord)
    message = [ChatMessage(job.question)]
    if job.stream:
        for answer in model.stream_chat(message):
            outcome.data = answer.raw.model_dump()
    else:
        outcome.data = model.chat(message).raw.model_dump()


if __name__ == "__main__":
    run("llama-index-llms-openai-like", chat=chat, agent=agent, by_call=by_call)
