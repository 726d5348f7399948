"""The page as somebody sees and uses it: in chromium, against the real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamparse.adapters.web import recorded
from streamparse.cli.page import RECORDINGS
from tests.adapters.web.conftest import served
from tests.adapters.web.inputs import text_input

OpenTab = Callable[..., Any]

TEXT = (
    "<think>Two cities.</think>\n\nI will **look**:\n<tool_call>\n"
    '{"name": "weather", "arguments": {"city": "Paris", "days": 3}}\n</tool_call><|im_end|>'
)
EVIL = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script><svg onload='window.hacked=1'>"


def shown(tab: Any, selector: str) -> str:
    return str(tab.locator(selector).first.text_content())


def raw_text(tab: Any, card: int = 0) -> str:
    """The raw stream of a card, without the end of the prompt."""
    spans = ".raw pre span:not(.prompt-end)"
    return "".join(tab.locator(".card").nth(card).locator(spans).all_text_contents())


def until(tab: Any, script: str, argument: Any = None) -> None:
    """Wait until something holds on the page."""
    tab.wait_for_function(script, arg=argument)


def until_all_are_over(tab: Any, number: int = 1) -> None:
    until(tab, "(number) => document.querySelectorAll('.card[data-state=complete]').length === number", number)


def is_paused(tab: Any, paused: bool) -> None:
    until(tab, "(paused) => document.getElementById('pause').dataset.paused === paused", str(paused).lower())


def test_events_appear_while_the_stream_runs(open_tab: OpenTab) -> None:
    with served([text_input(TEXT)], paused=True) as page:
        tab = open_tab(page.url)
        tab.wait_for_selector(".card")
        page.until_followed()
        for pieces in range(1, len(TEXT) // 4 + 1):
            tab.keyboard.press(".")
            written = TEXT[: 4 * pieces]
            until(tab, "(text) => document.querySelector('.raw pre').textContent === text", written)
            if pieces == 4:
                assert "Two citi".startswith(shown(tab, ".reasoning .prose")[:8])
                assert tab.locator("details.reasoning[open]").count() == 1
        assert tab.locator(".card[data-state=running]").count() == 1
        tab.keyboard.press(" ")
        until_all_are_over(tab)
        assert raw_text(tab) == TEXT


def test_a_call_fills_in_argument_by_argument(open_tab: OpenTab) -> None:
    with served([text_input(TEXT)], paused=True) as page:
        tab = open_tab(page.url)
        page.until_followed()
        seen = []
        for _ in range(len(TEXT) // 4 + 1):
            page.step()
            tab.evaluate("() => new Promise(done => setTimeout(() => requestAnimationFrame(() => done()), 30))")
            seen.append(tuple(tab.locator(".call .arguments dt, .call .arguments dd").all_text_contents()))
        order = [now for before, now in zip([(), *seen], seen, strict=False) if now != before]
        assert order[-1] == ("city", "Paris", "days", "3")
        assert any(len(arguments) == 2 for arguments in order)
        assert any(arguments[:1] == ("city",) and arguments[1] != "Paris" for arguments in order)


def test_the_message_is_what_was_parsed(open_tab: OpenTab) -> None:
    with served([text_input(TEXT)]) as page:
        tab = open_tab(page.url)
        until_all_are_over(tab)
        assert tab.locator("details.reasoning:not([open])").count() == 1
        assert "2 words" in shown(tab, ".reasoning summary")
        assert shown(tab, ".content strong") == "look"
        assert shown(tab, ".call.complete .name") == "weather"
        assert shown(tab, ".state .word") == "complete · 1 call"
        marks = tab.locator(".raw .mark").all_text_contents()
        assert marks == ["<think>", "</think>\n\n", "<tool_call>", "</tool_call>"]
        assert shown(tab, ".raw .ends-turn") == "<|im_end|>"


def test_of_a_long_stream_only_what_is_in_sight_is_laid_out(open_tab: OpenTab) -> None:
    code = "".join(f"line {number}\n\n" for number in range(3000))
    text = f"<think>{code}</think>{code}"
    with served([text_input(text, size=700)]) as page:
        tab = open_tab(page.url)
        until_all_are_over(tab)
        assert raw_text(tab) == text
        laid_out = (
            "() => [...document.querySelectorAll('.raw .lines')]"
            ".map((block) => block.firstChild.checkVisibility({ contentVisibilityAuto: true }))"
        )
        until(
            tab, f"() => {{ const seen = ({laid_out})(); return seen.includes(true) && !seen[0] && seen.length > 10; }}"
        )
        select = (
            "() => { getSelection().selectAllChildren(document.querySelector('.raw pre')); return `${getSelection()}` }"
        )
        assert tab.evaluate(select).rstrip("\n") == text.rstrip("\n")


def test_the_recordings_come_out_whole_with_what_is_repaired_and_malformed_marked(open_tab: OpenTab) -> None:
    inputs = [recorded(name) for name in RECORDINGS]
    with served(inputs) as page:
        tab = open_tab(page.url)
        until_all_are_over(tab, len(inputs))
        for card, made in enumerate(inputs):
            assert raw_text(tab, card) == "".join(made.pieces)
        repaired, malformed = (tab.locator(f".card:has(.call.{kind})") for kind in ("repaired", "malformed"))
        assert repaired.locator(".mended").all_text_contents() == [
            "Mended: a Python literal, a trailing comma",
            "Mended: a raw line break in a string",
        ]
        assert '"window_seat": True' in "".join(repaired.locator(".raw .text.repaired").all_text_contents())
        assert malformed.locator(".call.complete").count() == 3
        assert malformed.locator(".fault mark").text_content() == "R"
        assert malformed.locator(".raw .text.malformed").text_content().endswith("rather take the")
        table = tab.locator(".message table").first
        assert table.locator("th").all_text_contents() == ["", "now", "after 1 and 2", "broker"]


def test_a_connection_that_is_cut_loses_nothing(open_tab: OpenTab) -> None:
    inputs = [recorded("qwen3_5"), text_input(TEXT)]
    with served(inputs, paused=True) as page:
        tab = open_tab(page.url)
        page.until_followed()
        for _ in range(4):
            page.step(7)
            page.disconnect()
            page.step(3)  # what is written while nobody is connected
        until(tab, "() => document.getElementById('lost').hidden && document.querySelectorAll('.card').length === 2")
        page.call(page.page.show.pace.go_on)
        until_all_are_over(tab, 2)
        for card, made in enumerate(inputs):
            assert raw_text(tab, card) == "".join(made.pieces)
        assert tab.locator(".card").nth(1).locator(".call .arguments").text_content() == "cityParisdays3"


def test_a_tab_that_hangs_does_not_hold_up_another(open_tab: OpenTab) -> None:
    with served([recorded("deepseek_r1")], paused=True) as page:
        hanging, other = open_tab(page.url), open_tab(page.url)
        for tab in (hanging, other):
            tab.wait_for_selector(".card")
            is_paused(tab, True)
        debugger = hanging.context.new_cdp_session(hanging)
        debugger.send("Debugger.enable")
        debugger.send("Debugger.pause")  # at the next line of script, and so until it is resumed
        page.call(page.page.show.pace.go_on)
        until_all_are_over(other)
        debugger.send("Debugger.resume")
        debugger.send("Debugger.disable")
        until_all_are_over(hanging)
        assert raw_text(hanging) == raw_text(other) == "".join(recorded("deepseek_r1").pieces)


def test_a_pasted_output_is_parsed(open_tab: OpenTab) -> None:
    with served([text_input("old")]) as page:
        tab = open_tab(page.url)
        tab.click("#paste")
        tab.fill("[name=text]", TEXT)
        tab.click("text=Watch it parse")
        until_all_are_over(tab, 2)
        assert tab.locator("dialog[open]").count() == 0
        assert raw_text(tab, 0) == TEXT
        assert shown(tab, ".card:first-child .call.complete .name") == "weather"
        until(tab, "() => document.activeElement.dataset.key === 'g2'")


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_a_pasted_output_is_in_sight_and_says_if_all_is_paused(open_tab: OpenTab, width: int) -> None:
    with served([text_input(f"old {number}") for number in range(12)], paused=True) as page:
        tab = open_tab(page.url, width=width)
        until(tab, "() => document.querySelectorAll('.card').length === 12")
        tab.evaluate("() => scrollTo(0, document.body.scrollHeight)")
        tab.keyboard.press("n")
        tab.fill("[name=text]", TEXT)
        tab.keyboard.press("Control+Enter")
        until(tab, "() => document.activeElement.dataset.key === 'g13'")
        assert tab.locator("dialog[open]").count() == 0
        tab.wait_for_selector(".card[data-key=g13] .word:has-text('paused')")
        assert "paused" in shown(tab, "#news")
        top = tab.evaluate("() => document.activeElement.getBoundingClientRect().top")
        assert tab.evaluate("() => document.querySelector('.bar').getBoundingClientRect().bottom") <= top + 1
        assert top < 300
        tab.keyboard.press(" ")
        until_all_are_over(tab, 13)
        assert "paused" not in shown(tab, ".card[data-key=g13] .word")


@pytest.mark.parametrize("shortcuts", [True, False])
def test_escape_leaves_the_enlarged_card(open_tab: OpenTab, shortcuts: bool) -> None:
    with served([text_input("one"), text_input("two")]) as page:
        tab = open_tab(page.url)
        until_all_are_over(tab, 2)
        if not shortcuts:
            tab.click("#keys")
            tab.uncheck("#keys-on")
            tab.keyboard.press("Escape")
        tab.click(".card:first-child .enlarge")
        tab.click("#paste")
        tab.keyboard.press("Escape")
        assert tab.locator("dialog[open]").count() == 0
        assert tab.locator(".card.large").count() == 1, "that was the dialog's"
        tab.keyboard.press("Escape")
        assert tab.locator(".card.large").count() == 0
        assert tab.locator(".card .enlarge[aria-pressed=true]").count() == 0


def test_a_chat_template_is_inferred_from(open_tab: OpenTab) -> None:
    chat = (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    with served([]) as page:
        tab = open_tab(page.url)
        tab.keyboard.press("n")
        tab.fill("[name=text]", "Hi *there*<|end|>")
        tab.check("[value=chat]")
        tab.fill("[name=chat]", chat)
        tab.click("text=Watch it parse")
        until_all_are_over(tab)
        assert shown(tab, ".facts .template") == "inferred, verified"
        assert shown(tab, ".content em") == "there"


def test_what_can_not_be_parsed_is_said_in_the_dialog(open_tab: OpenTab) -> None:
    with served([]) as page:
        tab = open_tab(page.url)
        tab.click("#paste")
        tab.click("text=Watch it parse")
        assert "Paste the raw output" in shown(tab, ".problem:visible")
        tab.fill("[name=text]", "a")
        tab.check("[value=own]")
        tab.fill("[name=own]", "{")
        tab.click("text=Watch it parse")
        tab.wait_for_selector(".problem:has-text('not JSON')")
        tab.keyboard.press("Escape")
        assert tab.locator("dialog[open]").count() == 0


def test_a_generation_is_saved_as_a_file_that_opens_again(open_tab: OpenTab, tmp_path: Path) -> None:
    file = tmp_path / "saved.json"
    with served([text_input(TEXT)]) as page:
        tab = open_tab(page.url)
        until_all_are_over(tab)
        with tab.expect_download() as download:
            tab.click(".card .save")
        download.value.save_as(file)
        assert download.value.suggested_filename == "a-text.json"
    saved = json.loads(file.read_text(encoding="utf-8"))
    assert "".join(saved["pieces"]) == TEXT
    assert saved["message"]["content"] == "I will **look**:"
    with served([]) as page:
        tab = open_tab(page.url)
        tab.click("#paste")
        tab.set_input_files("[name=file]", file)
        until_all_are_over(tab)
        tab.wait_for_selector(".verdict.good:has-text('The same message')")
        assert raw_text(tab) == TEXT
        saved["message"]["content"] = "another"
        file.write_text(json.dumps(saved), encoding="utf-8")
        tab.click("#paste")
        tab.set_input_files("[name=file]", file)
        tab.wait_for_selector(".verdict.bad:has-text('Not the message')")


def test_an_input_can_be_changed_and_parsed_again(open_tab: OpenTab) -> None:
    with served([text_input(TEXT)]) as page:
        tab = open_tab(page.url)
        until_all_are_over(tab)
        tab.click(".card .edit")
        tab.wait_for_selector("dialog[open]")
        until(tab, "(text) => document.querySelector('[name=text]').value === text", TEXT)
        tab.fill("[name=text]", "Changed")
        tab.click("text=Watch it parse")
        until_all_are_over(tab, 2)
        assert shown(tab, ".card:first-child .content") == "Changed"


def test_what_a_model_writes_is_never_more_than_text(open_tab: OpenTab) -> None:
    links = "[a](javascript:window.hacked=1) ![i](https://evil.example/i.png) <https://evil.example/x>"
    call = json.dumps({"name": EVIL, "arguments": {EVIL: EVIL, "list": [EVIL], "lines": f"{EVIL}\n{EVIL}"}})
    text = (
        f"<think>{EVIL}</think>{EVIL}\n\n# {EVIL}\n\n- {EVIL}\n\n| {EVIL} | b |\n|---|---|\n| {EVIL} | d |\n\n"
        f"```{EVIL}\n{EVIL}\n```\n\n> {EVIL} {links}\n\n**{EVIL}**\n<tool_call>{call}</tool_call>"
        f'<tool_call>{{"name": "{EVIL}</tool_call><|im_end|>'
    )
    with served([text_input(text, size=7, title=EVIL, prompt=EVIL, origin=EVIL, template_name="qwen3")]) as page:
        tab = open_tab(page.url)
        until_all_are_over(tab)
        assert raw_text(tab) == text
        assert tab.evaluate("() => window.hacked") is None
        assert tab.locator("main :is(img, script, iframe, svg[onload], style, object, form)").count() == 0
        hrefs = tab.evaluate("() => [...document.querySelectorAll('main a')].map((link) => link.href)")
        assert set(hrefs) <= {"https://evil.example/i.png", "https://evil.example/x"}
        rels = tab.evaluate("() => [...document.querySelectorAll('main a')].map((link) => link.rel)")
        assert set(rels) == {"noopener noreferrer nofollow"}
        for place in (
            ".card h2",
            ".prompt",
            ".reasoning .prose",
            ".content blockquote",
            ".call .name",
            ".arguments dt",
        ):
            assert EVIL in shown(tab, place), place


def test_it_can_be_used_with_keys_alone(open_tab: OpenTab) -> None:
    with served([text_input(TEXT), text_input("other")], rate=30, paused=True) as page:
        tab = open_tab(page.url)
        tab.wait_for_selector(".card")
        order = []
        for _ in range(9):
            tab.keyboard.press("Tab")
            order.append(tab.evaluate("() => document.activeElement.id || document.activeElement.className"))
        assert order == ["skip", "again", "pause", "step", "slower", "faster", "paste", "theme", "keys"]
        tab.keyboard.press("?")
        assert "one piece of each generation" in shown(tab, "dialog[open] .keys")
        tab.keyboard.press("Escape")
        tab.keyboard.press("+")
        until(tab, "() => document.getElementById('rate').textContent === '60/s'")
        tab.keyboard.press("-")
        until(tab, "() => document.getElementById('rate').textContent === '30/s'")
        tab.keyboard.press("j")
        assert tab.evaluate("() => document.activeElement.dataset.key") == "g1"
        tab.keyboard.press("j")
        assert tab.evaluate("() => document.activeElement.dataset.key") == "g2"
        tab.keyboard.press("e")
        assert tab.locator(".card.large [aria-pressed=true]").count() == 1
        tab.keyboard.press("Space")
        is_paused(tab, False)
        tab.keyboard.press("Space")
        is_paused(tab, True)
        tab.keyboard.press("n")
        tab.keyboard.type("? r.")
        assert tab.locator("[name=text]").input_value() == "? r."
        assert tab.locator("#keys-dialog[open]").count() == 0
        tab.keyboard.press("Escape")
        tab.click("#keys")
        tab.uncheck("#keys-on")
        tab.keyboard.press("Escape")
        tab.keyboard.press("?")
        assert tab.locator("dialog[open]").count() == 0


def test_again_plays_all_from_the_start(open_tab: OpenTab) -> None:
    with served([text_input("one"), text_input("two")]) as page:
        tab = open_tab(page.url)
        until_all_are_over(tab, 2)
        tab.keyboard.press("r")
        until(tab, "() => document.querySelector('.card').dataset.key === 'g3'")
        until_all_are_over(tab, 2)
        assert tab.locator(".content").all_text_contents() == ["one", "two"]
        tab.click(".card:first-child .remove")
        until(tab, "() => document.querySelectorAll('.card').length === 1")
        assert tab.locator(".content").all_text_contents() == ["two"]


def test_readers_of_screens_hear_how_it_ended_and_not_every_piece(open_tab: OpenTab) -> None:
    with served([text_input(TEXT)], paused=True) as page:
        tab = open_tab(page.url)
        is_paused(tab, True)
        tab.evaluate(
            "() => { window.heard = []; new MutationObserver(() => heard.push(news.textContent))"
            ".observe(document.getElementById('news'), { childList: true }) }"
        )
        page.call(page.page.show.pace.go_on)
        until_all_are_over(tab)
        assert tab.evaluate("() => heard") == ["a text: complete, 1 call"]
        assert tab.locator("main [aria-live], main [role=status], main [role=log]").count() == 0


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_width_has_to_be_scrolled_sideways(open_tab: OpenTab, width: int) -> None:
    inputs = [recorded("deepseek_r1"), recorded("faulty/kimi_k2_malformed"), text_input("x" * 3000 + " `" + "y" * 500)]
    with served(inputs) as page:
        tab = open_tab(page.url, width=width, height=800)
        until_all_are_over(tab, 3)
        assert tab.evaluate("() => document.documentElement.scrollWidth") <= width
        for pane in tab.locator(".message, .raw").all():
            assert pane.evaluate("(pane) => pane.scrollWidth - pane.clientWidth") <= 1
        tab.click("#paste")
        assert tab.evaluate("() => document.documentElement.scrollWidth") <= width
        assert tab.locator("dialog[open]").evaluate("(dialog) => dialog.scrollWidth - dialog.clientWidth") <= 1


def ground(tab: Any) -> int:
    """How light the page's ground is, from 0 to 255."""
    colour = tab.evaluate("() => getComputedStyle(document.body).backgroundColor")
    return int(colour.split("(")[1].split(",")[0])


def test_it_is_light_or_dark_as_the_system_or_the_reader_wants(open_tab: OpenTab) -> None:
    with served([]) as page:
        assert ground(open_tab(page.url, color_scheme="light")) > 200
        tab = open_tab(page.url, color_scheme="dark")
        assert ground(tab) < 60
        tab.click("#theme")
        assert ground(tab) > 200
        tab.reload()
        assert ground(tab) > 200
