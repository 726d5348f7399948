"""How a delimiter is found in a stream: exactly, in linear time, whatever the cuts.

``Delimiter`` is one literal list or pattern, ``Watch`` the delimiters that are watched together, ``Scanner`` reads
a stream under a watch and gives back what can be released and the matches, each as early as it can be known.

    delimiter.py    one delimiter: its pattern, and how it can be matched
    syntax.py       the pattern as a tree
    program.py      the tree as positions that a matcher steps through
    automaton.py    all linear delimiters of a watch at once, each character looked at once
    backtrack.py    what an automaton can't do, in a bounded window
    watch.py        the tables that parsers share
    scanner.py      the state of one stream
    lint.py         what a template's author should know about a pattern
"""

from streamparse.matching.delimiter import Delimiter

__all__ = ["Delimiter"]
