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

from streamparse.infer.errors import InferenceError
from streamparse.infer.meter import (
    LimitReached,
    Meter,
    RenderLimits,
    check_format,
    check_join,
    check_operator,
    check_replace,
)

try:
    import jinja2
    import jinja2.ext
    import jinja2.nodes
    import jinja2.parser
    import jinja2.runtime
    import jinja2.sandbox
    import jinja2.utils
    from jinja2.visitor import NodeTransformer, NodeVisitor
except ImportError as error:  # pragma: no cover - depends on the installation
    raise InferenceError(
        "inference renders the chat template with Jinja: install the extra, pip install 'streamparse-llm[infer]'"
    ) from error

MAX_SOURCE = 200_000
"""Longest chat template that is compiled, in characters."""

FIXED_DATE = datetime.datetime(2025, 3, 14, 15, 9, 26)
"""What ``strftime_now`` calls now."""


class Refusal(Exception):
    """The chat template does not render this conversation: it raised, failed, or went over a limit."""


class CompiledTemplate:
    """A chat template, compiled once.

    ``variables`` are the names it reads that are not its loops' and macros' own, ``constants`` the texts it holds, ``compared`` the values
    that it compares a name with.
    """

    def __init__(self, source: str, limits: RenderLimits | None = None) -> None:
        if len(source) > MAX_SOURCE:
            raise InferenceError(f"the chat template is longer than {MAX_SOURCE} characters")
        self._meter = Meter(limits or RenderLimits())
        self._environment = _ChatEnvironment(self._meter)
        try:
            tree = self._environment.parse(source)
            found = _Findings()
            found.visit(tree)
            self.variables = frozenset(found.read - found.bound)
            self.constants = tuple(found.texts)
            self.compared = found.compared
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


class _Findings(NodeVisitor):
    """What one walk over a parsed template finds: names, texts, and what names are compared with."""

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.bound: set[str] = set()
        self.texts: dict[str, None] = {}
        self.compared: dict[str, list[str]] = {}

    def visit_Name(self, node: jinja2.nodes.Name) -> None:
        if node.ctx == "load":
            self.read.add(node.name)

    def visit_For(self, node: jinja2.nodes.For) -> None:
        self.bound.update(
            name.name
            for name in [node.target, *node.target.find_all(jinja2.nodes.Name)]
            if isinstance(name, jinja2.nodes.Name)
        )
        self.generic_visit(node)

    def visit_Macro(self, node: jinja2.nodes.Macro) -> None:
        self.bound.update([node.name, *(argument.name for argument in node.args)])
        self.generic_visit(node)

    def visit_TemplateData(self, node: jinja2.nodes.TemplateData) -> None:
        self.texts[node.data] = None

    def visit_Const(self, node: jinja2.nodes.Const) -> None:
        if isinstance(node.value, str):
            self.texts[node.value] = None

    def visit_Compare(self, node: jinja2.nodes.Compare) -> None:
        for operand in node.ops:
            sides = [node.expr, operand.expr]
            values = [const.value for side in sides for const in _constants_in(side)]
            for side in sides:
                if isinstance(side, jinja2.nodes.Name):
                    known = self.compared.setdefault(side.name, [])
                    known.extend(value for value in values if isinstance(value, str))
        self.generic_visit(node)


def _constants_in(node: jinja2.nodes.Node) -> list[jinja2.nodes.Const]:
    if isinstance(node, jinja2.nodes.Const):
        return [node]
    return [item for item in node.iter_child_nodes() if isinstance(item, jinja2.nodes.Const)]


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
"""Methods that change a list or a dict, which the immutable sandbox refuses. Other engines for chat templates (llama.cpp's,
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
            extensions=[_GenerationTag, jinja2.ext.loopcontrols],
            finalize=jinja2.pass_context(lambda _, value: _printable(meter, value)),
        )
        filters = {**self.filters, "tojson": _tojson}
        self.filters = {name: _metered_filter(meter, name, function) for name, function in filters.items()}
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
            check = _METHODS_THAT_GROW.get(getattr(function, "__name__", ""))
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


Arguments = tuple[Any, ...]
Growth = Callable[[Meter, Any, Arguments, Mapping[str, Any]], Arguments]


def _grows_by_width(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """Numbers among the arguments are widths."""
    for argument in (*args, *kwargs.values()):
        if isinstance(argument, (int, float)) and abs(argument) > 1000:
            raise LimitReached("a width of more than 1000")
        if isinstance(argument, (str, list, tuple)):
            meter.require(meter.weigh(argument) * (1 + meter.weigh(value)))
    return args


def _grows_by_lines(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """Every line of the text gets as many characters as the width says."""
    _grows_by_width(meter, "", args, kwargs)
    lines = str(value).count("\n") + 1
    for argument in (*args, *kwargs.values()):
        meter.require(lines * (len(argument) if isinstance(argument, str) else int(argument)) + meter.weigh(value))
    return args


def _grows_by_replacing(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """``replace(old, new)``."""
    if len(args) >= 2 and all(isinstance(text, str) for text in (value, *args[:2])):
        check_replace(meter, value, args[0], args[1])
    else:
        _grows_by_width(meter, value, args, kwargs)
    return args


def _grows_by_joining(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """``separator.join(items)``."""
    items = meter.collected(args[0])
    check_join(meter, str(value), items)
    return (items, *args[1:])


def _grows_by_formatting(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """``pattern.format(…)``."""
    check_format(meter, str(value), [*args, *kwargs.values()])
    return args


def _never(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """Methods that no chat template needs and that can make any amount of text."""
    raise LimitReached("a method that is not allowed in chat templates")


def _needs_small_input(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """Filters whose time grows faster than their input."""
    if meter.weigh(value) > 20_000:
        raise LimitReached("a slow filter on a large value")
    return _grows_by_width(meter, "", args, kwargs)


_METHODS_THAT_GROW: dict[str, Growth] = {
    **dict.fromkeys(("center", "ljust", "rjust", "zfill", "expandtabs"), _grows_by_width),
    **dict.fromkeys(("format", "format_map"), _grows_by_formatting),
    **dict.fromkeys(("translate", "to_bytes"), _never),
    "replace": _grows_by_replacing,
    "join": _grows_by_joining,
}

_FILTERS_THAT_GROW: dict[str, Growth] = {
    **dict.fromkeys(("center", "batch", "slice", "wordwrap", "truncate", "round", "tojson"), _grows_by_width),
    **dict.fromkeys(("sum", "pprint", "urlize", "xmlattr", "groupby", "unique"), _needs_small_input),
    "indent": _grows_by_lines,
    "replace": _grows_by_replacing,
    "format": _grows_by_formatting,
}


def _metered_filter(meter: Meter, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter with a step and a check before it and its result charged after it."""
    wanted = getattr(getattr(function, "jinja_pass_arg", None), "name", "")
    check = _FILTERS_THAT_GROW.get(name)

    def metered(context: jinja2.runtime.Context, value: Any, *args: Any, **kwargs: Any) -> Any:
        meter.step()
        for operand in (value, *args, *kwargs.values()):
            meter.weigh(operand)
        if name == "join":
            value = meter.collected(value)
            check_join(meter, str(args[0]) if args else str(kwargs.get("d", "")), value)
        elif name == "list":
            value = value if isinstance(value, (str, dict, list, tuple)) else meter.counted(value)
        elif check is not None:
            check(meter, value, args, kwargs)
        before = {"context": (context,), "environment": (context.environment,), "eval_context": (context.eval_ctx,)}
        return meter.charge(function(*before.get(wanted, ()), value, *args, **kwargs))

    return jinja2.pass_context(metered)
