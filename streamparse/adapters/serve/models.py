"""The models that are served: ``/v1/models``, and one of them by its name.

In:  ``Settings``, and an HTTP client.
Out: objects as OpenAI's API has them: the one model that is named, or those that the upstream lists.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from streamparse.adapters.openai.bounds import UNCOMPRESSED, text_up_to
from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.request import DEPTH, is_deeper
from streamparse.adapters.serve.settings import Settings

_SECONDS = 10.0
_AT_MOST = 4_000_000  # bytes of the upstream's list


@dataclass(frozen=True, slots=True)
class Models:
    """Lists models, and finds them."""

    settings: Settings
    started: int = field(default_factory=lambda: int(time.time()))

    async def listed(self, client: httpx.AsyncClient) -> Any:
        """Give the list; raises RequestError where the upstream gives none that can be read."""
        if self.settings.model is not None:
            model = {"id": self.settings.model, "object": "model", "created": self.started, "owned_by": "streamparse"}
            return {"object": "list", "data": [model]}
        try:
            models = json.loads(await self._upstream_list(client))
            if is_deeper(models, DEPTH):
                raise ValueError("it is nested too deep")
            return models
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
            raise RequestError(502, "the upstream does not list its models", code="upstream_error") from error

    async def one(self, name: str, client: httpx.AsyncClient) -> Any:
        """Give one model; raises RequestError where there is none of that name."""
        models = await self.listed(client)
        data = models.get("data") if isinstance(models, dict) else None
        for model in data if isinstance(data, list) else []:
            if isinstance(model, dict) and model.get("id") == name:
                return model
        raise RequestError(404, f"there is no model {name!r}", param="model", code="model_not_found")

    async def _upstream_list(self, client: httpx.AsyncClient) -> str:
        url = f"{self.settings.upstream.rstrip('/')}/models"
        key = self.settings.upstream_key
        headers = UNCOMPRESSED if key is None else {**UNCOMPRESSED, "Authorization": f"Bearer {key}"}
        async with client.stream("GET", url, headers=headers, timeout=_SECONDS) as answer:
            text = await text_up_to(answer, _AT_MOST, seconds=_SECONDS)
            if answer.status_code != httpx.codes.OK:
                raise ValueError(f"{url} answered {answer.status_code}")
            return text
