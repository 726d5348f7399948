"""``streamparse serve``: a server of chat completions in front of an endpoint of raw completions."""

from __future__ import annotations

import argparse
import json
import logging
import os
import socket
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamparse.adapters.openai.servers import SERVERS
from streamparse.arguments import ERROR_MODES
from streamparse.cli.command import OK, Command, UsageError
from streamparse.cli.inputs import number_above_zero, port_number
from streamparse.template import ResponseTemplate, load_response_template

if TYPE_CHECKING:
    from streamparse.adapters.serve import Settings

EXAMPLES = """\
  streamparse serve --upstream http://localhost:8000/v1 --server vllm --chat-template ./my-model/
  streamparse serve --upstream http://localhost:8080/v1 --server llama.cpp --chat-template mine.jinja -t qwen3"""

BOS = ("auto", "keep", "strip")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    upstream = parser.add_argument_group("the upstream")
    upstream.add_argument(
        "--upstream", metavar="URL", required=True, help="where raw completions are, such as http://localhost:8000/v1"
    )
    upstream.add_argument(
        "--server",
        choices=list(SERVERS),
        default="openai",
        help="what it is, and so what it is asked so that it keeps special tokens (default: openai, any other)",
    )
    upstream.add_argument("--model", metavar="NAME", help="the one model to serve (default: as clients say)")
    upstream.add_argument("--upstream-key-env", metavar="VAR", help="environment variable with the upstream's API key")
    upstream.add_argument(
        "--no-grammars",
        action="store_true",
        help="send no grammars for forced calls, strict tools and single calls, which llama.cpp, vLLM and SGLang take",
    )
    model = parser.add_argument_group("the model's format")
    model.add_argument(
        "--chat-template",
        metavar="FILE|DIR",
        required=True,
        help="what renders the messages: a chat template, a tokenizer_config.json or a model's folder",
    )
    model.add_argument(
        "-t",
        "--template",
        metavar="NAME|FILE",
        help="the response template (default: the folder's own, or else inferred from the chat template)",
    )
    model.add_argument(
        "--chat-template-args",
        metavar="JSON",
        help='what the chat template is given, such as {"enable_thinking": false}',
    )
    model.add_argument(
        "--errors", choices=ERROR_MODES[1:], default="report", help="report what is malformed, or mend it where safe"
    )
    model.add_argument(
        "--whole-calls", action="store_true", help="send a tool call only once it is whole and well-formed"
    )
    model.add_argument(
        "--bos",
        choices=BOS,
        default="auto",
        help="the chat template's beginning-of-sequence token (default: strip it where the server adds it)",
    )
    server = parser.add_argument_group("the server")
    server.add_argument("--host", default="127.0.0.1", metavar="HOST", help="address to listen on (default: 127.0.0.1)")
    server.add_argument(
        "--port", default=8100, type=port_number, metavar="N", help="port; 0: any that is free (default: 8100)"
    )
    server.add_argument("--key-env", metavar="VAR", help="environment variable with the API key that clients must send")
    server.add_argument(
        "--cors-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="let scripts of this origin's pages use it, such as http://localhost:3000; * is any; may be repeated",
    )
    server.add_argument(
        "--store",
        metavar="URL",
        help="keep answers of /ui/chat and /ag-ui for clients that come back: memory, or "
        "redis://HOST:PORT/0, which any number of servers share (default: an answer ends with its client)",
    )
    server.add_argument("--quiet", action="store_true", help="log no requests")
    for name, default, kind, text in _limits():
        shown = f"{text} (default: {default:g})" if isinstance(default, float) else f"{text} (default: {default})"
        server.add_argument(f"--{name}", default=default, type=kind, metavar="N", help=shown)


def _limits() -> list[tuple[str, Any, Any, str]]:
    return [
        ("max-tokens", 4096, _count, "length of an answer where a request says none"),
        ("max-requests", 256, _count, "requests at the same time; more are refused"),
        ("max-choices", 8, _count, "most choices (n) of a request"),
        ("max-body", 16_000_000, _count, "most bytes of a request"),
        ("request-seconds", 1800.0, number_above_zero, "time for one request"),
        ("silence-seconds", 300.0, number_above_zero, "time that the upstream may be silent"),
        ("grace-seconds", 30.0, number_above_zero, "time for requests under way when the server is stopped"),
    ]


def _count(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"a whole number above 0 is needed, not {text!r}")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Serve until the process is told to stop."""
    try:
        import uvicorn

        from streamparse.adapters.serve import create_app
        from streamparse.adapters.serve.fitting import misfit
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is missing: install the extra, pip install 'streamparse-llm[serve]'") from error
    settings = settings_of(arguments)
    try:
        app = create_app(settings)
    except ModuleNotFoundError as error:
        raise UsageError(str(error)) from error
    if not arguments.quiet:
        _log_requests()
    if (problem := misfit(settings)) is not None:
        print(f"streamparse: {problem}", file=sys.stderr)
    listening = _listening(arguments.host, arguments.port)
    grace = max(1, round(arguments.grace_seconds))
    config = uvicorn.Config(app, timeout_graceful_shutdown=grace, ws="none", access_log=False, log_level="warning")
    uvicorn.Server(config).run(sockets=[listening])
    return OK


def _log_requests() -> None:
    """Write a line for each request to the standard error output."""
    logger, handler = logging.getLogger("streamparse.serve"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


def settings_of(arguments: argparse.Namespace) -> Settings:
    """What the arguments say; raises UsageError for files and variables that can't be used."""
    from streamparse.adapters.serve import Settings
    from streamparse.adapters.serve.special_tokens import special_tokens_of
    from streamparse.infer.source import read_chat_template

    path = Path(arguments.chat_template)
    if not path.exists():
        raise UsageError(f"no such file or folder: {path}")
    chat_template = read_chat_template(path)
    return Settings(
        upstream=arguments.upstream,
        chat_template=chat_template,
        template=_response_template(arguments.template, path),
        server=arguments.server,
        model=arguments.model,
        chat_template_arguments=_object(arguments.chat_template_args),
        special_tokens=special_tokens_of(path, chat_template.text),
        keep_bos=arguments.bos == "keep" or (arguments.bos == "auto" and not SERVERS[arguments.server].adds_bos),
        errors=arguments.errors,
        grammars=not arguments.no_grammars,
        whole_calls=arguments.whole_calls,
        store=arguments.store,
        cors_origins=arguments.cors_origin,
        upstream_key=_variable(arguments.upstream_key_env),
        key=_variable(arguments.key_env),
        max_tokens=arguments.max_tokens,
        max_requests=arguments.max_requests,
        max_choices=arguments.max_choices,
        max_body=arguments.max_body,
        request_seconds=arguments.request_seconds,
        silence_seconds=arguments.silence_seconds,
    )


def _response_template(given: str | None, path: Path) -> ResponseTemplate:
    """The template that was named, or the one beside the chat template, or the one that the chat template implies."""
    if given is not None:
        return load_response_template(given)
    folder = path if path.is_dir() else path.parent
    own = folder / "response_template.json"
    config = folder / "tokenizer_config.json"
    if own.is_file():
        return load_response_template(own)
    if config.is_file() and '"response_template"' in config.read_text(encoding="utf-8", errors="replace"):
        return load_response_template(config)
    from streamparse.infer import infer_response_template

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        template = load_response_template(infer_response_template(path).to_use())
    for warning in caught:
        print(f"streamparse: {warning.message}", file=sys.stderr)
    return template


def _object(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--chat-template-args is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UsageError("--chat-template-args must be a JSON object")
    return value


def _variable(name: str | None) -> str | None:
    if name is None:
        return None
    value = os.environ.get(name)
    if not value:
        raise UsageError(f"the environment variable {name} is not set")
    return value


def _listening(host: str, port: int) -> socket.socket:
    """A socket to listen on; says where, which with port 0 only it knows."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise UsageError(f"can't listen on {host}:{port}: {error}") from error
    shown = f"[{host}]" if family is socket.AF_INET6 else host
    print(f"streamparse: serving on http://{shown}:{listening.getsockname()[1]}/v1", file=sys.stderr, flush=True)
    return listening


COMMAND = Command("serve chat completions in front of an endpoint of raw completions", EXAMPLES, add_arguments, run)
