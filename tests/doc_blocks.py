"""The code blocks of the documentation, and what they say that they need.

A block of Python is a program that runs as pasted, unless its first line says otherwise:

    # Needs: <what it takes besides, every name included that the block uses and doesn't make>
    # Runs until Ctrl-C.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NEEDS = "# Needs: "
MAKES_A_NAME = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.MatchAs, ast.MatchStar, ast.ExceptHandler),
)
UNTIL_STOPPED = "# Runs until Ctrl-C."


@dataclass(frozen=True)
class Block:
    """A block of code, and where it is."""

    page: Path
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def needs(self) -> str | None:
        """What the block says that it needs; None where it can be pasted."""
        first = self.code.partition("\n")[0]
        return first.removeprefix(NEEDS) if first.startswith(NEEDS) else None

    @property
    def until_stopped(self) -> bool:
        """Whether the block runs until it is stopped."""
        return self.code.startswith(UNTIL_STOPPED)

    def tree(self) -> ast.Module:
        """The code, in which ``await`` may stand outside a function."""
        return compile(self.code, str(self), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST)

    def imports(self) -> list[str]:
        """Its import statements."""
        return [ast.unparse(node) for node in ast.walk(self.tree()) if isinstance(node, ast.Import | ast.ImportFrom)]

    def missing_names(self) -> set[str]:
        """The names that it uses and doesn't make."""
        used, made = set(), set(dir(builtins))
        for node in ast.walk(self.tree()):
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
            elif isinstance(node, ast.arg):
                made.add(node.arg)
            elif isinstance(node, ast.alias):
                made.add((node.asname or node.name).partition(".")[0])
            elif isinstance(node, MAKES_A_NAME) and node.name:
                made.add(node.name)
        return used - made


def blocks(page: Path, language: str) -> Iterator[Block]:
    """The fenced blocks of a page in one language."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        yield Block(page, text.count("\n", 0, found.start()) + 1, found[1])


def commands(page: Path) -> Iterator[tuple[int, str]]:
    """The command lines of a page: its indented lines and those of its blocks of shell, without what follows a #."""
    in_shell = False
    text = page.read_text(encoding="utf-8").replace("\\\n", "  ")
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            in_shell = line in ("```sh", "```bash")
        elif in_shell or line.startswith("    "):
            yield number, line.partition(" #")[0].strip()
