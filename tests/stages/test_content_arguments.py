"""The arguments of content parsers: what the check lets pass never makes a parser fail in an undocumented way."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamparse.errors import ContentError, LimitError
from streamparse.limits import Limits
from streamparse.stages.content import CONTENT_PARSERS, check_content, prepare_content

NAMES = ["strip", "unquoted_keys", "string_delims", "allow_non_json", "tag_pattern", "value_parser", "merge_duplicates"]
NAMES += ["line_sep", "kv_sep", "name", "args", "prefix"]
PATTERNS = [
    r"(?P<key>\w)=(?P<value>.)",
    r"<(?P<key>a*)*(?P<value>b)?",
    r"(?P<key>a)|(?P<value>b)",
    "a",
    "(",
    "",
    r"(?P<key>)",
]

plain = st.sampled_from([None, True, False, 0, 1.5, "", ":", "ab", "json", "int", "text", "kv-lines", *PATTERNS])
arguments = st.recursive(
    plain | st.sampled_from([*CONTENT_PARSERS]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=8,
)
texts = st.text(st.sampled_from("ab=<>1:;[]{}\"'\\ \n\x01,()x\ud800"), max_size=12)


@settings(max_examples=300)
@given(
    st.sampled_from([*CONTENT_PARSERS]),
    st.dictionaries(st.sampled_from(NAMES), arguments, max_size=4) | arguments,
    texts,
)
def test_what_passes_the_check_parses_or_fails_as_documented(name, given_arguments, text):
    errors, warnings = check_content(name, given_arguments, "fields.x.content_args")
    assert all(fault.path.startswith("fields.x.content_args") for fault in errors + warnings)
    if errors or not isinstance(given_arguments, dict):
        return
    parse = prepare_content(name, given_arguments, limits=Limits(pattern_seconds=5))
    try:
        outcome = repr(parse(text))
    except (ContentError, LimitError) as error:
        outcome = None
        position = error.position
    if outcome is None:
        assert position is None or 0 <= position <= len(text)
    else:
        try:
            kept = repr(prepare_content(name, given_arguments, keep_source=True)(text))
        except ContentError:
            kept = None  # the lenient reading of tags refuses text that no tag has taken
        assert kept == outcome or (kept is None and "xml-inline" in f"{name} {given_arguments}")


@given(st.sampled_from([*CONTENT_PARSERS]), st.dictionaries(st.sampled_from(NAMES), arguments, max_size=4), texts)
def test_what_the_check_calls_an_error_never_works_in_transformers_where_it_is_used(
    reference, name, given_arguments, text
):
    errors, _ = check_content(name, given_arguments, "p")
    uses_value_parser = [error for error in errors if error.path.startswith("p.value_parser")]
    outcome, _ = reference(text, name, given_arguments)
    if len(errors) > len(uses_value_parser) and "kv_sep" not in str(errors):
        assert outcome == "error"


def test_an_unknown_parser_is_a_key_error_for_whoever_asks_for_it():
    with pytest.raises(KeyError):
        prepare_content("yaml", {})
