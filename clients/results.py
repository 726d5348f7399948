"""Results by the part of the command that gave them, and kept in a file for later runs that try a part of it again.

In:  results and versions, one at a time; the file of an earlier run.
Out: all results, the later one where a check has been tried twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from clients.trial import Result


class Results:
    """The results of this run and, with a ``path``, of the runs before it that kept theirs there."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._results: dict[tuple[str, str, str, str, bool], Result] = {}
        self.versions: dict[str, str] = {}
        if path is not None and path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            self.versions |= kept["versions"]
            for part, results in kept["parts"].items():
                for result in results:
                    self.add(part, Result(**result))

    def add(self, part: str, result: Result) -> None:
        """Take one result, in the place of an earlier one of the same check."""
        self._results[part, result.client, result.server, result.check, result.stream] = result

    def by_part(self, parts: Sequence[str]) -> Mapping[str, list[Result]]:
        """The results of each part, in the order in which they were first tried."""
        return {part: [result for key, result in self._results.items() if key[0] == part] for part in parts}

    def keep(self, parts: Sequence[str]) -> None:
        """Write them to the file, if there is one."""
        if self._path is not None:
            kept = {part: [asdict(result) for result in results] for part, results in self.by_part(parts).items()}
            text = json.dumps({"versions": self.versions, "parts": kept}, indent=1)
            self._path.write_text(text, encoding="utf-8")
