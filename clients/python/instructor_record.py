"""instructor: an answer as a pydantic model, by a forced call or by a schema."""

from __future__ import annotations

import instructor
from openai import OpenAI
from pydantic import BaseModel, Field

from clients.python.program import Job, Outcome, run


class WeatherRecord(BaseModel):
    """The weather in a city."""

    city: str = Field(description="The city")
    days: int = Field(description="How many days")


def by_call(job: Job, outcome: Outcome) -> None:
    """A forced call, instructor's default."""
    _record(job, outcome, instructor.Mode.TOOLS)


def by_schema(job: Job, outcome: Outcome) -> None:
    """A schema as the response format."""
    _record(job, outcome, instructor.Mode.JSON_SCHEMA)


def _record(job: Job, outcome: Outcome, mode: instructor.Mode) -> None:
    """``create``, or ``create_partial`` for a stream."""
    client = OpenAI(base_url=job.url, api_key=job.key, max_retries=0)
    client = instructor.from_openai(client, mode=mode)
    request = {
        "model": job.model,
        "response_model": WeatherRecord,
        "messages": [{"role": "user", "content": job.question}],
        "max_retries": 0,
    }
    if job.stream:
        for record in client.chat.completions.create_partial(**request):
            outcome.data = record.model_dump()
    else:
        outcome.data = client.chat.completions.create(**request).model_dump()


if __name__ == "__main__":
    run("instructor", by_call=by_call, by_schema=by_schema)
