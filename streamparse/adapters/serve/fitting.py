"""Whether a response template fits the chat template that it is served with.

In:  ``Settings``.
Out: what does not fit, or None. A template for another family reads nothing of what the model writes, and says so to
     nobody: this is seen when the server starts.
"""

from __future__ import annotations

from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.prompt import PromptRenderer
from streamparse.adapters.serve.settings import Settings
from streamparse.parser import ResponseParser

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
    parser = ResponseParser(settings.template, prompt, errors="report")
    if any(problem["type"] == "anchor_missing" for problem in parser.problems):
        return "the start anchor of the response template is not in the chat template's prompts; is it the model's?"
    return None
