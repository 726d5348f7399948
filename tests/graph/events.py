"""Events to test with, and what they say whatever their cuts."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


def chunk(text: str, field: str = "content", dirty: bool = False, **keys: Any) -> dict[str, Any]:
    return {"type": "region_chunk", "field": field, "text": text, "dirty": dirty, **keys}


def delta(**keys: Any) -> dict[str, Any]:
    return {"type": "region_delta", "field": "tool_calls", "index": 0, **keys}


EVENTS = st.lists(
    st.one_of(
        st.builds(chunk, st.text(max_size=3), st.sampled_from(["content", "tool_calls"]), st.booleans()),
        st.sampled_from(
            [
                {"type": "region_open", "field": "content"},
                {"type": "region_close", "field": "content", "value": ""},
                delta(name="f"),
                delta(arguments="{}"),
                delta(arguments=" "),
                {**delta(arguments="[]"), "index": 1},
            ]
        ),
    )
)


def by_character(events: list[dict[str, Any]]) -> list[Any]:
    """What events say, in a form that does not depend on how their text is cut, nor on how a region's chunks and
    deltas take turns: two lists of what is said, for which regions' opens and closes are the bounds.
    """
    texts: list[Any] = []
    deltas: list[Any] = []
    for event in events:
        if event["type"] == "region_chunk":
            texts += [(event["field"], event["dirty"], character) for character in event["text"]]
        elif event["type"] == "region_delta":
            deltas += [(event["index"], event["name"])] if "name" in event else []
            deltas += [(event["index"], "arguments", character) for character in event.get("arguments", "")]
        else:
            texts.append(event)
            deltas.append(event)
    return [texts, deltas]
