"""Runs client.js with node, as a browser would load it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[3] / "streamparse" / "adapters" / "websockets" / "client.js"

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def run_module(source: str, *, given: str = "", options: tuple[str, ...] = ()) -> str:
    """What a module prints; ``CLIENT`` in its source stands for the address of client.js."""
    command = ["node", *options, "--input-type=module", "--eval", source.replace("CLIENT", CLIENT.as_uri())]
    done = subprocess.run(command, input=given, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
