"""transformers' parser in a child process that lives for many questions, and is replaced where it hangs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

CHILD = Path(__file__).with_name("reference_child.py")
START_SECONDS = 120.0
ANSWER_SECONDS = 3.0


class Reference:
    """Asks transformers what it makes of a text; ``ask`` answers None where it does not end."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._answers: SimpleQueue[str] = SimpleQueue()

    def ask(self, template: Any, text: str, *, prefix: str = "", tools: Any = None) -> dict[str, Any] | None:
        """The child's answer, see ``reference_child``; None if it took too long."""
        if self._process is None:
            self._start()
        request = {"template": template, "text": text, "prefix": prefix, "tools": tools}
        return self._exchange(request, ANSWER_SECONDS)

    def close(self) -> None:
        """End the child."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()

    def _start(self) -> None:
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
        self._process = process = subprocess.Popen(
            [sys.executable, "-P", str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self._answers = answers = SimpleQueue()

        def read() -> None:
            assert process.stdout is not None
            with suppress(ValueError):  # closed while it was read
                for line in process.stdout:
                    answers.put(line)
            answers.put("null")

        threading.Thread(target=read, name="reference answers", daemon=True).start()
        # the first answer comes when transformers has been imported
        warm_up = {"template": {"start_anchor": "@", "fields": {"x": {}}}, "text": "a", "prefix": "", "tools": None}
        started = self._exchange(warm_up, START_SECONDS)
        assert started is not None, "the child that runs transformers does not start"
        assert started.get("message") == {"x": "a"}, f"transformers does not work here: {started}"

    def _exchange(self, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        try:
            answer: dict[str, Any] | None = json.loads(self._answers.get(timeout=seconds))
        except Empty:
            answer = None
        if answer is None:
            self.close()
        return answer
