"""A chat template compiled for a bounded, closed rendering: Jinja as ``apply_chat_template`` sets it up.

In: the Jinja source. Out: a ``CompiledTemplate``, whose ``render(variables)`` gives text or raises ``Refusal``.

The environment follows transformers' ``apply_chat_template`` (``transformers/utils/chat_template_utils.py``, 5.24):
immutable sandbox, ``trim_blocks``, ``lstrip_blocks``, loop controls, ``{% generation %}``, ``tojson`` without HTML
escapes, ``raise_exception``, ``strftime_now``. No loader: ``include``, ``import`` and ``extends`` fail. The date is
fixed, so that two renderings differ only in what was changed.

Limits are kept by a ``Meter`` that the compiled template calls at every place where it can repeat or grow:

========================  ======================================================================================
``for``                   the loop's items are wrapped when the template is parsed; each costs a step
macros, ``caller()``,     every call goes through ``call`` (a sandboxed template has no other way): a step, its
methods, ``loop(...)``    arguments checked where the method can grow, its result charged
filters                   each is wrapped: a step, a check before those that can grow, the result charged
``+ * % **``              intercepted: checked before
``~``, literals, slices   rewritten when parsed: checked before (``~``), charged after (containers in depth)
comparisons               rewritten when parsed: containers are weighed before
``{{ … }}``               every printed value is charged by ``finalize``
recursion                 Python's own limit, reported as a refusal
========================  ======================================================================================
"""

from __future__ import annotations

import datetime
import json
import types
from collections.abc import Callable, Mapping
from typing import Any

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.runtime
import jinja2.sandbox
import jinja2.utils
from jinja2.visitor import NodeTransformer

from streamparse.infer.errors import InferenceError
from streamparse.infer.findings import findings_of
from streamparse.infer.growth import METHODS_THAT_GROW, metered_filter
from streamparse.infer.meter import LimitReached, Meter, RenderLimits, check_join, check_operator

MAX_SOURCE = 200_000
"""Longest chat template that is compiled, in characters."""

FIXED_DATE = datetime.datetime(2025, 3, 14, 15, 9, 26)
"""What ``strftime_now`` calls now."""


class Refusal(Exception):
    """The chat template does not render this conversation: it raised, failed, or went over a limit."""


class CompiledTemplate:
    """A chat template, compiled once; ``findings`` are what a walk over its source found."""

    def __init__(self, source: str, limits: RenderLimits | None = None) -> None:
        if len(source) > MAX_SOURCE:
            raise InferenceError(f"the chat template is longer than {MAX_SOURCE} characters")
        self._meter = Meter(limits or RenderLimits())
        self._environment = _ChatEnvironment(self._meter)
        try:
            tree = self._environment.parse(source)
            self.findings = findings_of(tree)
            self._template = self._environment.from_string(tree)
        except jinja2.TemplateSyntaxError as error:
            raise InferenceError(f"the chat template is not valid Jinja: {error.message}", line=error.lineno) from error
        except (RecursionError, SyntaxError, MemoryError, ValueError, LimitReached) as error:
            raise InferenceError(f"the chat template can't be compiled: {type(error).__name__}: {error}") from error

    def render(self, variables: Mapping[str, Any], seconds: float | None = None) -> str:
        """The text for these variables, or ``Refusal`` with the template's own message; takes at most ``seconds``."""
        self._meter.start(seconds)
        try:
            pieces: list[str] = []
            for piece in self._template.generate(**variables):
                self._meter.step()
                self._meter.charge(piece)
                pieces.append(piece)
            return "".join(pieces)
        except jinja2.TemplateError as error:
            raise Refusal(str(error.message or error)) from error
        except Exception as error:
            raise Refusal(f"{type(error).__name__}: {error}") from error


class _GenerationTag(jinja2.ext.Extension):
    """``{% generation %} … {% endgeneration %}``: marks what the model writes; here it only prints its body."""

    tags = {"generation"}  # noqa: RUF012 - Jinja's protocol

    def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("print_body"), [], [], body).set_lineno(line)

    def print_body(self, caller: Callable[[], str]) -> str:
        """The body as it renders."""
        return caller()


class _Namespace(jinja2.utils.Namespace):
    """``namespace()`` that prints as a word, whatever it holds."""

    def __repr__(self) -> str:
        return "<namespace>"


class _MeteredSource(NodeTransformer):
    """Puts the meter's calls into a parsed template: loops, ``~``, literals and slices."""

    def visit_For(self, node: jinja2.nodes.For) -> jinja2.nodes.Node:
        printed = sum(len(data.data) for data in node.find_all(jinja2.nodes.TemplateData))
        self.generic_visit(node)
        node.iter = _metered_by("_counted", node.iter, jinja2.nodes.Const(printed))
        return node

    def visit_Concat(self, node: jinja2.nodes.Concat) -> jinja2.nodes.Node:
        self.generic_visit(node)
        return _metered_by("_joined", jinja2.nodes.List(node.nodes))

    def visit_List(self, node: jinja2.nodes.List) -> jinja2.nodes.Node:
        self.generic_visit(node)
        return _metered_by("_charged", node)

    def visit_Dict(self, node: jinja2.nodes.Dict) -> jinja2.nodes.Node:
        self.generic_visit(node)
        return _metered_by("_charged", node)

    def visit_Tuple(self, node: jinja2.nodes.Tuple) -> jinja2.nodes.Node:
        self.generic_visit(node)
        return node if node.ctx != "load" else _metered_by("_charged", node)

    def visit_Compare(self, node: jinja2.nodes.Compare) -> jinja2.nodes.Node:
        self.generic_visit(node)
        node.expr = _metered_by("_weighed", node.expr)
        for operand in node.ops:
            operand.expr = _metered_by("_weighed", operand.expr)
        return node

    def visit_Getitem(self, node: jinja2.nodes.Getitem) -> jinja2.nodes.Node:
        self.generic_visit(node)
        return _metered_by("_charged", node) if isinstance(node.arg, jinja2.nodes.Slice) else node


def _metered_by(filter_name: str, node: Any, *arguments: jinja2.nodes.Expr) -> jinja2.nodes.Filter:
    """The node with one of the meter's filters around it."""
    return jinja2.nodes.Filter(node, filter_name, list(arguments), [], None, None)


_CHANGES_ALLOWED = frozenset(["append", "extend", "insert", "pop", "update", "setdefault"])
"""Methods that change a list or a dict, which the immutable sandbox refuses. Other engines for chat templates
(llama.cpp's,
for one) run templates that use them; every rendering works on a copy of its own, so nothing outside can change."""


class _ChatEnvironment(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """The environment of ``apply_chat_template`` with a meter in every place where a template can repeat or grow."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            optimized=False,
            extensions=[_GenerationTag, jinja2.ext.loopcontrols, jinja2.ext.do],
            finalize=jinja2.pass_context(lambda _, value: _printable(meter, value)),
        )
        filters = {**self.filters, "tojson": _tojson}
        self.filters = {name: metered_filter(meter, name, function) for name, function in filters.items()}
        self.filters["_counted"] = jinja2.pass_context(lambda _, items, weight: meter.counted(items, weight))
        self.filters["_charged"] = jinja2.pass_context(lambda _, value: meter.charge(value))
        self.filters["_weighed"] = jinja2.pass_context(lambda _, value: _weighed(meter, value))
        self.filters["_joined"] = jinja2.pass_context(lambda _, values: _joined(meter, values))
        del self.globals["lipsum"]
        self.globals.update(
            raise_exception=_raise_exception, strftime_now=_strftime_now, namespace=_Namespace, dict=_new_dict
        )

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, (list, dict)) and attr in _CHANGES_ALLOWED:
            return True
        return super().is_safe_attribute(obj, attr, value)

    def _generate(
        self, source: jinja2.nodes.Template, name: str | None, filename: str | None, defer_init: bool = False
    ) -> str:
        _MeteredSource().visit(source)
        source.set_environment(self)
        return super()._generate(source, name, filename, defer_init)

    def call_binop(self, context: jinja2.runtime.Context, operator: str, left: Any, right: Any) -> Any:
        self.meter.step()
        check_operator(self.meter, operator, left, right)
        return self.meter.charge(super().call_binop(context, operator, left, right))

    def call(self, context: jinja2.runtime.Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.meter.step()
        if isinstance(function, jinja2.runtime.LoopContext) and args:
            args = (self.meter.counted(args[0]), *args[1:])
        owner = getattr(getattr(function, "__wrapped__", function), "__self__", None)
        if isinstance(owner, (list, dict)):
            self.meter.charge([owner, args, kwargs])
        if isinstance(owner, (str, bytes, int)):
            check = METHODS_THAT_GROW.get(getattr(function, "__name__", ""))
            if check is not None:
                args = check(self.meter, owner, args, kwargs)
        return self.meter.charge(super().call(context, function, *args, **kwargs))


def _printable(meter: Meter, value: Any) -> Any:
    """Charge a value that is printed."""
    meter.step()
    return meter.charge(value)


def _weighed(meter: Meter, value: Any) -> Any:
    """Look at the size of a container that is about to be compared."""
    if isinstance(value, (list, dict, tuple)):
        meter.step()
        meter.weigh(value)
    return value


def _joined(meter: Meter, values: list[Any]) -> str:
    """Jinja's ``~``, checked before it is done."""
    meter.step()
    check_join(meter, "", values)
    return meter.charge("".join([str(value) for value in values]))  # type: ignore[no-any-return]


def _raise_exception(message: str) -> None:
    """What templates call to refuse a conversation."""
    raise jinja2.TemplateError(str(message))


def _strftime_now(pattern: str) -> str:
    """The fixed date, formatted."""
    return FIXED_DATE.strftime(pattern[:256])


def _new_dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    """``dict()`` without the attributes of the type."""
    return dict(*args, **kwargs)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as ``apply_chat_template`` writes it: no HTML escapes, and the options of ``json.dumps``.

    What ``map`` and ``select`` give is a list here, as in other engines; ``apply_chat_template`` refuses it.
    """
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys, default=_as_list
    )


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, types.GeneratorType):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON serializable")
