"""The command: ``python -m stress.grammar [--texts N] [--seed N]``, which is ``make soak-grammar``.

In: a number of texts. They are drawn at random, through llguidance's token masks, from the grammars of all bundled
templates, with tools of all kinds, calls required or not, one or several. Out: progress, and each text that its
template doesn't read as calls of those tools with valid arguments. The exit code is 1 if there is any.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
from collections.abc import Sequence

from streamparse import get_response_template, response_template_names
from streamparse.grammar import to_grammar
from stress.checking import fault_in
from stress.drawing import Drawer
from stress.tool_schemas import TOOLS

TEXTS_OF_A_GRAMMAR = 50
PROGRESS_SECONDS = 15
SHOWN = 20
"""Faults that are printed whole."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m stress.grammar", description="draw texts from grammars, and parse them"
    )
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    logging.disable(logging.WARNING)
    chance = random.Random(arguments.seed)
    began = shown_at = time.monotonic()
    drawn = faults = too_long = 0
    while drawn < arguments.texts and time.monotonic() - began < arguments.seconds:
        name, kind = chance.choice(response_template_names()), chance.choice([*TOOLS])
        required, parallel = chance.random() < 0.5, chance.random() < 0.7
        template, tools = get_response_template(name), TOOLS[kind]
        grammar = to_grammar(
            template, tools, target="lark", tool_choice="required" if required else "auto", parallel=parallel
        )
        drawer = Drawer(grammar.text, (*grammar.preserved_tokens, *grammar.triggers), chance.randrange(20, 300))
        for _ in range(min(TEXTS_OF_A_GRAMMAR, arguments.texts - drawn)):
            text = drawer.draw(chance)
            drawn += 1
            if text is None:
                too_long += 1
            elif (fault := fault_in(template, tools, grammar, text, calls=required)) is not None:
                faults += 1
                if faults <= SHOWN:
                    print(f"FAULT {name}, {kind}, required={required}, parallel={parallel}: {fault}\n  {text!r}")
        if time.monotonic() - shown_at > PROGRESS_SECONDS:
            shown_at = time.monotonic()
            print(f"{drawn:9,} texts, {faults} faults, {drawn / (shown_at - began):.0f} a second", flush=True)
    print(f"{drawn:9,} texts, {faults} faults, {too_long:,} given up as too long; {time.monotonic() - began:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
