"""Whether a response template fits the chat template that it is served with.

In:  ``Settings``.
Out: what does not fit, or None. A template for another family reads nothing of what the model writes, and says so to
     nobody: this is seen when the server starts.
"""

from __future__ import annotations

from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.prompt import PromptRenderer
from streamparse.adapters.serve.settings import Settings
from streamparse.matching.delimiter import Delimiter
from streamparse.stages.anchor import AnchorTrim
from streamparse.template import load_response_template

_QUESTION = [{"role": "user", "content": "Hi"}]


def misfit(settings: Settings) -> str | None:
    """Say what does not fit, if a simple question shows it.

    >>> from streamparse.infer.source import ChatTemplate
    >>> misfit(Settings("http://localhost/v1", ChatTemplate("{{ messages[0].content }}ASSISTANT:"), "qwen3"))
    "the start anchor of the response template is not in the chat template's prompts; is it the model's?"
    """
    try:
        prompt = PromptRenderer(settings.chat_template, arguments=settings.chat_template_arguments).render(
            _QUESTION, []
        )
    except RequestError as error:
        return f"a simple question can't be put to the model: {error}"
    if not _begins_a_turn(load_response_template(settings.template).start_anchor, prompt):
        return "the start anchor of the response template is not in the chat template's prompts; is it the model's?"
    return None


def _begins_a_turn(anchor: Delimiter, prompt: str) -> bool:
    """Whether what is written behind the prompt is behind the anchor too.

    An anchor may also be "all that follows a closed turn", which families share whose turns begin in other ways.
    """

    def trimmed(text: str) -> tuple[bool, bool]:
        stage = AnchorTrim(anchor, keep_unanchored=False)
        kept = stage.feed(text)
        return bool(stage.found), bool(kept)

    found, _ = trimmed(prompt)
    _, kept = trimmed(f"{prompt}x")
    anywhere, _ = trimmed("x")
    return found and (kept or anywhere)
