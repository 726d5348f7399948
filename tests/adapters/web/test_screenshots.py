"""The pictures of docs/demo.md, made anew when STREAMPARSE_SCREENSHOTS is set (``make screenshots``).

Each is taken at the same place of the same generations, so that only a change of the page changes it.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamparse.adapters.web import recorded
from streamparse.cli.page import RECORDINGS
from tests.adapters.web.conftest import served

PICTURES = Path(__file__).parents[3] / "docs" / "images"
BYTES_AT_MOST = 300_000
PIECES = 268
"""When a picture is taken: the calls of one generation are mended, another is in its reasoning, a third in its call."""

WIDE = {"width": 1280, "height": 832}
PHONE = {"width": 390, "height": 780, "device_scale_factor": 1.5, "is_mobile": True}

make_them = pytest.mark.skipif(
    "STREAMPARSE_SCREENSHOTS" not in os.environ, reason="STREAMPARSE_SCREENSHOTS is not set (make screenshots)"
)


def at_the_place(tab: Any, raw: str) -> None:
    """Wait until the first card has come to the place, and has drawn it."""
    tab.wait_for_function("(text) => document.querySelector('.card .raw pre').textContent.endsWith(text)", arg=raw)
    tab.evaluate("() => document.fonts.ready")
    tab.wait_for_timeout(500)


@make_them
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("demo-light", {**WIDE, "color_scheme": "light"}),
        ("demo-dark", {**WIDE, "color_scheme": "dark"}),
        ("demo-phone", {**PHONE, "color_scheme": "light"}),
    ],
)
def test_make_a_picture_of_the_page(open_tab: Callable[..., Any], name: str, options: dict[str, Any]) -> None:
    inputs = [recorded(each) for each in RECORDINGS]
    if options["width"] < 600:  # where there is room for one, that with the faults comes first
        inputs.insert(0, inputs.pop(3))
    with served(inputs, rate=30, paused=True) as page:
        tab = open_tab(page.url, reduced_motion="reduce", **options)
        page.until_followed()
        page.step(PIECES)
        at_the_place(tab, "".join(inputs[0].pieces[:PIECES])[-20:])
        take(tab, name)


@make_them
def test_make_a_picture_of_the_dialog(open_tab: Callable[..., Any]) -> None:
    with served([recorded(RECORDINGS[0])], paused=True) as page:
        tab = open_tab(page.url, reduced_motion="reduce", color_scheme="dark", width=900, height=720)
        tab.click("#paste")
        tab.fill("[name=text]", '<think>Two cities.</think>\n\nI will look:\n<tool_call>\n{"name": "weather", ')
        tab.check("[value=chat]")
        tab.fill("[name=chat]", "{%- for message in messages %}\n{{- '<|im_start|>' + message.role + '\\n' }}\n…")
        take(tab, "demo-paste")


def take(tab: Any, name: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    tab.screenshot(path=PICTURES / f"{name}.png", scale="device")


@pytest.mark.parametrize("picture", sorted(PICTURES.glob("*.png")), ids=lambda picture: picture.stem)
def test_pictures_are_small(picture: Path) -> None:
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert struct.unpack(">I", content[16:20])[0] >= 390  # pixels wide
    assert len(content) < BYTES_AT_MOST
