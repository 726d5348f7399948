"""Large regions of the keyed operator, put off: each generation gives what it would give at once, the others go on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import End, KeyedParser, LimitError, Open, ResponseParser, SnapshotError
from streamparse.graph.aside import FULL_KEYS, FULL_WEIGHT
from streamparse.stages.content_stage import ContentStage
from tests.large_calls import CALL, LARGE, TEMPLATE

TEXTS = [
    "Hi",
    "",
    f"a{CALL}b",
    f"{CALL}{CALL}",
    f'a<call>{{"a": 1}}</call>b{CALL}c',
    '<call>{"name": "f", "arguments": {"a": ]}</call> and on',
    'a<call>{"name": "f", "arguments": {"a": 1',
]
OPENINGS: list[dict[str, Any]] = [{}, {"errors": "strict"}, {"errors": "repair", "deltas": True}]
ENDS: list[Any] = [End("stop", usage=7), End("length"), End("cancelled"), OSError("gone"), 1.5, None]
"""How a generation comes to its end; None is not at all."""


def operator(*, put_off: bool = True, **options: Any) -> KeyedParser:
    keyed = KeyedParser(TEMPLATE, prefix="", **options)
    if put_off:
        keyed.put_off_large_regions(LARGE)
    return keyed


def add(found: dict[Any, list[dict[str, Any]]], pairs: Any) -> None:
    for key, events in pairs:
        found.setdefault(key, []).extend(events)


def settled(keyed: KeyedParser) -> dict[Any, list[dict[str, Any]]]:
    """The events of all that was put off."""
    found: dict[Any, list[dict[str, Any]]] = {}
    while keyed.waiting:
        add(found, keyed.work_off())
    return found


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


class Clock:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@st.composite
def batches(draw: st.DrawFn) -> list[list[tuple[str, Any]]]:
    """Several generations of several keys, each cut anywhere, in batches of any size."""
    waiting: dict[str, list[Any]] = {}
    for key in "abc"[: draw(st.integers(1, 3))]:
        chunks = waiting[key] = []
        in_bytes = draw(st.booleans())
        for _ in range(draw(st.integers(1, 3))):
            text = draw(st.sampled_from(TEXTS))
            data: Any = text.encode() if in_bytes else text
            cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
            if draw(st.booleans()):
                chunks.append(Open(**draw(st.sampled_from(OPENINGS))))
            chunks += [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
            chunks.append(draw(st.sampled_from(ENDS)))
    order = draw(st.permutations([key for key, chunks in waiting.items() for _ in chunks]))
    stream = [(key, chunk) for key in order if (chunk := waiting[key].pop(0)) is not None]
    sizes = draw(st.lists(st.integers(1, 8), min_size=len(stream), max_size=len(stream)))
    made = []
    for size in sizes:
        made.append(stream[:size])
        stream = stream[size:]
    return [batch for batch in made if batch]


@given(batches(), st.data())
def test_each_key_has_the_events_that_it_has_when_nothing_is_put_off(
    given_batches: list[list[tuple[str, Any]]], data: st.DataObject
) -> None:
    at_once, keyed = operator(put_off=False), operator()
    expected: dict[Any, list[dict[str, Any]]] = {}
    found: dict[Any, list[dict[str, Any]]] = {}
    works = []
    for batch in given_batches:
        add(expected, at_once.feed(batch))
        add(found, keyed.feed(batch))
        while (work := keyed.take_work()) is not None and data.draw(st.booleans()):
            works.append(work)
        works += [] if work is None else [work]
        while works and data.draw(st.booleans()):
            work = works.pop(data.draw(st.integers(0, len(works) - 1)))
            if data.draw(st.booleans()):
                work.do()
            add(found, keyed.take_back(work))
    add(expected, at_once.finish())
    add(found, keyed.finish())
    for work in works:
        add(found, keyed.take_back(work))
    add(found, settled(keyed).items())
    assert found == expected
    assert len(keyed) == 0
    then, now = at_once.statistics(), keyed.statistics()
    assert (now.ended, now.failed, now.dropped, now.events) == (then.ended, then.failed, then.dropped, then.events)
    assert (now.characters, now.regions, now.malformed) == (then.characters, then.regions, then.malformed)


def test_unless_it_is_asked_for_nothing_is_put_off() -> None:
    keyed = operator(put_off=False)
    ((_, events),) = keyed.feed([("a", CALL + " x")])
    assert "region_close" in types(events)
    assert not keyed.waiting
    assert keyed.take_work() is None
    assert keyed.work_off() == []


def test_those_that_are_open_already_put_off_too() -> None:
    keyed = operator(put_off=False)
    keyed.feed([("a", CALL[:30])])
    keyed.put_off_large_regions(LARGE)
    assert keyed.feed([("a", CALL[30:] + "x")]) == []
    assert "region_close" in types(settled(keyed)["a"])


def test_what_comes_in_one_piece_is_put_off_too() -> None:
    keyed = operator()
    assert keyed.feed([("a", CALL + "x"), ("b", "Hi")])[0][0] == "b"
    assert list(keyed.set_aside) == ["a"]


def test_the_others_go_on_while_a_thread_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, parse = threading.Event(), ContentStage._parse

    def waiting(stage: ContentStage, region: Any) -> None:
        assert region.field.streams or go_on.wait(60)
        parse(stage, region)

    monkeypatch.setattr(ContentStage, "_parse", waiting)
    keyed = operator()
    keyed.feed([("a", CALL + "x")])
    work = keyed.take_work()
    assert work is not None
    thread = threading.Thread(target=work.do)
    thread.start()
    ((key, events),) = keyed.feed([("a", "y"), ("b", "Hi"), ("a", End()), ("b", End("stop"))])
    assert (key, events[-1]["message"]["content"]) == ("b", "Hi")
    assert keyed.take_work() is None, "there is no other work"
    go_on.set()
    thread.join()
    ((key, events),) = keyed.take_back(work)
    assert (key, events[-1]["message"]["content"]) == ("a", "xy")
    assert not keyed.waiting


@pytest.mark.parametrize(
    ("chunk", "reason"), [(End("stop"), "stop"), (Open(), "cancelled"), (OSError("gone"), None), (1.5, None)]
)
def test_what_ends_a_generation_within_a_large_region_is_put_off(chunk: Any, reason: str | None) -> None:
    keyed = operator()
    keyed.feed([("a", CALL[:-9])])
    assert keyed.feed([("a", chunk), ("a", "next"), ("b", "Hi")])[0][0] == "b"
    events = settled(keyed)["a"]
    last = next(event for event in events if event["type"] in ("message", "error"))
    assert last.get("finish_reason") == reason
    assert last["type"] == ("message" if reason else "error")
    told = events[events.index(last) + 1 :]
    assert types(told) == ([] if chunk == 1.5 else ["region_open", "region_chunk"]), (
        "what is left of a failed one is not"
    )


def test_the_end_of_a_long_text_is_no_work() -> None:
    keyed = operator()
    assert types(keyed.feed([("a", "x" * 100), ("a", End())])[0][1])[-1] == "message"


def test_the_end_of_the_source_ends_what_waits() -> None:
    keyed = operator()
    keyed.feed([("a", CALL[:-9]), ("b", CALL + "x"), ("b", End("stop")), ("c", CALL + "x"), ("d", "Hi")])
    assert [(key, types(events)[-1]) for key, events in keyed.finish()] == [("d", "message")]
    found = settled(keyed)
    assert {key: types(events)[-1] for key, events in found.items()} == dict.fromkeys("abc", "message")
    assert [event["finish_reason"] for event in found["b"] if event["type"] == "message"] == ["stop"]
    assert len(keyed) == 0


def test_an_error_in_the_work_is_an_error_event_and_what_is_left_is_dropped() -> None:
    keyed = operator(errors="strict")
    keyed.feed([("a", "Hi<call>[1, 2, 3, 4, 5, 6, 7, 8,</call>"), ("a", "rest")])
    events = settled(keyed)["a"]
    assert types(events) == ["region_open", "region_chunk", "region_close", "region_open", "region_chunk", "error"]
    assert events[-1]["message"]["content"] == "Hi"
    assert keyed.is_spent("a")
    assert keyed.statistics().dropped == 1
    keyed.feed([("a", End())])
    assert not keyed.is_spent("a")


def test_a_generation_whose_own_end_is_waiting_has_nothing_left_to_stop() -> None:
    keyed = operator(errors="strict")
    keyed.feed([("a", 1.5), ("a", "x")])
    assert keyed.is_spent("a")
    keyed.feed([("a", End()), ("a", "<call>[1, 2, 3, 4, 5, 6, 7, 8,</call>"), ("a", End())])
    assert not keyed.is_spent("a")
    settled(keyed)
    assert not keyed.is_spent("a")


def test_a_key_that_is_set_aside_is_not_saved_but_when_its_work_is_done() -> None:
    keyed, other = operator(), operator()
    keyed.feed([("a", CALL + "x")])
    assert "a" in keyed
    assert list(keyed) == ["a"]
    with pytest.raises(SnapshotError, match="work_off"):
        keyed.snapshot("a")
    with pytest.raises(SnapshotError, match="is open"):
        keyed.restore("a", ResponseParser(TEMPLATE, "").snapshot())
    settled(keyed)
    other.restore("a", keyed.snapshot("a"))
    assert other.feed([("a", CALL + "y")]) == [], "what was restored puts off too"
    assert settled(other)["a"][-1]["text"] == "y"


@pytest.mark.parametrize("taken", [False, True])
def test_a_key_that_is_dropped_gives_nothing_of_its_work(taken: bool) -> None:
    keyed = operator()
    keyed.feed([("a", CALL + "x"), ("a", "y")])
    work = keyed.take_work() if taken else None
    assert keyed.drop("a")
    assert not keyed.drop("a")
    assert "a" not in keyed
    keyed.feed([("a", CALL + "z")])
    if work is not None:
        assert keyed.take_back(work) == []
    assert settled(keyed)["a"][-1]["text"] == "z"
    keyed.drop("a")
    assert keyed.statistics().characters == 2 * len(CALL) + 2, "what was read of both, but not what waited"


def test_a_key_that_is_set_aside_is_not_idle_before_its_work_is_done() -> None:
    clock = Clock()
    keyed = operator(idle_seconds=60, clock=clock)
    keyed.feed([("a", CALL + "x"), ("b", CALL[:-9]), ("c", "Hi")])
    clock.now += 100
    assert {key: events[-1].get("finish_reason") for key, events in keyed.expire()} == {"c": "expired"}
    found = settled(keyed)
    assert found["a"][-1]["text"] == "x"
    assert found["b"][-1]["finish_reason"] == "expired", "it was cut off before, in its large call"
    clock.now += 50
    assert keyed.expire() == []
    clock.now += 20
    assert [key for key, _ in keyed.expire()] == ["a"]
    assert (keyed.statistics().expired, keyed.statistics().set_aside) == (3, 0)


def test_one_that_has_ended_before_does_not_expire_as_well() -> None:
    clock = Clock()
    keyed = operator(idle_seconds=60, clock=clock)
    keyed.feed([("a", CALL + "x"), ("a", End("stop"))])
    clock.now += 100
    assert keyed.expire() == []
    assert [event["finish_reason"] for event in settled(keyed)["a"] if event["type"] == "message"] == ["stop"]
    assert (keyed.statistics().expired, len(keyed)) == (0, 0)


def test_keys_that_are_set_aside_count_as_open_until_their_end_has_come() -> None:
    keyed = operator(max_open=2)
    keyed.feed([("a", CALL + "x"), ("b", "Hi")])
    assert keyed.feed([("c", "x")])[0][1][-1]["kind"] == "LimitError"
    with pytest.raises(LimitError, match="max_open"):
        keyed.restore("d", ResponseParser(TEMPLATE, "").snapshot())
    keyed.feed([("a", End())])
    assert keyed.feed([("d", "Hi")])[0][1][-1]["text"] == "Hi"


def test_what_waits_is_taken_in_slices_with_the_work_of_others_between() -> None:
    keyed = operator()
    keyed.feed([("a", CALL + "x"), *[("a", "word ")] * 1000, ("a", End()), ("b", CALL + "x")])
    order = []
    while keyed.waiting:
        order += [key for key, _ in keyed.work_off()]
    assert order[:3] == ["a", "b", "a"]
    assert 5 < len(order) < 20


def far_too_much_text(keyed: KeyedParser) -> None:
    keyed.feed([("a", CALL + "x"), *[("a", "x" * 10_000)] * (FULL_WEIGHT // 10_000 + 1)])


def far_too_many_ends(keyed: KeyedParser) -> None:
    keyed.feed([(key, CALL + "x") for key in range(FULL_KEYS)])
    assert not keyed.full, "those that go on are bounded by max_open"
    keyed.feed([(key, End()) for key in range(FULL_KEYS)])


@pytest.mark.parametrize("fill", [far_too_much_text, far_too_many_ends])
def test_it_tells_when_too_much_waits_and_takes_it_all_the_same(fill: Callable[[KeyedParser], None]) -> None:
    keyed = operator()
    keyed.feed([("z", CALL + "x")])
    assert not keyed.full
    fill(keyed)
    assert keyed.full
    assert keyed.feed([("other", "Hi"), ("z", "y")])[0][0] == "other"
    found = settled(keyed)
    assert not keyed.full
    assert found["z"][-1]["text"] == "y"


def test_statistics_tell_what_is_set_aside_while_it_is_worked_on() -> None:
    keyed = operator()
    keyed.feed([("a", CALL + "x"), ("b", "Hi")])
    for _ in range(2):
        seen = keyed.statistics()
        assert (seen.open, seen.set_aside, seen.characters) == (2, 1, len(CALL) + 3)
        keyed.take_work()
