"""The region tokenizer of the lenient modes: it sees through what a model wrote where delimiters alone mislead.

watches.py     what is watched in which mode
terminators.py the literal texts that close delimiters are made of
tokenizer.py   the tokenizer: a table of modes, one module each:
outside.py     no explicit region is open
mentioning.py  an open that the answer may only mention
prose.py       whether what comes next in the answer is code, or a word of a sentence
opening.py     an open delimiter was seen, and may be a mere quotation
talking.py     in a region of text, such as reasoning
aside.py       a call inside such a region, which counts only if the region never closes
calling.py     in a structured region, such as a tool call
trailing.py    behind the whole value of such a region, where its close should be
doubting.py    a delimiter inside a value of a structured region, which may be part of the value
"""

from streamparse.stages.recovery.tokenizer import RecoveringTokenizer

__all__ = ["RecoveringTokenizer"]
