"""What one walk over a parsed chat template finds.

The names it reads are switches that a caller may set, the texts it holds are candidates for delimiters, and the
values that it compares a name with are worth setting.
"""

from __future__ import annotations

from dataclasses import dataclass

from jinja2 import nodes
from jinja2.visitor import NodeVisitor


@dataclass(frozen=True)
class Findings:
    """``variables`` are the names read that are not the loops' and macros' own; ``texts`` are in the order of the
    source.
    """

    variables: frozenset[str]
    texts: tuple[str, ...]
    compared: dict[str, list[str]]


def findings_of(tree: nodes.Template) -> Findings:
    """Walk over a parsed chat template."""
    walk = _Walk()
    walk.visit(tree)
    return Findings(frozenset(walk.read - walk.bound), tuple(walk.texts), walk.compared)


class _Walk(NodeVisitor):
    """Collects names, texts and comparisons."""

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.bound: set[str] = set()
        self.texts: dict[str, None] = {}
        self.compared: dict[str, list[str]] = {}

    def visit_Name(self, node: nodes.Name) -> None:
        if node.ctx == "load":
            self.read.add(node.name)

    def visit_For(self, node: nodes.For) -> None:
        targets = [node.target, *node.target.find_all(nodes.Name)]
        self.bound.update(target.name for target in targets if isinstance(target, nodes.Name))
        self.generic_visit(node)

    def visit_Macro(self, node: nodes.Macro) -> None:
        self.bound.update([node.name, *(argument.name for argument in node.args)])
        self.generic_visit(node)

    def visit_TemplateData(self, node: nodes.TemplateData) -> None:
        self.texts[node.data] = None

    def visit_Const(self, node: nodes.Const) -> None:
        if isinstance(node.value, str):
            self.texts[node.value] = None

    def visit_Compare(self, node: nodes.Compare) -> None:
        sides = [node.expr, *(operand.expr for operand in node.ops)]
        values = [const.value for side in sides for const in _constants_in(side) if isinstance(const.value, str)]
        for side in sides:
            if isinstance(side, nodes.Name):
                self.compared.setdefault(side.name, []).extend(values)
        self.generic_visit(node)


def _constants_in(node: nodes.Node) -> list[nodes.Const]:
    """The constants that a side of a comparison is, or lists."""
    if isinstance(node, nodes.Const):
        return [node]
    return [item for item in node.iter_child_nodes() if isinstance(item, nodes.Const)]
