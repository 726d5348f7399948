"""Random patterns, literals and texts over a small alphabet."""

from __future__ import annotations

from hypothesis import strategies as st

from streamparse.matching.delimiter import Delimiter

ALPHABET = "ab<>\n"

texts = st.text(alphabet=ALPHABET, max_size=24)
literals = st.lists(st.text(alphabet=ALPHABET, min_size=1, max_size=4), min_size=1, max_size=3)

_characters = st.sampled_from(["a", "b", "<", ">", r"\n", "a", "<"])
_classes = st.sampled_from(["[ab]", "[^<]", ".", r"\s", r"\w", r"[^>\n]", "(?i:A)"])
_quantifiers = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{1,2}", "{2}", "{0,2}?", "{2,}"])


def _longer(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(parts, min_size=1, max_size=3).map("".join),
        st.lists(parts, min_size=2, max_size=3).map(lambda branches: f"(?:{'|'.join(branches)})"),
        st.tuples(parts, _quantifiers).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    )


bodies = st.recursive(st.one_of(_characters, _characters, _classes), _longer, max_leaves=6)

_endings = st.one_of(
    st.just(""),
    st.just(""),
    bodies.map(lambda body: f"(?={body})"),
    st.sampled_from(["$", r"\Z", "|$", r"\s*", r"(?=.*b)", "(?!a)"]),
)
_beginnings = st.sampled_from(["", "", "", r"\s*", r"\s+", "[^<]*", "^", r"\A", "(?:^|a)"])

#: Patterns that an automaton can match, but for repeats of what may be empty.
linear_patterns = st.builds(
    lambda before, body, name, after: before + (f"(?P<name>{body})" if name else f"(?:{body})") + after,
    _beginnings,
    bodies,
    st.booleans(),
    _endings,
)

_odd_endings = st.one_of(
    st.sampled_from([r"\b", r"\B", r"(?!\Z)", "(?!ab)", r"(?!\n\n)", "(?<=a)", r"(?=a\b)", "(?<!<a)", "$a?"]),
    bodies.map(lambda body: f"(?!{body})"),
    bodies.map(lambda body: f"(?={body})a"),
)
_odd_beginnings = st.one_of(
    st.sampled_from([r"\b", "(?<=a)", "(?<!b)", "(?<=ab)", "(?<!ab|b)", "(?m)^", r"(?>a+)", r"[ab]*+"]),
    bodies.map(lambda body: f"(?>{body})"),
    bodies.map(lambda body: rf"({body})\1"),
)

#: Patterns with what an automaton can't match, or can only match with a look at the neighbours.
odd_patterns = st.builds(
    lambda before, body, after: f"{before}(?:{body}){after}",
    st.one_of(st.just(""), _odd_beginnings),
    bodies,
    st.one_of(st.just(""), _odd_endings),
)


#: The literals, or the pattern, of a delimiter.
Source = list[str] | str


def watches(patterns: st.SearchStrategy[str]) -> st.SearchStrategy[list[Source]]:
    """One to three delimiters, literal or of these patterns."""
    return st.lists(st.one_of(literals, patterns), min_size=1, max_size=3)


def delimiters_of(sources: list[Source]) -> list[Delimiter]:
    """The delimiters themselves."""
    return [Delimiter.of_pattern(s) if isinstance(s, str) else Delimiter.of_literals(s) for s in sources]
