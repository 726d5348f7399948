"""The region tokenizer of the lenient modes: it sees through what a model wrote where delimiters alone mislead.

watches.py     what is watched in which mode
holds.py       text that is held until it is clear what it is
tokenizer.py   the tokenizer: a table of modes, one module each:
outside.py     no explicit region is open
opening.py     an open delimiter was seen, and may be a mere quotation
talking.py     in a region of text, such as reasoning
aside.py       a call inside such a region, which counts only if the region never closes
calling.py     in a structured region, such as a tool call
doubting.py    a delimiter inside a value of a structured region, which may be part of the value
"""

from streamparse.stages.recovery.tokenizer import RecoveringTokenizer

__all__ = ["RecoveringTokenizer"]
