"""How a delimiter is found in a stream: exactly, in linear time, whatever the cuts.

``Delimiter`` is one literal list or pattern, ``Watch`` the delimiters that are watched together, ``Scanner`` reads
a stream under a watch and gives back what can be released and the matches, each as early as it can be known.

    delimiter.py    one delimiter: its pattern, and how it can be matched
    syntax.py       the pattern as a tree
    program.py      the tree as instructions that a matcher steps through
    lint.py         what a template's author should know about a pattern
    watch.py        delimiters that are watched together, with the tables that parsers share
    scanner.py      the state of one stream

    automaton.py    all linear delimiters of a watch at once, each character looked at once (joined.py, step.py)
    idle.py         how text is skipped in which no delimiter starts (heads.py, plain.py: the same for a whole piece)
    linear.py       where a stream stands in the automaton (leaps.py: short pieces at once; shortcuts.py: long pursuits
                    are not made twice)
    backtrack.py    what an automaton can't do, by trying (starts.py, bounded.py: at which places of a stream)
    deferred.py     what only ``regex`` can do, when the whole text is known
    held.py         text that is held back
"""

from streamparse.matching.delimiter import Delimiter

__all__ = ["Delimiter"]
