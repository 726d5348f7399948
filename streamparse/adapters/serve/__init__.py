"""A server of chat completions in front of any endpoint of raw completions: ``streamparse serve``.

=====================  ===========================================================================
``settings``           all that a server can be told
``app``                the ASGI application: endpoints, limits, cancellation
``request``            the body of a request, checked
``protocol``           what a protocol beside chat completions is, and
``messages_api``       Anthropic's Messages,
``responses_api``      OpenAI's Responses,
``ui_chat``            the AI SDK's UI message stream,
``ag_ui``              and AG-UI, each with what its requests say in the words of chat completions
``reading``            the parts of such requests, checked
``speaking``           an answer in the words of a protocol
``gone``               work that ends when its client goes away
``keeping``            answers that outlive their clients, in a store
``kept_endpoints``     what takes such an answer up again, and what stops it
``tool_choice``        which tools are shown, and whether one has to be called
``response_format``    JSON as the answer, in the words of each kind of server
``messages``           a conversation in the forms that chat templates take
``reasoning_key``      where a chat template reads the reasoning of earlier answers
``prompt``             messages as a prompt, by the model's chat template
``beginning``          where an answer begins: a call, or JSON, may begin in the prompt
``constraining``       whether a grammar holds the upstream to the request
``generation``         one generation of the upstream, up to where the answer ends
``answer``             completions of the upstream, parsed, as chunks or whole
``usage``              the tokens that a request used
``errors``             what a client is told when a request can't be served
``models``             the models that are served
``log``                one line for each request
``metrics``            what is counted, for Prometheus
``fitting``            whether the response template fits the chat template
``special_tokens``     the special tokens of a model that its chat template writes
=====================  ===========================================================================

It needs the extra ``serve``; the source and the sink that it stands on are those of ``streamparse.adapters.openai``.
"""

try:
    from streamparse.adapters.serve.app import create_app
    from streamparse.adapters.serve.settings import Settings
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.name} is missing: install the extra, pip install 'streamparse-llm[serve]'", name=error.name
    ) from error

__all__ = ["Settings", "create_app"]
