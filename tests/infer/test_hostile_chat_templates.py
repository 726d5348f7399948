"""A chat template is a program from a stranger: whatever it tries, rendering it ends, and there is no way out."""

from __future__ import annotations

import time

import pytest

from streamparse.infer import InferenceError, infer_response_template
from streamparse.infer.meter import RenderLimits
from streamparse.infer.sandbox import MAX_SOURCE, CompiledTemplate, Refusal

DOUBLED = "{%- set ns = namespace(x='0123456789') %}{%- for i in range(60) %}%s{%- endfor %}{{ ns.x }}"
DOUBLED_LIST = "{%- set ns = namespace(x=[1]) %}{%- for i in range(60) %}%s{%- endfor %}{{ ns.x }}"

TOO_MUCH: dict[str, str] = {
    "loops in loops": "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    "empty loops in loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "a recursive loop": "{% for x in [[1]] recursive %}{{ loop([[1], [1]]) }}{{ loop([[1], [1]]) }}{% endfor %}",
    "much text in a loop": "{% for i in range(99999) %}" + "x" * 99_999 + "{% endfor %}",
    "a huge range": "{{ range(10 ** 9)|list }}",
    "a text many times": "{{ 'a' * 10 ** 10 }}",
    "a list many times": "{{ [0] * 10 ** 10 }}",
    "a power": "{{ 10 ** (10 ** 10) }}",
    "squares": DOUBLED.replace("'0123456789'", "12345678901234567890").replace("%s", "{% set ns.x = ns.x * ns.x %}"),
    "doubling with ~": DOUBLED.replace("%s", "{% set ns.x = ns.x ~ ns.x %}"),
    "doubling with +": DOUBLED.replace("%s", "{% set ns.x = ns.x + ns.x %}"),
    "doubling with a block": DOUBLED.replace("%s", "{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}"),
    "doubling with join": DOUBLED.replace("%s", "{% set ns.x = [ns.x, ns.x]|join %}"),
    "doubling with format": DOUBLED.replace("%s", "{% set ns.x = '%s%s' % (ns.x, ns.x) %}"),
    "a tree of lists": DOUBLED_LIST.replace("%s", "{% set ns.x = [ns.x, ns.x] %}"),
    "a tree of appended lists": DOUBLED_LIST.replace(
        "%s", "{% set l = [] %}{% set _ = l.append(ns.x) %}{% set _ = l.append(ns.x) %}{% set ns.x = l %}"
    ),
    "a list in itself": "{% set l = [] %}{% set _ = l.append(l) %}{{ l|tojson }}",
    "a macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a macro that calls itself twice": (
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(99) }}"
    ),
    "a block that shows itself": "{% block a %}{{ self.a() }}{{ self.a() }}{% endblock %}",
    "a wide centre": "{{ 'a'|center(10 ** 9) }}",
    "a wide method": "{{ 'a'.ljust(10 ** 9) }}",
    "a wide format": "{{ '%1000000000d' % 1 }}",
    "a format as wide as told": "{{ '%*d' % (10 ** 9, 1) }}",
    "a wide format filter": "{{ '%1000000000d'|format(1) }}",
    "a wide format method": "{{ '{:1000000000}'.format(1) }}",
    "a nested format method": "{{ '{:{}}'.format(1, 10 ** 9) }}",
    "a long replacement": "{{ ('a' * 99999).replace('a', 'b' * 99999) }}",
    "a long replacement filter": "{{ ('a' * 99999)|replace('a', 'b' * 99999) }}",
    "a translation": "{{ ('a' * 99999).translate({97: 'b' * 99999}) }}",
    "a long separator": "{{ range(99999)|join('b' * 99999) }}",
    "a long separator's method": "{{ ('b' * 99999).join(range(9999)|map('string')) }}",
    "a big batch": "{{ [1]|batch(10 ** 9, 'x')|list }}",
    "many slices": "{{ []|slice(10 ** 9)|list }}",
    "a wide indent": "{{ ('\\n' * 99999)|indent(99999, true, true) }}",
    "a wide JSON": "{{ [1, [1, [2]]]|tojson(indent=10 ** 8) }}",
    "texts as lists": "{{ (['a' * 99999] * 999)|map('list')|map('length')|list }}",
    "lists added up": "{{ range(99999)|batch(1)|list|sum(start=[]) }}",
    "lists compared": "{% set a = range(90000)|list %}{% set b = range(90000)|list %}"
    "{% for i in range(90000) %}{% if a == b %}{% endif %}{% endfor %}",
    "texts searched": "{% set s = 'a' * 300000 %}{% set t = 'a' * 150000 + 'b' %}"
    "{% for i in range(99999) %}{% if t in s %}{% endif %}{% endfor %}",
    "texts sliced": "{% set ns = namespace(l=[]) %}{% set s = 'a' * 300000 %}"
    "{% for i in range(99999) %}{% set ns.l = ns.l + [s[1:]] %}{% endfor %}",
    "lists sorted": "{% for i in range(999) %}{{ range(99999)|sort|list|length }}{% endfor %}",
    "one text many times": "{% set s = 'a' * 300000 %}{{ " + " ~ ".join(["s"] * 3000) + " }}",
    "bytes of a number": "{{ (1).to_bytes(10 ** 9, 'big') }}",
}

FORBIDDEN: dict[str, str] = {
    "include": "{% include '/etc/passwd' %}",
    "import": "{% import '/etc/passwd' as x %}",
    "extends": "{% extends '/etc/passwd' %}",
    "a class": "{{ ''.__class__.__mro__ }}",
    "a method's globals": "{{ namespace.__init__.__globals__ }}",
    "a function's globals": "{{ raise_exception.__globals__.keys() }}",
    "a class by a filter": "{{ (''|attr('__class__')).__mro__ }}",
    "a class by a format": "{{ '{0.__class__.__mro__}'.format('').upper().nothing.more }}",
    "the messages' class": "{{ messages.__class__.__mro__ }}",
    "the template's context": "{{ self._TemplateReference__context.keys() }}",
    "a generator's frame": "{{ (messages|map('string')).gi_frame.f_globals }}",
    "sorting in place": "{{ messages.sort() }}",
    "clearing": "{{ messages.clear() }}",
}


SLOW = {"lists compared", "texts searched", "lists sorted"}
"""What nothing but the clock ends."""


def render(source: str, limits: RenderLimits | None = None) -> str:
    return CompiledTemplate(source, limits).render({"messages": [{"role": "user", "content": "Hi"}]})


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_would_not_end_or_fit_is_refused(name: str) -> None:
    with pytest.raises(Refusal, match="out of time" if name in SLOW else None):
        render(TOO_MUCH[name], RenderLimits(seconds=0.1) if name in SLOW else None)


@pytest.mark.parametrize("name", FORBIDDEN)
def test_there_is_no_way_out_of_the_sandbox(name: str) -> None:
    with pytest.raises(Refusal):
        render(FORBIDDEN[name])


@pytest.mark.parametrize(
    "source",
    [
        "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
        "{% for a in x %}" * 40 + "{% endfor %}" * 40,
        "{{ " + "9" * 99_999 + " }}",
        "{% if %}",
        "x" * (MAX_SOURCE + 1),
    ],
    ids=["deep", "nested loops", "a long number", "no Jinja", "long"],
)
def test_what_cannot_be_compiled_is_an_error_of_ours(source: str) -> None:
    with pytest.raises(InferenceError):
        CompiledTemplate(source)


def test_a_date_is_the_same_in_every_rendering() -> None:
    assert render("{{ strftime_now('%Y-%m-%d') }}") == "2025-03-14"


def test_a_namespace_prints_as_a_word_however_much_it_holds() -> None:
    source = "{% set a = namespace() %}{% set a.x = a %}{{ a }}"
    assert render(source) == "<namespace>"


def test_a_conversation_is_not_changed_by_a_template_that_changes_lists() -> None:
    source = "{% set _ = messages.append({'role': 'assistant', 'content': 'x'}) %}{{ messages|length }}"
    template = CompiledTemplate(source)
    assert template.render({"messages": [1]}) == template.render({"messages": [1]}) == "2"


def test_limits_are_the_callers_to_set() -> None:
    loop = "{% for i in range(100) %}{{ i }}{% endfor %}"
    assert CompiledTemplate(loop).render({}).endswith("99")
    with pytest.raises(Refusal, match="more than 50 steps"):
        CompiledTemplate(loop, RenderLimits(steps=50)).render({})


@pytest.mark.parametrize("name", ["loops in loops", "a macro that calls itself twice", "doubling with ~"])
def test_inference_ends_on_a_template_that_does_not(name: str) -> None:
    with pytest.raises(InferenceError):
        infer_response_template(TOO_MUCH[name] + "{% for m in messages %}{{ m.content }}{% endfor %}")


def test_what_holds_the_machine_up_costs_a_rendering_nothing() -> None:
    class Waiting:
        def __str__(self) -> str:
            time.sleep(0.3)
            return "Hello."

    template = CompiledTemplate("{{ text }}{{ ' ' }}{{ text }}", RenderLimits(seconds=0.2))
    assert template.render({"text": Waiting()}) == "Hello. Hello."
