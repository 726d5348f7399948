"""Every example runs, on its own, and shows what it promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SHOWN = {
    "chat_in_the_terminal.py": ["[reasoning_content]", "The weather tool knows.", "weather {'city': 'Rome'}"],
    "engine_steps.py": [
        "a: stop: {'role': 'assistant', 'reasoning_content': 'Short.', 'content': 'Hello from A.'}",
        "'arguments': {'city': 'Rome'}",
        "b: the client leaves",
        "3 requests ended",
    ],
    "metrics_with_opentelemetry.py": [
        "streamparse.regions.malformed = 1 {region}",
        "streamparse.generations.open = 0 {generation}",
        "streamparse.characters = ",
    ],
    "openai_style_stream.py": ['"delta":{"content":" will."}', '"arguments":"{\\"city\\":\\"Rome\\"}"', "data: [DONE]"],
    "own_template.py": ["fields.content.open: ", "clsoe", '"score": 0.9', '"city": "Rome"'],
    "several_generations.py": [
        "A {'role': 'assistant', 'reasoning_content': 'Short.'",
        "'And B.'",
        "'city': 'Rome'",
        "D failed: the source failed",
    ],
    "websocket_server.py": ["the connection is lost after event ", "content: I will ask", "complete after event 40"],
    "tools_while_it_writes.py": ["sunny in Rome", "This call can't be read: ", "sunny in Oslo"],
}


NOT_RUN = {"record_smollm2.py", "huggingface_generate.py"}
"""They need torch and a model. The first records anew what other examples replay; tests/adapters runs the second."""


@pytest.mark.parametrize("name", sorted({path.name for path in EXAMPLES.glob("*.py")} - NOT_RUN))
def test_an_example_shows_what_it_promises(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    for words in SHOWN[name]:
        assert words in done.stdout
