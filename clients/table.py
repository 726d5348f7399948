"""Results as the tables of docs/clients.md, between the marks that stand there.

In:  results, and the versions of the clients.
Out: Markdown: a table of clients and checks, one of families and agents, and what failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from clients.checks import CHECKS, REAL_CHECKS
from clients.client import CLIENTS
from clients.trial import Result

PAGE = Path(__file__).parents[1] / "docs" / "clients.md"
BEGIN, END = "<!-- made by `make clients` from here -->", "<!-- to here -->"

SHOWN = 160
"""Characters of what is said of a failure."""

OK, FAILED, NOT_TRIED = "✓", "✗", "–"


def page_with(text: str, tables: str) -> str:
    """The page, with other tables between the marks."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{tables}\n{END}{tail}"


def tables(parts: Mapping[str, Sequence[Result]], versions: Mapping[str, str]) -> str:
    """All tables; ``parts`` are the results by the part of the command that gave them."""
    written = [
        "### Every client with three families",
        _by_client(parts["clients"], {check.name: check.title for check in CHECKS}, versions),
        "### Every client with a real model behind llama.cpp",
        _by_client(parts["real"], {check.name: check.title for check in REAL_CHECKS}, versions),
        "### Agents with every family",
        _by_family(parts["agents"]),
        _failures([result for part in parts.values() for result in part]),
    ]
    return "\n\n".join(part for part in written if part) + "\n"


def _cell(results: Sequence[Result]) -> str:
    """One sign where whole answers and streams agree, else that of whole answers and that of streams."""
    signs = [
        FAILED if any(result.problem for result in of_kind) else OK if of_kind else NOT_TRIED
        for of_kind in ([result for result in results if result.stream is stream] for stream in (False, True))
    ]
    tried = [sign for sign in signs if sign != NOT_TRIED]
    return " ".join(dict.fromkeys(tried)) if tried else NOT_TRIED


def _by_client(results: Sequence[Result], titles: Mapping[str, str], versions: Mapping[str, str]) -> str:
    if not results:
        return "Not tried."
    clients = [client for client in CLIENTS if any(result.client == client.name for result in results)]
    names = [name for name in titles if any(result.check == name for result in results)]
    rows = [["", *(f"{client.title} {versions[client.name]}" for client in clients)]]
    for name in names:
        cells = [_cell([r for r in results if (r.client, r.check) == (client.name, name)]) for client in clients]
        rows.append([titles[name], *cells])
    return _table(rows)


def _by_family(results: Sequence[Result]) -> str:
    if not results:
        return "Not tried."
    agents = [client for client in CLIENTS if any(result.client == client.name for result in results)]
    servers = list(dict.fromkeys(result.server for result in results))
    rows = [["", *(client.title for client in agents)]]
    rows += [
        [server, *(_cell([r for r in results if (r.client, r.server) == (client.name, server)]) for client in agents)]
        for server in servers
    ]
    return _table(rows)


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    lines = [head, ["---", *([":-:"] * (len(head) - 1))], *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _failures(results: Sequence[Result]) -> str:
    """What failed, a line for each check and client."""
    failed: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.problem:
            failed.setdefault((result.check, result.client), []).append(result)
    lines = []
    for (check, client), same in failed.items():
        servers = ", ".join(dict.fromkeys(result.server for result in same))
        problem = " ".join((same[0].problem or "").split())
        lines.append(f"- {check}, {client} ({servers}): {problem[:SHOWN]}")
    return "\n".join(["### What failed", "", *lines]) if lines else ""
