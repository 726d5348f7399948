r"""The delimiters that a scanner looks for at one time, with the tables that all parsers share.

In:  delimiters, in the order that decides between matches of the same text.
Out: a ``DelimiterSet``, immutable except for tables that are filled while they are used.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamparse.matching.automaton_prefilter import AutomatonPrefilter
from streamparse.matching.delimiter import Delimiter
from streamparse.matching.first_set import FirstSet
from streamparse.matching.lazy_dfa import LazyDFA


class DelimiterSet:
    """What a scanner looks for at a time: ``entries`` in the order of preference among matches of the same text."""

    def __init__(self, entries: Sequence[Delimiter]) -> None:
        self.entries = tuple(entries)
        self.linear = [i for i, entry in enumerate(self.entries) if entry.linear is not None]
        self.bounded = [i for i, entry in enumerate(self.entries) if entry.kind == "bounded"]
        self.first_sets = {i: FirstSet(program) for i in self.bounded if (program := self.entries[i].backtracking)}
        self.deferred = [i for i, entry in enumerate(self.entries) if entry.kind == "end"]
        programs = [entry.linear for entry in self.entries if entry.linear is not None]
        self.automaton = LazyDFA(programs)
        #: How many characters before the text a scanner has to keep for this watch.
        self.context = max((entry.context for entry in self.entries), default=0)
        self.prefilter = AutomatonPrefilter(self.automaton)
        #: Whether the automaton finds everything, and needs to know nothing before the text.
        self.plain = len(self.linear) == len(self.entries) and not self.context
