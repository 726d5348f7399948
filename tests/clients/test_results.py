"""Results of several runs come together in a file."""

from __future__ import annotations

from pathlib import Path

from clients.results import Results
from clients.trial import Result

BAD = Result("litellm", "qwen3", "call", True, "no call", 1.0)
GOOD = Result("litellm", "qwen3", "call", True, None, 1.0)
OTHER = Result("openai", "qwen3", "call", True, None, 1.0)
PARTS = ("clients", "agents")


def test_what_was_tried_again_has_the_later_result_and_the_rest_is_kept(tmp_path: Path) -> None:
    first = Results(tmp_path / "results.json")
    first.versions["litellm"] = "1.0"
    first.add("clients", BAD)
    first.add("clients", OTHER)
    first.keep(PARTS)

    second = Results(tmp_path / "results.json")
    second.add("clients", GOOD)
    second.add("agents", OTHER)
    assert second.by_part(PARTS) == {"clients": [GOOD, OTHER], "agents": [OTHER]}
    assert second.versions == {"litellm": "1.0"}
