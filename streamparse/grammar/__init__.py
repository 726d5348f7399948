"""Grammars from response templates: make a model write only what the template reads."""

from streamparse.grammar.errors import GrammarError
from streamparse.grammar.grammar import TARGETS, Grammar, to_grammar
from streamparse.grammar.nodes import Relaxation

__all__ = ["TARGETS", "Grammar", "GrammarError", "Relaxation", "to_grammar"]
