"""The command: ``python -m benchmarks [--quick] [SECTION …]``."""

from __future__ import annotations

import argparse
import importlib
import logging
import os

SECTIONS = {
    "short": "short",
    "transformers": "against_transformers",
    "growth": "growth",
    "memory": "memory",
    "deltas": "deltas",
    "stream": "stream_cost",
    "generations": "generations",
    "idle": "idle",
    "slow": "slow_consumer",
    "fan-out": "fan_out",
    "responsiveness": "responsiveness",
    "hostile": "hostile",
    "kafka": "kafka",
}


def main() -> None:
    """Run the sections that were asked for, or all."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Speed, growth and memory of streamparse."
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"any of {', '.join(SECTIONS)}; all if none")
    parser.add_argument(
        "--quick", action="store_true", help="smaller sizes and fewer runs: a minute instead of several"
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"there is no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    logging.getLogger("streamparse").setLevel(logging.ERROR)
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    for name in arguments.sections or SECTIONS:
        importlib.import_module(f"benchmarks.{SECTIONS[name]}").report(quick=arguments.quick)


if __name__ == "__main__":
    main()
