"""A model that answers questions on the page.

In:  a question. Out: an input whose pieces come while the model writes them.

The one that ``installed_model`` finds is the small model of ``adapters/huggingface/smollm2.py``. The page shows the raw
text, so the token ids are made text here, and the parser gets that.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from threading import Lock
from typing import Any, Protocol

from streamparse.adapters.huggingface import TokenStreamer
from streamparse.adapters.huggingface.prompt import Prompt, chat_prompt
from streamparse.adapters.huggingface.smollm2 import NAME, THINKING_BEGUN, THINKING_EXAMPLES, SmolLM2, missing
from streamparse.adapters.web.inputs import Input
from streamparse.graph import End
from streamparse.stages.detokenize import Detokenizer
from streamparse.tokens.tokenizer import decode_prefix

TOKENS_AT_MOST = 300
AHEAD = 4
"""How many tokens the model may be ahead of the page: with so few, a pause pauses the model too."""


class Model(Protocol):
    """What the page asks."""

    name: str

    def ask(self, question: str, *, think: bool) -> Input:
        """Give the answer to be; ``think`` has the model reason first. It may block, and is called in a thread."""


def installed_model() -> Model | None:
    """The model that is installed, if there is one; it is loaded when it is asked for the first time."""
    return None if missing() else SmallModel()


class SmallModel:
    """SmolLM2, whose answers come as text."""

    name = NAME

    def __init__(self) -> None:
        self._loading = Lock()
        self._loaded: SmolLM2 | None = None

    def ask(self, question: str, *, think: bool) -> Input:
        """Give the answer to be; the first time this loads the model, which takes some 20 seconds."""
        with self._loading:
            loaded = self._loaded = self._loaded or SmolLM2.load()
        asked = [{"role": "user", "content": question}]
        prompt = chat_prompt(
            loaded.tokenizer,
            [*THINKING_EXAMPLES, *asked, THINKING_BEGUN] if think else asked,
            tools=None,
            chat_template=None,
            options={},
            device=loaded.model.device,
        )
        return Input(
            title=question,
            template=loaded.template(think=think),
            template_name="smollm3" if think else "inferred",
            pieces=[],
            prefix=decode_prefix(loaded.tokenizer, prompt.ids),
            origin=NAME,
            writes=partial(_write, loaded.model, loaded.tokenizer, prompt),
        )


async def _write(model: Any, tokenizer: Any, prompt: Prompt) -> AsyncGenerator[str, None]:
    """Have the model write, a piece of text for each token; the model stops when this is closed."""
    streamer = TokenStreamer(ahead=AHEAD)
    generate = partial(
        model.generate,
        **prompt.inputs,
        streamer=streamer,
        stopping_criteria=[streamer.stop],
        eos_token_id=tokenizer.eos_token_id,
        max_new_tokens=TOKENS_AT_MOST,
        do_sample=False,
    )
    texts = Detokenizer(tokenizer)
    async with aclosing(streamer.source(generate)) as source:
        async for ids in source:
            for text in texts.finish() if isinstance(ids, End) else texts.feed(ids):
                yield text
