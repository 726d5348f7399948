"""Python call lists as models write them: what is certain is mended, and one bad call doesn't lose the others."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import ContentError, LimitError
from streamparse.repair import Damaged
from streamparse.repair.calls_repair import mend_calls
from streamparse.stages.content import SourcedDict, prepare_content

strict = prepare_content("python-call-list", {})


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


MENDED: list[tuple[str, list[dict[str, Any]], str]] = [
    ("[run(c='cat << E\nprint(1)\nE')]", [call("run", c="cat << E\nprint(1)\nE")], "a raw line break in a string"),
    ("[f(a=1,), g(),]", [call("f", a=1), call("g")], "a trailing comma"),
    ("[f(a=[1, 2,], b={'c': 1,})]", [call("f", a=[1, 2], b={"c": 1})], "a trailing comma"),
    ("[f(a=1 b=2)]", [call("f", a=1, b=2)], "a missing comma"),
    ("[f(a='x' b='y')]", [call("f", a="x", b="y")], "a missing comma"),
    ("[f() g()]", [call("f"), call("g")], "a missing comma"),
    (r"[f(p='\d+\s', q='C:\proj')]", [call("f", p=r"\d+\s", q=r"C:\proj")], "a backslash that starts no escape"),
    (r"[f(p='(\w)\1')]", [call("f", p=r"(\w)\1")], "a backslash that starts no escape"),
    (r"[f(p='\x41\U0001F600')]", [call("f", p="A😀")], "an escape that only Python has"),
    (r"[f(p='C:\Users\bob')]", [call("f", p=r"C:\Users\bob")], "a backslash that starts no escape"),
    (r"[f(p=r'\n\d')]", [call("f", p=r"\n\d")], "a prefix of a string"),
    ("[f(a=NONE, b=TRUE)]", [call("f", a=None, b=True)], "a literal in other letters"),
    ("[f(a=007, b=-01.5)]", [call("f", a=7, b=-1.5)], "a number with leading zeros"),
    ("[f(a=+1, b=.5, c=1_000)]", [call("f", a=1, b=0.5, c=1000)], "a number that JSON writes otherwise"),
    ("[f(a=9007199254740993)]", [call("f", a=9007199254740993)], "an integer beyond 2^53"),
    ("[f(a='x' 'y', b=('u'\n  'v'))]", [call("f", a="xy", b="uv")], "strings that are joined"),
    ("[f(a='x' + \"y\")]", [call("f", a="xy")], "strings that are joined"),
    ('[f(a="""x\n"y" \'z\'""")]', [call("f", a="x\n\"y\" 'z'")], "triple quotes"),
    ("[f(a='''''')]", [call("f", a="")], "triple quotes"),
    ("[f(a=(1, 2), b=(3,), c=(), d=(4))]", [call("f", a=[1, 2], b=[3], c=[], d=4)], "a tuple"),
    ("f(a=1)", [call("f", a=1)], "missing outer brackets"),
    ("f(a=1)\ng()", [call("f", a=1), call("g")], "missing outer brackets"),
    ("f(a=1), g()", [call("f", a=1), call("g")], "missing outer brackets"),
    ("f(a='x\ny'); g()", [call("f", a="x\ny"), call("g")], "a raw line break in a string"),
    ("[f()]\n[g()]", [call("f"), call("g")], "several lists"),
    ("```python\n[f()]\n```", [call("f")], "a code fence around the calls"),
    ("[f()]]", [call("f")], "a closing bracket too many"),
    ("[f()])", [call("f")], "a closing bracket too many"),
    ("[f(a=1)  # one\n]", [call("f", a=1)], "a comment"),
    ("[f(a={b: 1})]", [call("f", a={"b": 1})], "a key without quotes"),
    ("[f(a='it's')]", [call("f", a="it's")], "a quote in a string that is not escaped"),
    ("[f(a='say \"x\"', b=\"say \"x\" now\")]", [call("f", a='say "x"', b='say "x" now')],
     "a quote in a string that is not escaped"),
    ("[mcp:files/read.all(a=[1,])]", [call("mcp:files/read.all", a=[1])], "a trailing comma"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "calls", "what"), MENDED)
def test_what_can_mean_one_thing_only_is_mended_and_told(mended, text, calls, what):
    got, repaired = mended("python-call-list", text)
    assert got == calls
    assert what in repaired
    with pytest.raises(ContentError):
        strict(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I will call f",
        "[f(a=1",
        "[f(a=1)",
        "[f(a=1),",
        "[f(a='x",
        "f(a=1)\ng(b=",
        "[f",
        "[ping]",
        "f() g()",
        "[f(a='print('x')')]",
        "[f(a='x'), g(b='y)]",
        "[f(a=['x' 'y'])]",
        "[f()] and then [g()]",
        "[f()] done",
        "[f(a=x'), g()]",
        "[search(" + ", ".join(f"a{n}=1" for n in range(22)),
    ],
)
def test_a_guess_is_worse_than_no_call(mended, text):
    assert mended("python-call-list", text)[0] is None


def test_the_bracket_at_the_end_is_supplied_only_where_the_region_was_closed(mended):
    assert mended("python-call-list", "[f(a=1), g()", allow_truncated=True)[0] == [call("f", a=1), call("g")]
    assert mended("python-call-list", "[f(a=1), g(", allow_truncated=True)[0] is None


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("get_weather('Paris', unit='celsius')", "an argument has no name"),
        ("get_weather(unit='celsius', 'Paris')", "an argument has no name"),
        ("get_weather({'city': 'Paris'})", "an argument has no name"),
        ("get_weather(city='Paris', city='Rome')", "the argument 'city' is repeated"),
        ("get_weather(city=Paris)", "'Paris' is no value; a text needs quotes"),
        ("get_weather(city=cities[0])", "'cities' is no value; a text needs quotes"),
        ("get_weather(day=1 + 2)", "expected a comma or a closing parenthesis"),
        ("get_weather(days=[d for d in (1, 2)])", "'d' is no value; a text needs quotes"),
        ("get_weather(city=find('Paris'))", "'find' is no value; a text needs quotes"),
        ("get_weather(**{'city': 'Paris'})", "expected a value"),
    ],
)
@pytest.mark.parametrize("form", ["[{}, ping(n=1)]", "[ping(n=1), {}]", "[{},\n ping(n=1),]", "{}\nping(n=1)"])
def test_a_call_that_cannot_be_read_does_not_lose_the_others(form, bad, reason):
    outcome = mend_calls(Damaged(form.format(bad)))
    assert outcome.value == [call("ping", n=1)]
    [fault] = outcome.faults
    assert (fault.name, fault.text, fault.error.reason) == ("get_weather", bad, reason)
    assert form.format(bad)[fault.position :].startswith(bad)
    assert fault.index == int(form.startswith("[ping"))


def test_what_could_be_read_of_a_bad_call_can_be_shown():
    [fault] = mend_calls(Damaged("[f('x', unit='C'), g()]")).faults
    assert fault.arguments == {"unit": "C"}


def test_where_no_call_can_be_read_there_is_no_value():
    with pytest.raises(ContentError, match="no name"):
        mend_calls(Damaged("[f('x'), g('y')]"))


@pytest.mark.parametrize("text", ["[f(a='x' y'), g()]", "[f('x), g(a='y')]", "[f(a=b, c='), g(d='x')]"])
def test_where_a_string_is_in_doubt_so_is_all_that_follows(mended, text):
    assert mended("python-call-list", text)[0] is None


def test_a_number_with_leading_zeros_keeps_its_text_for_the_schema():
    [made] = mend_calls(Damaged("[f(zip=02134, n=5)]")).value
    assert isinstance(made["arguments"], SourcedDict)
    assert made["arguments"] == {"zip": 2134, "n": 5}
    assert made["arguments"].sources == {"zip": "02134"}


def test_nesting_is_limited():
    with pytest.raises(LimitError):
        mend_calls(Damaged("[f(a=" + "(" * 1000 + "1" + ")" * 1000 + ")]"))


# Properties

names = st.from_regex(r"[a-z_][a-z0-9_]{0,4}", fullmatch=True)
plain_text = st.text(alphabet="ab'\"\\\n\t ,()[]{}=:é😀", max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | plain_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain_text, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
call_lists = st.lists(
    st.builds(lambda name, arguments: call(name, **arguments), names, st.dictionaries(names, values, max_size=3)),
    min_size=1,
    max_size=3,
)


def written(calls: list[dict[str, Any]], value: Any = json.dumps, comma: str = ", ", last: str = "") -> list[str]:
    def arguments(given: dict[str, Any]) -> str:
        return comma.join(f"{name}={value(given[name])}" for name in given) + (last if given else "")

    return [f"{made['name']}({arguments(made['arguments'])})" for made in calls]


@given(call_lists)
def test_what_is_a_call_list_is_left_alone(calls):
    text = "[" + ", ".join(written(calls)) + "]"
    outcome = mend_calls(Damaged(text))
    assert repr(outcome.value) == repr(strict(text)) == repr(calls)
    assert (outcome.repaired, outcome.faults) == ([], [])


def python(value: Any) -> str:
    """Write a value as Python does, but for characters that ``repr`` escapes."""
    return repr(value)


@given(
    call_lists,
    st.sampled_from(["[{}]", "[{},]", "{}", "```\n[{}]\n```", "[{}]]"]),
    st.sampled_from([json.dumps, python]),
    st.sampled_from([", ", " , # one\n"]),
    st.sampled_from(["", ","]),
    st.sampled_from([", ", ",\n"]),
)
def test_calls_in_another_spelling_are_the_same_calls(calls, form, value, comma, last, between):
    text = form.format(between.join(written(calls, value, comma, last)))
    outcome = mend_calls(Damaged(text))
    assert repr(outcome.value) == repr(calls)
    assert outcome.faults == []


@given(call_lists)
def test_calls_on_lines_are_the_same_calls(calls):
    assert repr(mend_calls(Damaged("\n".join(written(calls)))).value) == repr(calls)


@given(call_lists, st.data())
def test_a_list_that_was_cut_off_is_no_value(calls, data):
    text = "[" + ", ".join(written(calls)) + "]"
    with pytest.raises(ContentError):
        mend_calls(Damaged(text[: data.draw(st.integers(0, len(text) - 1))]))


@given(call_lists, names, st.integers(0, 3))
def test_bad_calls_among_good_ones_are_faults_in_their_places(calls, name, place):
    parts = written(calls)
    parts.insert(place, f"{name}('x')")
    outcome = mend_calls(Damaged("[" + ", ".join(parts) + "]"))
    assert repr(outcome.value) == repr(calls)
    assert [fault.index for fault in outcome.faults] == [min(place, len(calls))]


pieces = st.sampled_from(
    [*"[](){},='\"\\;#\n +", "f(", "a=", "'x'", '"y"', "'''", '"""', "r'", "1", "007", "True", "None", "f()", ", ", "é",
     "\ud800", "\\ud800", "\\x41", "```", "//", "/*"]
)  # fmt: skip


@given(st.lists(pieces, max_size=25).map("".join), st.booleans(), st.booleans())
def test_any_text_is_mended_or_refused(text, allow_truncated, brackets):
    try:
        outcome = mend_calls(Damaged(text, {"brackets": brackets}, allow_truncated))
    except (ContentError, LimitError):
        return
    assert outcome.value or not outcome.faults
    json.dumps(outcome.value, allow_nan=False)


@pytest.mark.parametrize(
    "text",
    [
        "[f(a=" + "(" * 300_000,
        "[f(a='" + "' " * 100_000,
        "[" + "f(x), " * 60_000,
        "[" + "f(x), " * 60_000 + "g()]",
        "[f(a=" + "'x' " * 60_000,
        "[f(" + "a=1, " * 60_000 + ")]",
        "[f(a='" + "x" * 1_000_000,
        "f()\n" * 60_000,
        "[f()]" * 60_000,
        "[f(a='" + "' b='" * 60_000,
        "[f(x" + "[" * 300_000,
        "[f(a=\"\"\"" + '"" ' * 100_000,
        "[f('x', '" + "', '" * 60_000,
    ],
)  # fmt: skip
def test_long_texts_take_no_longer_than_they_should(text):
    # Anything that isn't linear takes minutes on these; the time bound of the test run would end it.
    try:
        mend_calls(Damaged(text))
    except (ContentError, LimitError):
        return
