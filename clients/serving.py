"""``streamparse serve``, run as its users run it: the command, in a process of its own.

In:  the URL of an upstream, a chat template and the name of a response template.
Out: the URL to give to clients.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

KEY = "secret"
START_SECONDS = 240


@contextmanager
def serving(
    upstream: str, chat_template: Path, template: str, *, arguments: Sequence[str] = (), log: Path
) -> Iterator[str]:
    """Run the command for as long as the block runs; what it says goes to the file ``log``."""
    command = [sys.executable, "-m", "streamparse", "serve", "--upstream", upstream, "--port", "0"]
    command += ["--chat-template", str(chat_template), "--template", template, "--key-env", "CLIENTS_KEY"]
    command += ["--grace-seconds", "1", *arguments]
    environment = {**os.environ, "CLIENTS_KEY": KEY}
    with log.open("w") as said, subprocess.Popen(command, env=environment, stderr=said) as process:
        try:
            yield _where(process, log)
        finally:
            process.terminate()


def _where(process: subprocess.Popen[bytes], log: Path) -> str:
    """The URL, as soon as the command says it."""
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        if found := re.search(r"serving on (\S+)\n", log.read_text()):
            return found[1]
        time.sleep(0.02)
    raise RuntimeError(f"streamparse serve does not run: {log.read_text()}")
