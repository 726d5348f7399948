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

Needs the extra ``infer`` (Jinja).
"""

from streamparse.infer.errors import InferenceError
from streamparse.infer.inference import Inference, UnverifiedWarning, infer_response_template

__all__ = ["Inference", "InferenceError", "UnverifiedWarning", "infer_response_template"]
