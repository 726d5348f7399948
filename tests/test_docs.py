"""What the README and the docs show is what happens, and what they link to is there."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from streamparse import load_response_template, parse_response, parse_stream
from streamparse.encode import encode_event

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def quoted(page: str, before: str) -> str:
    """The code that stands between backquotes just before some words."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"`([^`]*)`{before}", text)
    assert found, f"{page} has no code before {before!r}"
    return found[1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in link:
            assert (page.parent / link).exists(), link


def test_paths_that_the_readme_names_are_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:streamparse|examples|docs)/[\w./]*)`", text):
        assert (ROOT / path).exists(), path


def test_the_template_of_the_format_page_gives_the_message_that_it_shows() -> None:
    template, message, *_ = map(json.loads, blocks("docs/response-template.md", "json"))
    text = quoted("docs/response-template.md", " becomes")
    assert parse_response(text, template, prefix="") == message


def test_the_field_of_the_format_page_is_a_field() -> None:
    field = json.loads(blocks("docs/response-template.md", "json")[2])
    template = load_response_template({"start_anchor": "@", "fields": {"tool_calls": field}})
    assert template.warnings == ()


def test_the_format_page_names_every_key_that_a_template_may_have() -> None:
    page = (ROOT / "docs" / "response-template.md").read_text(encoding="utf-8")
    schema = json.loads((ROOT / "streamparse" / "template" / "response_template.schema.json").read_text("utf-8"))
    places = [schema, *(schema["$defs"][name] for name in ("field", "policy", "field_policy"))]
    for key in (key for place in places for key in place["properties"]):
        assert f"`{key}`" in page, key


def test_the_events_page_shows_the_events_that_come() -> None:
    (shown,) = blocks("docs/events.md", "json")
    text = quoted("docs/events.md", ", read with the template `qwen3`")

    async def collect() -> list[dict[str, Any]]:
        async with parse_stream([text], "qwen3", prefix="") as events:
            return [event async for event in events]

    assert [encode_event(event).decode() for event in asyncio.run(collect())] == shown.splitlines()
