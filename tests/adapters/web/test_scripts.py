"""The scripts of the page that need no browser, run with node."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.adapters.websockets.node import needs_node

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.test.mjs"))


@needs_node
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script(script: Path) -> None:
    done = subprocess.run(["node", "--test", script], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
