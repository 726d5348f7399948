"""Inference: how a model's output is read, worked out from how its chat template writes it.

``infer_response_template`` is the way in. The modules, in the order in which they work:

=============================  =====================================================================
``source``                     where the chat template comes from
``sandbox``, ``meter``,        rendering it, within limits
``render``
``conversation``, ``phrasing`` posing conversations to it in words that it understands
``compare``                    what two renderings share
``envelope``, ``reasoning``,   the analyzers: each reads one part of the assistant's turn
``content``, ``tools``
``analysis``                   the analyzers in order
``compose``                    findings become a response template
``cases``, ``verify``          the template is tried on what the chat template renders
``choose``                     the reading that comes back best
``inference``, ``explain``     the result and its account
=============================  =====================================================================

Rendering needs Jinja, the extra ``infer``; without it the names below can't be imported, and an ``InferenceError``
says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.infer.errors import InferenceError

if TYPE_CHECKING:
    from streamparse.infer.inference import Inference, UnverifiedWarning, infer_response_template

__all__ = ["Inference", "InferenceError", "UnverifiedWarning", "infer_response_template"]


def __getattr__(name: str) -> Any:
    """Import what renders chat templates when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from streamparse.infer import inference
    except ModuleNotFoundError as error:
        if error.name != "jinja2":
            raise
        raise InferenceError(
            "a chat template is rendered with Jinja: install the extra, pip install 'streamparse-llm[infer]'"
        ) from error
    return getattr(inference, name)
