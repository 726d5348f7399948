"""Token ids as a source: reading them, turning them into text as they arrive, and what only they can tell.

ids.py        token ids in whatever holds them, as a plain list
tokenizer.py  what is asked of a tokenizer, whichever library it comes from
decode.py     ids in, text out, while they arrive
marks.py      text that spells a delimiter's token without being that token
offsets.py    which tokens a stretch of text came from
"""
