"""The command: ``python -m stress.fuzz [--seconds N] [--seed N] [TARGET …]``, which is ``make fuzz``.

In: a time, shared by the targets. Out: a line for each; for a find the smallest input that shows it, and exit code 1.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import resource
import sys
import time
import traceback
import warnings

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from stress.targets import TARGETS, Target

ROUND = 50
"""Examples of a round; the clock is looked at between rounds."""
MEMORY = 4_000_000_000


def run(target: Target, seconds: float, first_seed: int) -> int:
    """Attack a target for a while; the number of inputs tried. Raises what was found, with the smallest input."""
    options = settings(
        max_examples=ROUND,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    ends = time.monotonic() + seconds
    for number in itertools.count():

        @seed(first_seed + number)
        @options
        @given(st.data())
        def attack(data: st.DataObject) -> None:
            target(data)

        attack()
        if time.monotonic() >= ends:
            return (number + 1) * ROUND
    raise AssertionError("counting does not end")


def main(words: list[str] | None = None) -> int:
    """Attack the targets that were asked for, or all; the exit code says whether something was found."""
    parser = argparse.ArgumentParser(
        prog="python -m stress.fuzz", description="Attacks the library with hostile input."
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"any of {', '.join(TARGETS)}; all if none")
    parser.add_argument("--seconds", type=float, default=300, help="for all targets together (default: 300)")
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="to do again what was done (default: the time)"
    )
    arguments = parser.parse_args(words)
    unknown = [name for name in arguments.targets if name not in TARGETS]
    if unknown:
        parser.error(f"there is no target {unknown[0]!r}; there are {', '.join(TARGETS)}")
    logging.getLogger("streamparse").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most), most))
    names = arguments.targets or list(TARGETS)
    found = 0
    for name in names:
        print(f"{name:16} ", end="", flush=True)
        try:
            count = run(TARGETS[name], arguments.seconds / len(names), arguments.seed)
        except Exception:
            found += 1
            print(f"FOUND something (--seed {arguments.seed} {name}):\n{traceback.format_exc()}", flush=True)
        else:
            print(f"{count:7,} inputs, nothing found", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
