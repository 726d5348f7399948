"""How a delimiter is found in a stream: exactly, in linear time, whatever the cuts.

``Delimiter`` is one literal list or pattern, ``DelimiterSet`` the delimiters that are looked for together. ``Scanner``
reads a stream for the delimiters of a set, and returns the text that can be released and the matches, each as early as
it can be known.

    delimiter.py            one delimiter: its pattern, and how it can be matched
    syntax.py, tree.py      the pattern as a tree
    program.py              the tree as instructions that a matcher steps through (instructions.py: their kinds)
    lint.py                 what a template's author should know about a pattern
    delimiter_set.py        delimiters that are looked for together, with the tables that parsers share
    scanner.py              the state of one stream

    nfa.py, pike_step.py    all linear delimiters of a set as one NFA, and its step over a character
    lazy_dfa.py, cursor.py  the cached states of those steps, and the position of one stream in them
    transition_memo.py      cached transitions over whole pieces
    lookahead_memo.py       cached outcomes of long lookaheads
    automaton_prefilter.py  skips text in which no delimiter starts
    prefilter.py, plain.py  the same for a whole piece, before the scanner sees it
    non_linear.py           the seekers of what the DFA can't match
    bounded.py, backtrack.py  patterns that are tried (first_set.py: at which positions)
    deferred.py             patterns that only ``regex`` can match, when the whole text is known
    held.py                 text that is held back
"""

from streamparse.matching.delimiter import Delimiter

__all__ = ["Delimiter"]
