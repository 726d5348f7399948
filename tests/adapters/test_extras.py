"""Where the packages of an extra are missing: what is said, and what needs none of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

PACKAGES = (
    "confluent_kafka",
    "httpx",
    "httpx_sse",
    "jinja2",
    "prometheus_client",
    "redis",
    "starlette",
    "tokenizers",
    "uvicorn",
    "websockets",
)


def run_without_extras(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process that can import none of the packages."""
    hidden = f"import sys; sys.modules.update(dict.fromkeys({PACKAGES}))\n"
    return subprocess.run([sys.executable, "-c", hidden + program], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("program", "extra"),
    [
        ("from streamparse.adapters.openai import RawCompletion", "openai"),
        ("import streamparse.adapters.kafka", "kafka"),
        ("import streamparse.adapters.serve", "serve"),
        ("import streamparse.adapters.store.redis_streams", "redis"),
        ("import streamparse.adapters.web", "web"),
        ("import streamparse.adapters.websockets.library", "websockets"),
        ("from streamparse import infer_response_template", "infer"),
    ],
)
def test_what_is_missing_is_told_with_the_extra_that_has_it(program: str, extra: str) -> None:
    last_line = run_without_extras(program).stderr.splitlines()[-1]
    assert last_line.endswith(f"install the extra, pip install 'streamparse-llm[{extra}]'")


def test_what_needs_no_extra_runs_without_any() -> None:
    program = (
        "from streamparse import *\n"
        "from streamparse import KeyedParser, broadcast, parse_many, parse_response, parse_stream\n"
        "from streamparse.adapters.anthropic import MessageEvents\n"
        "from streamparse.adapters.huggingface import TokenStreamer, parse_generate\n"
        "from streamparse.adapters.store import MemoryStore, open_store\n"
        "from streamparse.adapters.openai import ChatCompletionChunks, sse_stream\n"
        "from streamparse.adapters.websockets import EventServer\n"
        "from streamparse.adapters.websockets.asgi import EventApp\n"
        "import streamparse.cli\n"
        "print(parse_response('<think>a</think>b', 'qwen3', prefix='')['content'])"
    )
    ended = run_without_extras(program)
    assert (ended.stdout, ended.stderr) == ("b\n", "")
