"""smolagents: ``ToolCallingAgent``, whose every step is a forced call."""

from __future__ import annotations

from smolagents import OpenAIServerModel, ToolCallingAgent, tool

from clients.python.program import STEPS, Job, Outcome, run


def agent(job: Job, outcome: Outcome) -> None:
    """An agent with one tool, and the tool ``final_answer``, which smolagents adds."""

    @tool
    def get_weather(city: str, days: int) -> str:
        """The weather in a city.

        Args:
            city: The city.
            days: How many days.
        """
        outcome.executed.append({"city": city, "days": days})
        return job.result

    model = OpenAIServerModel(
        job.model, api_base=job.url, api_key=job.key, client_kwargs={"max_retries": 0}, retry=False, **job.options
    )
    helper = ToolCallingAgent([get_weather], model, max_steps=STEPS, stream_outputs=job.stream, verbosity_level=0)
    outcome.content = str(helper.run(job.question))
    usage = helper.monitor.get_total_token_counts()
    outcome.usage = usage.input_tokens + usage.output_tokens


if __name__ == "__main__":
    run("smolagents", agent=agent)
