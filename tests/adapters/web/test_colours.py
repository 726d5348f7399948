"""Every ink can be read on every ground that it stands on: 4.5 to 1 at least (WCAG 2 AA), light and dark."""

from __future__ import annotations

import re

import pytest

from streamparse.adapters.web.pages import files

HUES = ("reasoning", "content", "calls", "other")
PAIRS = [
    *[(ink, ground) for ink in ("ink", "quiet", "accent") for ground in ("ground", "surface", "sunk")],
    *[(hue, f"{hue}-{part}") for hue in HUES for part in ("ground", "mark")],
    *[("ink", f"{hue}-ground") for hue in (*HUES, "repaired", "malformed")],
    *[("quiet", f"{hue}-ground") for hue in HUES],
    *[(hue, "surface") for hue in (*HUES, "repaired", "malformed")],
    *[("repaired", "calls-ground"), ("calls", "calls-ground"), ("repaired", "repaired-ground")],
    *[("malformed", "malformed-ground"), ("malformed", "malformed-mark"), ("surface", "malformed")],
    ("accent-ink", "accent"),
]
LINES = [("line-strong", ground) for ground in ("ground", "surface", "sunk")]


def colours() -> dict[str, tuple[str, str]]:
    """Each variable of the theme, as its light and its dark colour."""
    theme = files()["/styles/theme.css"].read_text(encoding="utf-8")
    variable = r"--([\w-]+): light-dark\((#\w+), (#\w+)\);"
    return {name: (light, dark) for name, light, dark in re.findall(variable, theme)}


def luminance(colour: str) -> float:
    """The relative luminance, as WCAG defines it."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), PAIRS)
def test_text_can_be_read(ink: str, ground: str, scheme: int) -> None:
    assert contrast(colours()[ink][scheme], colours()[ground][scheme]) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("line", "ground"), LINES)
def test_the_edges_of_what_can_be_used_can_be_seen(line: str, ground: str, scheme: int) -> None:
    assert contrast(colours()[line][scheme], colours()[ground][scheme]) >= 3
