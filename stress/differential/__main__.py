"""``python -m stress.differential FOLDER``: every text through the bundled template and through the others' parsers."""

from __future__ import annotations

import argparse
import io
import json
import logging
import sys
from collections import Counter, defaultdict
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from streamparse import parse_response
from stress.differential.peers import Peer, Reading, peers
from stress.differential.texts import Output, outputs


def ours(output: Output) -> Reading:
    """What the family's bundled template reads, in report mode."""
    form = output.form
    message = parse_response(output.text, form.family, prefix=form.prompt, tools=output.tools, errors="report")
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", [])]
    return Reading.of(calls, message.get("content"))


def theirs(peer: Peer, output: Output) -> Reading:
    """What another parser reads, to which an engine gives no end of a turn; an exception is a reading too."""
    end = output.form.turn_end.strip()
    text = output.text.rstrip()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return peer(text.removesuffix(end) if end else text, output.tools)
    except Exception as error:
        return Reading((), "", f"raises {type(error).__name__}")


def kind(mine: Reading, other: Reading) -> str:
    """In which way two readings differ; empty where they agree on the calls, and on the text but for white space."""
    if other.error:
        return f"the other {other.error}"
    if len(mine.calls) != len(other.calls):
        return f"{len(mine.calls)} calls here, {len(other.calls)} there"
    if [name for name, _ in mine.calls] != [name for name, _ in other.calls]:
        return "names differ"
    if mine.calls != other.calls:
        return "arguments differ"
    return "" if "".join(mine.text.split()) == "".join(other.text.split()) else "text differs"


def right(output: Output, reading: Reading) -> bool | None:
    """Whether a reading has the calls that were meant; None where the text is damaged."""
    if output.expected is None:
        return None
    return reading.calls == Reading.of(list(output.expected), "").calls


def judged(output: Output, mine: Reading, other: Reading) -> str:
    """Who has the calls that were meant."""
    if output.expected is None:
        return "damaged"
    return "both right" if right(output, other) and right(output, mine) else "here" if right(output, mine) else "there"


def main() -> int:
    """Print what differs, by kind; 1 where a whole text is read wrongly here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--examples", type=int, default=1, help="texts that are shown of each kind")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    known = peers(arguments.folder)
    rows = [(output, ours(output)) for output in outputs()]
    wrong = [(output, mine) for output, mine in rows if right(output, mine) is False]
    agree: Counter[str] = Counter()
    kinds: defaultdict[tuple[str, ...], list[tuple[Output, Reading, Reading]]] = defaultdict(list)
    unread = []
    for project, family in known:
        read = [(out, mine, theirs(known[project, family], out)) for out, mine in rows if out.form.family == family]
        for form in dict.fromkeys(output.form for output, _, _ in read):
            own = [row for row in read if row[0].form == form]
            if not any(right(output, other) for output, _, other in own):
                unread.append(f"{project}: {form}")
                continue
            for output, mine, other in own:
                if found := kind(mine, other):
                    kinds[project, output.what, found, judged(output, mine, other)].append((output, mine, other))
                else:
                    agree[project] += 1
    print(f"forms of which the other reads no call: {'; '.join(unread)}")
    print(f"agree: {dict(agree)}; differ: {sum(map(len, kinds.values()))}")
    for (project, what, found, verdict), told in sorted(kinds.items()):
        families = ", ".join(sorted({str(row[0].form) for row in told}))
        print(f"\n{project} | {what} | {found} | {verdict} | {len(told)}: {families}")
        for output, mine, other in told[: arguments.examples]:
            print(f"    {output.text!r}\n    here  {mine}\n    there {other}")
    for output, mine in wrong:
        print(f"WRONG HERE {output.form} | {output.what} | {json.dumps(output.text)} | {mine}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
