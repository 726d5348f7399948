"""Every construct: what a chat template of it renders comes back, and is named for what it is."""

from __future__ import annotations

import pytest

from streamparse.infer import Inference, infer_response_template
from streamparse.infer.conversation import PROBE_WORDS
from tests.infer.written_templates import CALLS, CONTENT, EVERY, REASONING, content, frame


@pytest.mark.parametrize("name", EVERY)
def test_everything_that_it_can_express_comes_back(name: str) -> None:
    inference = infer_response_template(EVERY[name])
    assert inference.verified, inference.explain()
    assert not [word for word in PROBE_WORDS if word in str(inference.template)]


@pytest.mark.parametrize("name", CALLS)
def test_the_construct_of_calls_is_known_for_what_it_is(name: str) -> None:
    construct, jinja = CALLS[name]
    assert infer_response_template(frame(content() + jinja)).analysis["tool_calls"]["construct"] == construct


@pytest.mark.parametrize("name", REASONING)
def test_the_mode_of_reasoning_is_known(name: str) -> None:
    mode, jinja = REASONING[name]
    assert infer_response_template(jinja).analysis["reasoning"]["mode"] == mode


@pytest.mark.parametrize("name", CONTENT)
def test_the_mode_of_content_is_known(name: str) -> None:
    mode, jinja = CONTENT[name]
    assert infer_response_template(jinja).analysis["content"]["mode"] == mode


def inferred(group: dict[str, tuple[str, str]], name: str) -> Inference:
    return infer_response_template(frame(content() + group[name][1]))


def test_a_call_with_tagged_arguments_has_this_response_template() -> None:
    assert inferred(CALLS, "the key behind an equals sign").template == {
        "version": 1,
        "defaults": {"role": "assistant"},
        "start_anchor_pattern": r"<\|assistant\|>|(?:<\|user\|>|<\|tool\|>|<\|end\|>)(?:[^<]++|(?!<\|assistant\|>)<)*+",
        "fields": {
            "content": {"close_pattern": r"<\|end\|>\s*", "repeats": True, "join": "\n\n"},
            "tool_calls": {
                "open_pattern": r"<tool_call>\s*<function=(?P<name>[^>]+)>",
                "close_pattern": r"(?:</function>\s*)?</tool_call>\s*",
                "content": "xml-inline",
                "content_args": {
                    "tag_pattern": r"<parameter=(?P<key>[^>]+)>\n?(?P<value>.*?)\n?</parameter>",
                    "value_parser": {"name": "text", "args": {"strip": False}},
                },
                "repeats": True,
                "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
            },
        },
    }


def test_marks_around_all_calls_are_dropped_from_content_and_are_no_part_of_a_call() -> None:
    fields = inferred(CALLS, "name, separator, JSON").template["fields"]
    assert fields["content"]["close_pattern"] == r"(?:<\|/calls\|>|<\|calls\|>|<\|end\|>)\s*"
    assert fields["tool_calls"]["open_pattern"] == r"<\|call\|>(?P<name>[^<{]+)<\|sep\|>"
    assert fields["tool_calls"]["close_pattern"] == r"<\|/call\|>\s*"


def test_an_id_that_the_model_writes_is_kept() -> None:
    for name in ("an id before the name", "an id between name and arguments", "an id behind the arguments"):
        assert inferred(CALLS, name).template["fields"]["tool_calls"]["transform"]["id"] == "{id}"
    assert "id" not in inferred(CALLS, "name, separator, JSON").template["fields"]["tool_calls"]["transform"]


def test_a_running_number_is_any_number() -> None:
    pattern = inferred(CALLS, "a running number").template["fields"]["tool_calls"]["open_pattern"]
    assert pattern == r"<\|call\|>functions\.(?P<name>[^:{]+):\d+<\|args\|>"


def test_the_anchor_leaves_out_what_opens_reasoning() -> None:
    inference = infer_response_template(REASONING["opened by every prompt"][1])
    assert inference.analysis["anchor"] == "<|assistant|>"
    assert inference.analysis["generation_prompts"] == [{"switches": {}, "prefill": "<think>\n"}]


def test_a_conclusion_is_said_to_be_one() -> None:
    reasoning = infer_response_template(REASONING["opened by the prompt, not in the history"][1]).analysis["reasoning"]
    assert (reasoning["open"], reasoning["close"], reasoning["mirrored"]) == ("◁think▷", "◁/think▷", ("close",))


def test_words_of_version_1_go_before_extensions() -> None:
    extended = {name for name in CALLS if "streamparse" in inferred(CALLS, name).template}
    assert extended == {"the name as key", "Python calls in lines"}


def test_tokens_that_decoding_must_keep_are_listed() -> None:
    tokens = infer_response_template(EVERY["content: in its own channel"]).analysis["preserved_tokens"]
    assert {"<|channel|>", "<|message|>", "<|call|>", "<|return|>"} <= set(tokens)


def test_transformers_loads_what_keeps_to_version_1() -> None:
    loader = pytest.importorskip(
        "transformers.utils.chat_parsing.response_templates", reason="transformers is not installed"
    )
    for name in EVERY:
        template = infer_response_template(EVERY[name]).template
        if "streamparse" not in template:
            loader.load_response_template(template)
