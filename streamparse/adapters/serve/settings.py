"""All that a server can be told, with its defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamparse.arguments import ErrorMode
from streamparse.infer.source import ChatTemplate
from streamparse.template import TemplateSource


@dataclass(frozen=True, slots=True)
class Settings:
    """How a server serves one model; only the first three have no default.

    ``upstream`` is the URL of the completions, such as ``http://localhost:8000/v1``; ``server`` says of what kind they
    are (``streamparse.adapters.openai.servers``).
    """

    upstream: str
    chat_template: ChatTemplate
    template: TemplateSource
    server: str = "openai"

    model: str | None = None
    """The model's name: the only one that is served, and what the upstream is asked for. None: as the client says."""
    chat_template_arguments: Mapping[str, Any] = field(default_factory=dict)
    """What the chat template is given beside the conversation, unless a request says otherwise."""
    special_tokens: Sequence[str] = ()
    """The tokens that a llama.cpp upstream is to write out."""
    keep_bos: bool = True
    """Whether the prompt keeps the beginning-of-sequence token that the chat template writes."""
    errors: ErrorMode = "report"
    whole_calls: bool = False
    """Whether a call is sent only once it is whole and well-formed, also in a stream."""

    grammars: bool = True
    """Whether an upstream of a kind that takes grammars is sent them, so that calls are made as they were asked for."""

    upstream_key: str | None = None
    key: str | None = None
    """What the upstream is sent, and what clients must send, as ``Authorization: Bearer …``."""

    store: str | None = None
    """Where answers of conversations are kept for clients that come back: ``memory``, or the URL of a Redis.

    None: an answer ends with the connection of its client."""

    cors_origins: Sequence[str] = ()
    """Origins of pages whose scripts may use the server, such as ``http://localhost:3000``; ``*`` is any."""

    max_tokens: int = 4096
    """The length of an answer, in tokens, where a request says nothing of it."""
    max_requests: int = 256
    """Requests that are served at the same time; more are refused with 429."""
    max_choices: int = 8
    max_body: int = 16_000_000
    """Bytes of a request's body."""
    request_seconds: float = 1800.0
    """Time for one request, and, below, how long the upstream may be silent."""
    silence_seconds: float = 300.0
