"""``streamparse parse``: a model's output in, events or the message out, while it is being written."""

from __future__ import annotations

import argparse
import sys

import anyio

from streamparse.arguments import ERROR_MODES
from streamparse.cli.command import Command
from streamparse.cli.infer import inferred
from streamparse.cli.inputs import (
    LIMIT_NAMES,
    input_descriptor,
    input_name,
    limit_in,
    pieces,
    text_in,
    tools_in,
)
from streamparse.cli.live import LiveView, console_on
from streamparse.cli.output import EventLines, MessageLine, Output, show
from streamparse.limits import Limits
from streamparse.stream import parse_stream
from streamparse.template import ResponseTemplate, load_response_template

EXAMPLES = """\
  streamparse parse --template qwen3 output.txt
  curl -sN http://localhost:8000/raw | streamparse parse --template gpt_oss
  streamparse parse --template ./my-model/ --prefix-file prompt.txt --tools tools.json output.txt
  streamparse parse --template qwen3 --deltas output.txt | grep region_delta
  streamparse parse --template qwen3 --output message output.txt | jq .tool_calls"""

OUTPUTS: dict[str, type[Output]] = {"events": EventLines, "message": MessageLine}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="the output (default: standard input, as it comes)")
    template = parser.add_mutually_exclusive_group(required=True)
    template.add_argument(
        "-t",
        "--template",
        metavar="NAME|FILE",
        help="a bundled template, a template's JSON, a tokenizer_config.json or a model's folder that has one",
    )
    template.add_argument(
        "--chat-template",
        metavar="FILE|DIR",
        help="infer the template from this chat template, tokenizer_config.json or model's folder",
    )
    prefix = parser.add_mutually_exclusive_group()
    prefix.add_argument("--prefix", metavar="TEXT", help="the prompt, or its end: what the model's output continues")
    prefix.add_argument("--prefix-file", metavar="FILE", help="the same, from a file")
    parser.add_argument("--tools", metavar="FILE", help="JSON list of tools, which say of what type arguments are")
    parser.add_argument(
        "--errors",
        choices=ERROR_MODES,
        default="report",
        help="what is malformed ends the parsing (strict), is reported (report, the default), or is mended where safe",
    )
    parser.add_argument("--deltas", action="store_true", help="events with a call's name and arguments as they come")
    parser.add_argument("--spans", action="store_true", help="events with their place: start, end, captures")
    parser.add_argument("--call-ids", action="store_true", help="an id for each call whose model wrote none")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="FIELD",
        help="switch a field off, its markup is text then; may be given several times (such as tool_calls)",
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        type=limit_in,
        metavar="NAME=NUMBER",
        help=f"change a limit; may be given several times (names: {', '.join(LIMIT_NAMES)})",
    )
    parser.add_argument(
        "--output",
        choices=sorted(OUTPUTS),
        help="a line of JSON for each event, or one for the message (default: events; on a terminal: a live view)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Parse the input; the exit code says whether all of it was well-formed."""
    template = load_response_template(
        inferred(arguments.chat_template).template if arguments.chat_template else arguments.template
    )
    prefix = text_in(arguments.prefix_file) if arguments.prefix_file else arguments.prefix or ""
    tools = tools_in(arguments.tools) if arguments.tools else None
    options = {
        "errors": arguments.errors,
        "deltas": arguments.deltas,
        "spans": arguments.spans,
        "call_ids": arguments.call_ids,
        "without": arguments.without,
        "limits": Limits(**dict(arguments.limit)),
    }
    with input_descriptor(arguments.file) as descriptor:
        source = pieces(descriptor, input_name(arguments.file))
        stream = parse_stream(source, template, prefix=prefix, tools=tools, **options)
        return anyio.run(show, stream, _output(arguments.output, template))


def _output(chosen: str | None, template: ResponseTemplate) -> Output:
    if chosen is None and sys.stdout.isatty():
        return LiveView(console_on(), template)
    return OUTPUTS[chosen or "events"]()


COMMAND = Command("parse a model's output while it is being written", EXAMPLES, add_arguments, run)
