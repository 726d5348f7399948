"""Strict mode gives what the installed transformers gives for the whole text: message, events, or an error.

Where it hangs there is nothing to compare with; ``docs/compatibility.md`` lists what else differs, and none of that
comes up here.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamparse import TemplateError, load_response_template
from tests.properties.outcomes import as_text, joined, outcome
from tests.properties.reference import Reference
from tests.properties.templates import TOOLS, Sample, samples
from tests.properties.texts import prefixes, texts


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    pytest.importorskip("transformers.utils.chat_parsing", reason="transformers is not installed, or has no parser")
    reference = Reference()
    yield reference
    reference.close()


@given(data=st.data(), sample=samples())
def test_the_whole_text_gives_what_transformers_gives(
    reference: Reference, data: st.DataObject, sample: Sample
) -> None:
    text, prefix = data.draw(texts(sample), "text"), data.draw(prefixes(sample), "prefix")
    theirs = reference.ask(sample.template, text, prefix=prefix, tools=TOOLS)
    assume(theirs is not None)
    assert theirs is not None
    try:
        load_response_template(sample.template)
    except TemplateError:
        assert theirs["error"].startswith("load"), "a template that transformers loads is refused"
        return
    known = theirs["known"]
    ours = outcome(sample.template, [text], prefix=prefix, tools=TOOLS)
    assert ("error" in ours) == ("error" in known), f"{ours}\n{theirs}"
    if "error" not in ours:
        assert as_text(ours["message"]) == as_text(known["message"])
        assert as_text(joined(ours["initial"] + ours["events"])) == as_text(joined(known["events"]))


def test_the_child_is_replaced_where_transformers_hangs(reference: Reference) -> None:
    for_ever = {"start_anchor": "@@", "fields": {"x": {"open_pattern": "(?=a)", "close_pattern": "(?=a)"}}}
    assert reference.ask(for_ever, "ba") is None
    answer = reference.ask({"start_anchor": "@@", "fields": {"x": {}}}, "a")
    assert answer is not None
    assert answer["message"] == {"x": "a"}
