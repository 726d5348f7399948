"""Where a chat template does not tell, the result says so: nothing is guessed in silence, and nothing lies."""

from __future__ import annotations

import warnings

import pytest

from streamparse.infer import Inference, InferenceError, UnverifiedWarning, infer_response_template
from tests.infer.written_templates import ONE_CALL, arguments, calls, content, frame, reasoning, written


def statuses(inference: Inference) -> dict[str, str]:
    return {check.feature: check.status for check in inference.checks}


UNQUOTED = frame(
    content() + calls(written("'['", "call.name", "'('"), arguments(written("key", "'='", "value")), written("')]'"))
)
IN_LINES = frame(
    content() + calls(written(r"'<call>\n'", "call.name"), arguments(written(r"'\n'", "key", "' is '", "value|tojson")))
)


def test_calls_that_cannot_be_told_apart_give_no_tool_calls_and_the_checks_say_so() -> None:
    inference = infer_response_template(IN_LINES)
    assert "tool_calls" not in inference.template["fields"]
    assert statuses(inference)["a call"] == "differs"
    assert not inference.verified
    assert inference.analysis["tool_calls"]["why"] == "calls are written, but can't be told apart"
    assert "calls are written" in inference.explain()


def test_arguments_that_the_chat_template_writes_so_that_they_cannot_be_read_are_differences() -> None:
    inference = infer_response_template(UNQUOTED)
    assert statuses(inference)["a call"] == "differs"
    assert statuses(inference)["content"] == "verified"
    assert not inference.verified


def test_reasoning_that_nothing_opens_is_said_to_be_unread() -> None:
    inference = infer_response_template(frame(reasoning("", r"\n[FINAL]\n") + content()))
    assert "reasoning_content" not in inference.template["fields"]
    assert statuses(inference)["reasoning and content"] == "differs"


def test_what_the_chat_template_does_not_show_is_not_expressible() -> None:
    found = statuses(infer_response_template(frame(content() + ONE_CALL)))
    assert found["reasoning and content"] == "not expressible"
    assert found["a call"] == "verified"


def test_using_what_is_not_verified_warns_and_names_the_features() -> None:
    with pytest.warns(UnverifiedWarning, match="a call"):
        infer_response_template(IN_LINES).to_use()


def test_using_what_is_verified_does_not_warn() -> None:
    inference = infer_response_template(frame(content()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert inference.to_use() == inference.template


def test_checks_are_data_with_the_renderings_that_they_rest_on() -> None:
    checks = {check.feature: check.as_dict() for check in infer_response_template(frame(content() + ONE_CALL)).checks}
    call = checks["a call"]
    assert call["status"] == call["strict"] == "verified"
    assert call["cases"][0]["output"] == (
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}</tool_call>'
    )
    assert call["cases"][0]["prefix"].endswith("<|assistant|>")
    assert call["cases"][0]["expected"] == {"tool_calls": [["get_weather", {"city": "Paris", "days": 3}]]}
    assert checks["reasoning and content"]["cases"] == []


def test_a_chat_template_that_is_no_jinja_says_in_which_line() -> None:
    with pytest.raises(InferenceError, match="line 2: the chat template is not valid Jinja") as caught:
        infer_response_template("{{ messages }}\n{% for %}")
    assert caught.value.line == 2


def test_a_chat_template_that_refuses_everything_gives_its_reason() -> None:
    with pytest.raises(InferenceError, match="out of service"):
        infer_response_template("{{ raise_exception('out of service') }}")


def test_a_chat_template_that_hides_what_is_said_is_an_error() -> None:
    with pytest.raises(InferenceError, match="does not show"):
        infer_response_template("{{ 'always the same' }}")
