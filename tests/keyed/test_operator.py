"""The keyed operator: each generation gives what it would give alone, whatever becomes of the others."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import (
    ArgumentError,
    End,
    KeyedParser,
    LimitError,
    Limits,
    Open,
    ResponseParser,
    SnapshotError,
    StreamparseError,
    TemplateError,
    load_response_template,
)
from streamparse.graph import Graph
from streamparse.graph.coalescing import coalesced as join_events

QWEN3 = load_response_template("qwen3")
GPT_OSS = load_response_template("gpt_oss")
TEXTS = {
    "call": (
        QWEN3,
        '<think>\nHm.\n</think>\n\nI will look.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>',
    ),
    "cut off": (QWEN3, 'Hello <tool_call>\n{"name": "f", "argum'),
    "broken": (QWEN3, '<tool_call>\n{"name": \n</tool_call> and on <b> it goes'),
    "channels": (
        GPT_OSS,
        "<|channel|>analysis<|message|>Brief.<|end|><|start|>assistant<|channel|>final<|message|>And B.",
    ),
    "nothing": (QWEN3, ""),
}


class Clock:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def by_key(batches: list[Any]) -> dict[Any, list[dict[str, Any]]]:
    """The events of each key, in order, with neighbouring chunks of a region as one."""
    found: dict[Any, list[dict[str, Any]]] = {}
    for batch in batches:
        for key, events in batch:
            found.setdefault(key, []).extend(events)
    return {key: join_events(events) for key, events in found.items()}


def alone(template: Any, pieces: list[Any], reason: str | None = None, **options: Any) -> list[dict[str, Any]]:
    """The events that a generation has when it is the only one."""
    parser = ResponseParser(template, "", **{"errors": "report", **options})
    events = [*parser.initial_events, *(event for piece in pieces for event in parser.feed(piece))]
    message, last = parser.finalize(reason)
    ending = {"type": "message", "message": message, "problems": parser.problems, "finish_reason": reason}
    return join_events([*events, *last, ending])


def pairs_of(operator: KeyedParser, *pairs: tuple[Any, Any]) -> dict[Any, list[dict[str, Any]]]:
    return by_key([operator.feed(list(pairs))])


@st.composite
def interleavings(draw: st.DrawFn) -> tuple[dict[str, str], list[list[tuple[str, Any]]]]:
    """Generations, each cut anywhere, some of them into bytes, shuffled together, in batches of any size."""
    chosen = {
        f"key {number}": name for number, name in enumerate(draw(st.lists(st.sampled_from(sorted(TEXTS)), max_size=5)))
    }
    waiting: dict[str, list[Any]] = {}
    for key, name in chosen.items():
        text = TEXTS[name][1]
        data: Any = text.encode() if draw(st.booleans()) else text
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
        waiting[key] = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)] + [End("stop")]
    order = draw(st.permutations([key for key, pieces in waiting.items() for _ in pieces]))
    stream = [(key, waiting[key].pop(0)) for key in order]
    batches = []
    while stream:
        size = draw(st.integers(1, len(stream)))
        batches.append(stream[:size])
        stream = stream[size:]
    return chosen, batches


def options_for(chosen: dict[str, str]) -> Any:
    return lambda key: {"template": TEXTS[chosen[key]][0], "prefix": ""}


@given(interleavings())
def test_any_interleaving_gives_each_generation_what_it_would_give_alone(
    drawn: tuple[dict[str, str], list[list[tuple[str, Any]]]],
) -> None:
    chosen, batches = drawn
    operator = KeyedParser(options=options_for(chosen), clock=Clock())
    made = [operator.feed(batch) for batch in batches]
    for batch in made:
        assert len(dict(batch)) == len(batch), "a key has one item of a batch"
        assert all(events for _, events in batch)
    assert operator.statistics().events == sum(len(events) for batch in made for _, events in batch)
    found = by_key(made)
    assert found == {key: alone(TEXTS[name][0], [TEXTS[name][1]], "stop") for key, name in chosen.items()}


@given(interleavings(), st.data())
def test_a_generation_moved_to_another_operator_goes_on_with_the_same_events(
    drawn: tuple[dict[str, str], list[list[tuple[str, Any]]]], data: st.DataObject
) -> None:
    chosen, batches = drawn
    operators = [KeyedParser(options=options_for(chosen)), KeyedParser(options=options_for(chosen))]
    place = dict.fromkeys(chosen, 0)
    made = []
    for batch in batches:
        for key, chunk in batch:
            made.append(operators[place[key]].feed([(key, chunk)]))
            here = operators[place[key]]
            if key in here and data.draw(st.booleans()):
                saved = here.snapshot(key)
                assert here.drop(key)
                place[key] = 1 - place[key]
                operators[place[key]].restore(key, saved)
    assert by_key(made) == {key: alone(TEXTS[name][0], [TEXTS[name][1]], "stop") for key, name in chosen.items()}


def test_thousands_of_keys_at_once() -> None:
    operator = KeyedParser(QWEN3, prefix="")
    text = TEXTS["call"][1]
    pieces = [text[start : start + 7] for start in range(0, len(text), 7)]
    made = [operator.feed([(key, piece) for key in range(3000)]) for piece in pieces]
    assert len(operator) == 3000
    made.append(operator.feed([(key, End("stop")) for key in range(3000)]))
    expected = alone(QWEN3, [text], "stop")
    found = by_key(made)
    assert all(found[key] == expected for key in range(3000))
    assert len(operator) == 0


def test_several_chunks_of_a_key_in_a_batch_give_one_item_in_their_order() -> None:
    operator = KeyedParser(QWEN3, prefix="")
    batch = operator.feed([("a", "One"), ("b", "x"), ("a", " two"), ("a", End()), ("a", "again")])
    assert [key for key, _ in batch] == ["a", "b"]
    types = [event["type"] for event in dict(batch)["a"]]
    assert types == [
        "region_open",
        "region_chunk",
        "region_chunk",
        "region_close",
        "message",
        "region_open",
        "region_chunk",
    ]


def test_keys_come_in_the_order_in_which_they_first_have_events() -> None:
    operator = KeyedParser(QWEN3, prefix="")
    assert [key for key, _ in operator.feed([("a", "<th"), ("b", "x"), ("a", "ink>y")])] == ["b", "a"]


def test_a_key_has_one_item_of_a_batch_whatever_happens_to_it() -> None:
    clock = Clock()
    operator = KeyedParser(QWEN3, prefix="", idle_seconds=10, clock=clock)
    unknown = Open(template="unknown")
    ((key, events),) = operator.feed([("a", unknown), ("a", unknown)])
    assert (key, [event["type"] for event in events]) == ("a", ["error", "error"])
    operator.feed([("b", "Hi")])
    clock.now += 20
    ((key, events),) = operator.feed([("b", "dropped"), ("b", Open(prefix="")), ("b", "again")])
    assert [event["type"] for event in events] == [
        "region_close",
        "message",
        "region_open",
        "region_chunk",
    ]


BAD: dict[str, tuple[dict[str, Any], list[Any], str]] = {
    "text that strict mode refuses": ({"errors": "strict"}, ["<tool_call>{]</tool_call>"], "ParseError"),
    "more regions than a limit allows": ({"limits": Limits(regions=1)}, ["<think>Hm.</think>", "Hi"], "LimitError"),
    "a chunk that is no text": ({}, ["Hi", 1.5], "SourceError"),
    "bytes and then token ids": ({}, [b"Hi", [5]], "SourceError"),
    "a source that failed": ({}, ["Hi", OSError("gone")], "SourceError"),
    "a faulty template": ({"template": {"fields": {}}}, ["Hi"], "TemplateError"),
    "no prefix": ({"prefix": None}, ["Hi"], "PrefixError"),
    "an option that does not exist": ({"colour": "red"}, ["Hi"], "TypeError"),
    "a required field that is missing in strict mode": (
        {
            "errors": "strict",
            "template": {
                "start_anchor": "@",
                "fields": {"content": {}, "x": {"open": "<x>", "close": "</x>", "optional": False}},
            },
        },
        ["Hi", End()],
        "ParseError",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_generation_ends_with_an_error_event_and_disturbs_no_other(name: str) -> None:
    options, pieces, kind = BAD[name]
    operator = KeyedParser(QWEN3, prefix="")
    text = TEXTS["call"][1]
    made = [operator.feed([("bad", Open(**options)), *((f"good {n}", text[:20]) for n in range(20))])]
    for piece in pieces:
        made.append(operator.feed([("good 0", text[20:40]) if piece is pieces[0] else ("good 0", ""), ("bad", piece)]))
    made.append(operator.feed([*((f"good {n}", text[20:]) for n in range(1, 20)), ("good 0", text[40:])]))
    made.append(operator.finish())
    found = by_key(made)
    bad = found.pop("bad")
    assert [event["kind"] for event in bad if event["type"] == "error"] == [kind]
    assert bad[-1]["type"] == "error"
    assert bad[-1]["error"]
    expected = alone(QWEN3, [text])
    assert all(events == expected for events in found.values())
    assert len(found) == 20


def test_what_was_read_before_an_error_is_in_its_event() -> None:
    operator = KeyedParser(QWEN3, prefix="")
    error = operator.feed([("a", "<think>Hm.</think>Hello"), ("a", OSError("gone"))])[0][1][-1]
    assert error["message"] == {"role": "assistant", "reasoning_content": "Hm.", "content": "Hello"}
    assert error["error"] == "the source failed: OSError: gone"


def test_what_comes_after_an_error_is_dropped_until_the_end_of_that_generation() -> None:
    operator = KeyedParser(QWEN3, prefix="")
    operator.feed([("a", "Hi"), ("a", 1.5)])
    assert operator.feed([("a", "the rest"), ("a", End("stop")), ("b", "x")])[0][0] == "b"
    assert operator.statistics().dropped == 2
    assert pairs_of(operator, ("a", "a new one"))["a"][1]["text"] == "a new one"


def test_a_failed_key_can_be_opened_again_at_once() -> None:
    operator = KeyedParser(QWEN3, prefix="")
    operator.feed([("a", 1.5)])
    assert operator.open("a") == []
    assert pairs_of(operator, ("a", "Hi"))["a"][1]["text"] == "Hi"


def test_a_faulty_default_template_is_refused_at_once() -> None:
    with pytest.raises(TemplateError):
        KeyedParser({"fields": {}}, prefix="")


def test_each_key_has_its_own_template_prefix_and_options() -> None:
    operator = KeyedParser(
        QWEN3, prefix="", options=lambda key: {"prefix": "<|im_start|>assistant\n<think>\n"} if key == "thinks" else {}
    )
    found = by_key(
        [
            [("gpt", operator.open("gpt", template=GPT_OSS, without=["tool_calls"]))],
            operator.feed([("thinks", "So."), ("plain", "So."), ("gpt", TEXTS["channels"][1])]),
        ]
    )
    assert [event["field"] for event in found["thinks"]] == ["reasoning_content", "reasoning_content"]
    assert [event["field"] for event in found["plain"]] == ["content", "content"]
    assert found["gpt"][-1]["text"] == "And B."


def test_opening_a_key_that_is_open_ends_the_generation_before() -> None:
    operator = KeyedParser(QWEN3, prefix="")
    found = pairs_of(operator, ("a", "Hi"), ("a", Open()), ("a", "Ho"))
    assert [event.get("finish_reason") for event in found["a"] if event["type"] == "message"] == ["cancelled"]
    assert found["a"][-1]["text"] == "Ho"


def test_usage_that_an_end_carries_is_in_the_message_event() -> None:
    operator = KeyedParser(QWEN3, prefix="")
    last = pairs_of(operator, ("a", "Hi"), ("a", End("stop", usage={"tokens": 1})))["a"][-1]
    assert (last["finish_reason"], last["usage"]) == ("stop", {"tokens": 1})


def test_idle_keys_expire_in_their_order_and_those_in_use_stay() -> None:
    clock = Clock()
    operator = KeyedParser(QWEN3, prefix="", idle_seconds=60, clock=clock)
    operator.feed([(key, "Hi") for key in ("a", "b", "c")])
    for _ in range(10):
        clock.now += 12
        made = operator.feed([("b", ".")])
    assert list(operator) == ["b"]
    clock.now += 59
    assert operator.expire() == []
    clock.now += 60
    (expired,) = operator.expire()
    assert expired[0] == "b"
    assert expired[1][-1]["finish_reason"] == "expired"
    assert expired[1][-1]["message"]["content"] == "Hi.........."
    assert made == [("b", [{"type": "region_chunk", "field": "content", "text": ".", "dirty": False}])]
    assert operator.statistics().expired == 3


def test_what_comes_for_an_expired_key_is_dropped_and_forgotten_in_time() -> None:
    clock = Clock()
    operator = KeyedParser(QWEN3, prefix="", idle_seconds=60, clock=clock)
    operator.feed([("a", "Hi")])
    clock.now += 100
    assert [key for key, _ in operator.feed([("a", "late")])] == ["a"], "its last events, and nothing of what was late"
    assert operator.feed([("a", "later")]) == []
    clock.now += 100
    assert pairs_of(operator, ("a", "new"))["a"][-1]["text"] == "new"


def test_a_call_that_was_open_when_its_key_expired_is_no_call() -> None:
    clock = Clock()
    operator = KeyedParser(QWEN3, prefix="", idle_seconds=60, clock=clock)
    operator.feed([("a", '<tool_call>\n{"name": "f", "arguments": {}}')])
    clock.now += 100
    ((_, events),) = operator.expire()
    assert events[0]["type"] == "region_malformed"
    assert "tool_calls" not in events[-1]["message"]


def test_a_key_too_many_gets_an_error_event_and_the_others_go_on() -> None:
    operator = KeyedParser(QWEN3, prefix="", max_open=2)
    found = pairs_of(operator, ("a", "1"), ("b", "2"), ("c", "3"), ("a", "1"), ("c", "3"))
    assert found["a"][-1]["text"] == "11"
    assert [event["type"] for event in found["c"]] == ["error"]
    assert "max_open" in found["c"][0]["error"]
    with pytest.raises(LimitError, match="max_open"):
        operator.restore("d", ResponseParser(QWEN3, "").snapshot())


def test_keys_that_failed_are_not_remembered_without_bound() -> None:
    operator = KeyedParser(QWEN3, prefix="", max_open=10)
    operator.feed([(key, 1.5) for key in range(1000)])
    assert operator.statistics().spent <= 10


def test_saving_what_is_not_open_and_restoring_over_what_is_are_refused() -> None:
    operator = KeyedParser(QWEN3, prefix="")
    with pytest.raises(SnapshotError, match="no generation of that key is open"):
        operator.snapshot("a")
    operator.feed([("a", "Hi"), ("b", "Ho")])
    saved = operator.snapshot("a")
    with pytest.raises(SnapshotError, match="is open"):
        operator.restore("b", saved)
    with pytest.raises(SnapshotError):
        operator.restore("c", b"damaged")
    assert "c" not in operator


def test_a_snapshot_without_the_message_gives_the_same_events() -> None:
    operator, other = KeyedParser(QWEN3, prefix=""), KeyedParser(QWEN3, prefix="")
    operator.feed([("a", '<think>Hm.</think>Hi <tool_call>{"name": "f", "arg')])
    saved = operator.snapshot("a", message=False)
    assert b"Hm." not in saved
    other.restore("a", saved)
    rest = [("a", 'uments": {}}</tool_call>'), ("a", End("stop"))]
    expected, found = operator.feed(rest)[0][1], other.feed(rest)[0][1]
    assert found[:-1] == expected[:-1]


def test_an_end_for_a_key_that_never_had_a_chunk_gives_its_message() -> None:
    operator = KeyedParser(QWEN3, prefix="")
    assert [event["type"] for event in operator.end("a", "stop")] == ["message"]


CALLS = "<tool_call>{'name': 'f', 'arguments': {}}</tool_call><tool_call>{\"name\": </tool_call>"
"""A call that is mended and one that can't be."""


def test_the_numbers_are_those_of_what_went_through() -> None:
    clock = Clock()
    operator = KeyedParser(QWEN3, prefix="", errors="repair", clock=clock)
    operator.open("a")
    clock.now += 2
    given = operator.feed(
        [
            ("a", CALLS + "Hello <to"),
            ("b", "x"),
            ("c", 1.5),
        ]
    )
    seen = operator.statistics()
    assert (seen.chunks, seen.opened, seen.open, seen.failed, seen.ended) == (3, 3, 2, 1, 0)
    assert (seen.regions, seen.malformed, seen.repaired, seen.open_regions) == (2, 1, 1, 2)
    assert (seen.held, seen.characters) == (3, 95)
    assert (seen.first_events, seen.first_event_seconds) == (2, 2.0)
    assert seen.events == sum(len(events) for _, events in given)
    operator.finish()
    later = operator.statistics()
    assert (later.open, later.ended, later.characters, later.held) == (0, 2, 95, 0)


@pytest.mark.anyio
@pytest.mark.parametrize("chaining", [True, False])
async def test_as_a_stage_of_a_graph_it_takes_pairs_and_gives_pairs(chaining: bool) -> None:
    source = [[("a", "Hel"), ("b", "Good ")], [("a", "lo"), ("b", "day"), ("a", End("stop"))]]
    async with Graph(source, [KeyedParser(QWEN3, prefix="")], chaining=chaining) as graph:
        made = [pair async for pair in graph]
    assert by_key([made]) == {"a": alone(QWEN3, ["Hello"], "stop"), "b": alone(QWEN3, ["Good day"])}


def test_the_events_of_a_prefix_are_not_the_first_that_somebody_waited_for() -> None:
    clock = Clock()
    operator = KeyedParser(QWEN3, prefix="<|im_start|>assistant\n<think>\n", clock=clock)
    assert operator.feed([("a", Open())]) != []
    clock.now += 3
    operator.feed([("a", "Hm.")])
    seen = operator.statistics()
    assert (seen.first_events, seen.first_event_seconds) == (1, 3.0)


def test_of_keys_that_could_not_be_opened_nothing_is_left() -> None:
    operator = KeyedParser(QWEN3, prefix="")
    for key in range(50):
        ((_, events),) = operator.feed([(key, Open(template="unknown")), (key, End())])
        assert events[-1]["kind"] == "TemplateError"
    kept = {name: len(part) for name, part in vars(operator).items() if isinstance(part, (dict, set))}
    assert set(kept.values()) == {0}, kept


ENDS: dict[str, Any] = {"end": End(), "cut off": End("length"), "its source": OSError("gone"), "no chunk": 1.5}


@pytest.mark.parametrize("errors", ["strict", "report", "repair"])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("text", ["<tool_call>x</tool_call>", "<tool_call>x"])
def test_of_a_generation_that_ended_or_failed_nothing_waits_for_the_garbage_collector(
    text: str, end: str, errors: str
) -> None:
    operator = KeyedParser(QWEN3, prefix="", errors=errors)
    operator.feed([("a", "Hello ")])
    parts = [weakref.ref(operator._open["a"]), weakref.ref(operator._open["a"].pipeline._regions)]
    gc.disable()
    try:
        operator.feed([("a", text), ("a", ENDS[end])])
        operator.finish()
        alive = [part() for part in parts]
    finally:
        gc.enable()
    assert alive == [None, None]


@pytest.mark.parametrize("item", [(["a"], "Hi"), "Hello", ("a",), ("a", "b", "c"), 5, None])
def test_what_is_no_pair_is_told_with_its_place(item: Any) -> None:
    operator = KeyedParser(QWEN3, prefix="")
    with pytest.raises(ArgumentError, match=r"item 1 of the batch is no pair \(key, chunk\)"):
        operator.feed([("b", "One"), item])
    assert operator.end("b")[-1]["message"]["content"] == "One"


def test_what_a_batch_with_a_faulty_item_gave_comes_with_the_next() -> None:
    clock = Clock()
    operator = KeyedParser(QWEN3, prefix="", idle_seconds=10, clock=clock)
    operator.feed([("a", "Hello")])
    clock.now += 20
    with pytest.raises(ArgumentError):
        operator.feed([("b", "One"), 5])  # type: ignore[list-item]
    found = by_key([operator.feed([("b", " two")]), operator.finish()])
    assert found["a"][-1]["message"]["content"] == "Hello"
    assert found["b"] == alone(QWEN3, ["One two"])
    operator.feed([("c", "Hi")])
    with pytest.raises(ArgumentError):
        operator.feed([("c", " you"), 5])  # type: ignore[list-item]
    ((_, events),) = operator.finish()
    assert events[-1]["message"]["content"] == "Hi you"


def test_the_first_events_are_those_of_what_the_model_wrote() -> None:
    clock = Clock()
    operator = KeyedParser(QWEN3, prefix="<think>", clock=clock)
    operator.feed([("a", Open()), ("a", "Hm"), ("b", "<"), ("c", "Hm")])
    assert operator.statistics().first_events == 2, "b has those of the prefix only"
    clock.now += 3
    operator.feed([("b", "x")])
    seen = operator.statistics()
    assert (seen.first_events, seen.first_event_seconds) == (3, 3.0)


def test_what_is_switched_off_for_all_may_be_switched_on_for_one() -> None:
    operator = KeyedParser("qwen3", prefix="", without=["tool_calls"], limits=Limits(region_text=1_000))
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    batch = [("off", call), ("off", End()), ("on", Open(without=[])), ("on", call), ("on", End())]
    messages = {key: events[-1]["message"] for key, events in operator.feed(batch)}
    assert messages["off"] == {"role": "assistant", "content": call}
    assert messages["on"]["tool_calls"][0]["function"]["name"] == "f"


@pytest.mark.parametrize("fault", [{"errors": "x"}, {"without": ["nothing"]}, {"limits": 5}])
def test_faulty_options_of_all_show_when_the_operator_is_made(fault: dict[str, Any]) -> None:
    with pytest.raises(StreamparseError):
        KeyedParser("qwen3", prefix="", **fault)


@pytest.mark.parametrize("options", [lambda key: {}[key], lambda _: None])
def test_a_fault_of_what_gives_a_key_its_options_says_so(options: Any) -> None:
    (_, events), *_ = KeyedParser("qwen3", prefix="", options=options).feed([("a", "Hi")])
    assert events[-1]["kind"] == "ArgumentError"
    assert "options('a')" in events[-1]["error"]
