"""``streamparse serve`` as a process: it serves, says where, and ends when told to; what can't be used is told."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import openai
import pytest

from streamparse.cli import main
from streamparse.template.bundled import bundled_source

TEXT = '<think>Hm.</think>Hi<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call><|im_end|>'
MESSAGES: Any = [{"role": "user", "content": "Hi"}]
TOOLS: Any = [{"type": "function", "function": {"name": "f"}}]
CHATML = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


class Completions(BaseHTTPRequestHandler):
    """Raw completions, a character an event; what was asked is kept."""

    asked: list[Any]

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for piece in TEXT:
            self.wfile.write(b"data: " + json.dumps({"choices": [{"text": piece}]}).encode() + b"\n\n")
        self.wfile.write(b'data: {"choices": [{"text": "", "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n')

    def log_message(self, *_arguments: Any) -> None:
        pass


@contextmanager
def completions() -> Iterator[tuple[str, list[Any]]]:
    asked: list[Any] = []
    handler = type("Handler", (Completions,), {"asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", asked
        finally:
            server.shutdown()


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    command = [sys.executable, "-m", "streamparse", "serve", "--port", "0", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/v1", process.stderr.readline())
        try:
            assert found, process.stderr.read()
            yield found[0]
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) in (0, -signal.SIGTERM)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model's folder."""
    (tmp_path / "chat_template.jinja").write_text(CHATML)
    token = {"content": "<|im_start|>", "special": True}
    config = {"bos_token": "<s>", "added_tokens_decoder": {"1": token, "2": {"content": "<|never_written|>"}}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_it_serves_until_it_is_told_to_stop(folder: Path) -> None:
    flags = ["--chat-template", str(folder), "-t", "qwen3", "--server", "llama.cpp", "--model", "mine"]
    with completions() as (url, asked), serving("--upstream", url, *flags) as here:
        client = openai.OpenAI(base_url=here, api_key="none")
        with (
            client,
            client.chat.completions.stream(model="mine", messages=MESSAGES, tools=TOOLS) as stream,
        ):
            message: Any = stream.get_final_completion().choices[0].message
    assert (message.content, message.reasoning_content) == ("Hi", "Hm.")
    assert message.tool_calls[0].function.arguments == '{"x":1}'
    assert asked[0]["prompt"] == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert asked[0]["preserved_tokens"] == ["<|im_start|>"]
    assert (asked[0]["model"], asked[0]["max_tokens"]) == ("mine", 4096)


UPSTREAM = ("--upstream", "http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--chat-template", "nowhere"], "no such file or folder: nowhere"),
        (["--chat-template", "{folder}", "--chat-template-args", "{"], "--chat-template-args is not JSON"),
        (["--chat-template", "{folder}", "--chat-template-args", "[]"], "must be a JSON object"),
        (["--chat-template", "{folder}", "--key-env", "NOT_SET"], "environment variable NOT_SET is not set"),
        (["--chat-template", "{folder}", "-t", "no_such"], "nor a bundled template"),
        (["--chat-template", "{folder}", "-t", "qwen3", "--host", "256.1.1.1"], "can't listen on 256.1.1.1:8100"),
    ],
)
def test_what_can_not_be_used_is_told_in_one_line(
    arguments: list[str], words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(folder) if argument == "{folder}" else argument for argument in arguments]
    assert main(["serve", *UPSTREAM, *given]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "flag", ["--max-requests=0", "--request-seconds=-1", "--grace-seconds=soon", "--server=x", "--max-body=1.5"]
)
def test_limits_that_are_none_are_refused(flag: str, folder: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["serve", *UPSTREAM, "--chat-template", str(folder), flag])
    assert caught.value.code == 2


def test_a_response_template_that_does_not_fit_is_told_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for template, words in [("mistral", "the start anchor"), ("qwen3", "")]:
        main(["serve", *UPSTREAM, "--chat-template", str(folder), "-t", template, "--host", "256.1.1.1"])
        first, *rest = capsys.readouterr().err.splitlines()
        assert words in first
        assert len(rest) == bool(words)


def test_the_response_template_is_the_folders_own_or_inferred(folder: Path) -> None:
    from streamparse.cli import _argument_parser
    from streamparse.cli.serve import settings_of

    def template_of(*flags: str) -> Any:
        arguments = _argument_parser().parse_args(["serve", *UPSTREAM, "--chat-template", str(folder), *flags])
        template: Any = settings_of(arguments).template
        return template.source

    assert template_of()["start_anchor_pattern"].startswith(r"<\|im_start\|>assistant")
    own = {"start_anchor": "@", "fields": {"content": {}}}
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**config, "response_template": own}))
    assert template_of() == own
    assert template_of("-t", "qwen3") == bundled_source("qwen3")


def test_streamparse_and_its_command_need_none_of_what_adapters_need() -> None:
    seen = "import sys, streamparse, streamparse.cli; print([name for name in sys.modules if name in sys.argv])"
    needed = ["httpx", "httpx_sse", "starlette", "uvicorn", "prometheus_client", "openai"]
    done = subprocess.run([sys.executable, "-c", seen, *needed], capture_output=True, text=True, env=os.environ)
    assert done.stdout.strip() == "[]"
