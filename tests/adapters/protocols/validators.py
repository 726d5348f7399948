"""The protocols' own packages under Node, in one process that reads many streams."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from streamparse.encode import encode_event

NODE = Path(__file__).parent / "node"

needs_packages = pytest.mark.skipif(
    shutil.which("node") is None or not (NODE / "node_modules").is_dir(),
    reason=f"the packages of {NODE.relative_to(Path(__file__).parents[3])} are not installed: make protocol-packages",
)


class Validators:
    """The process; :meth:`read` gives what the packages read in a stream of chunks and one of events."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def read(self, *, ui: Sequence[Any] = (), agui: Sequence[Any] = ()) -> dict[str, Any]:
        """Give, for each version of ``ai`` and for AG-UI, the faults, the errors and the message."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(encode_event({"ui": list(ui), "agui": list(agui)}, standard=True) + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the process has ended"
        found: dict[str, Any] = json.loads(line)
        return found


@contextmanager
def validators() -> Iterator[Validators]:
    """Run the process for as long as the block runs."""
    with subprocess.Popen(["node", NODE / "check.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield Validators(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(10)
