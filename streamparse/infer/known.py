"""Whether a bundled template reads what a chat template writes: the same round trips, without a look at any name.

In: the cases of an analysis. Out: the names of the bundled templates that give all of them back, the likeliest first.

A chat template shows less than its model writes: other spellings of a call, marks around calls that the history leaves
out. A bundled template knows them. Only one that reads calls counts, since many templates read a plain answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import regex

from streamparse.arguments import ErrorMode
from streamparse.infer.analysis import Analysis
from streamparse.infer.cases import CALL, WEATHER, Case
from streamparse.infer.verify import reads
from streamparse.matching.compiling import compile_pattern
from streamparse.template import ResponseTemplate, get_response_template, response_template_names
from streamparse.template.bundled import bundled_source
from streamparse.template.literals import marks_of


def known_templates(analysis: Analysis, cases: Mapping[str, Sequence[Case]]) -> Iterator[str]:
    """The bundled templates that read every case in one piece, those first that do so in strict mode too.

    Of several that one comes first whose models write calls in this way, of whose marks the chat template writes most,
    and whose reasoning begins as the prompt has it.
    """
    every = [case for tried in cases.values() for case in tried]
    lenient = []
    for name in _in_order(analysis, every) if cases[CALL] else ():
        if _reads_all(name, [cases[CALL][0], *every], "repair"):
            if _reads_all(name, every, "strict"):
                yield name
            else:
                lenient.append(name)
    yield from lenient


def _reads_all(name: str, every: Sequence[Case], mode: ErrorMode) -> bool:
    """Whether a template reads the cases; the first that it doesn't read ends the trial."""
    template = get_response_template(name)
    return all(reads(template, case, mode) for case in every)


def _in_order(analysis: Analysis, every: Sequence[Case]) -> list[str]:
    """The bundled templates that may be meant, the likeliest first."""
    opening = analysis.reasoning.open.strip()
    opened = bool(opening) and analysis.envelope.prompts[0].tail.rstrip().endswith(opening)
    written = "".join(dict.fromkeys(case.prefix + case.output for case in every))
    calls = [case.output for case in every if case.feature == CALL]
    names = [name for name in response_template_names() if _opens_a_call(name)(calls[0])]
    templates = {name: get_response_template(name) for name in names}
    fits = {name: _fit(template, written) for name, template in templates.items()}
    alike = {name: _writes_alike(name, calls[0]) for name in names}
    begins = {name: (template.policy.starts_in is not None) == opened for name, template in templates.items()}
    return sorted(templates, key=lambda name: (not alike[name], -fits[name], not begins[name], name))


@cache
def _opens_a_call(name: str) -> Callable[[str], Any]:
    """Whether a text has what opens a bundled template's calls; the template as a whole takes longer to compile."""
    field = bundled_source(name)["fields"].get("tool_calls", {})
    literals = field.get("open", [])
    literals = [literals] if isinstance(literals, str) else literals
    return compile_pattern(field.get("open_pattern") or "|".join(map(regex.escape, literals)), regex.DOTALL).search


FREE = {"name": WEATHER.name, "ws": r"\s*", "\n": r"\s*", " ": r"\s*", "br": r"\s*", "id": "[^<>]*", "index": "[^<>]*"}
"""What stands in the places of a form of calls before the arguments."""


def _writes_alike(name: str, output: str) -> bool:
    """Whether a bundled template's models write calls as the chat template does, and don't only read them."""
    policy = bundled_source(name)["streamparse"]["fields"].get("tool_calls", {})
    for form in policy.get("written", ()):
        parts = regex.split(r"\{(\w+|\n| )\}", form.get("begin", "") + form["call"].partition("{arguments}")[0])
        head = "".join(FREE.get(part, "") if at % 2 else regex.escape(part) for at, part in enumerate(parts))
        if regex.search(head, output):
            return True
    return False


def _fit(template: ResponseTemplate, written: str) -> float:
    """How many of a template's marks are written, less half of those that are not."""
    marks = marks_of(template)
    found = sum(mark in written for mark in marks)
    return found - (len(marks) - found) / 2
