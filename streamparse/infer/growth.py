"""Methods and filters that can make a value larger than what they are given, with a check for each before it runs.

In: the value, the arguments and the meter. Out: the arguments, or ``LimitReached``. ``metered_filter`` puts such a
check, a step and a charge around a Jinja filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context

from streamparse.infer.meter import LimitReached, Meter, check_format, check_join, check_replace

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


def _grows_by_joining(meter: Meter, value: Any, args: Arguments, _: Mapping[str, Any]) -> Arguments:
    """``separator.join(items)``."""
    items = meter.collected(args[0])
    check_join(meter, str(value), items)
    return (items, *args[1:])


def _grows_by_formatting(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """``pattern.format(…)``."""
    check_format(meter, str(value), [*args, *kwargs.values()])
    return args


def _never(*_: Any) -> Arguments:
    """Methods that no chat template needs and that can make any amount of text."""
    raise LimitReached("a method that is not allowed in chat templates")


def _needs_small_input(meter: Meter, value: Any, args: Arguments, kwargs: Mapping[str, Any]) -> Arguments:
    """Filters whose time grows faster than their input."""
    if meter.weigh(value) > 20_000:
        raise LimitReached("a slow filter on a large value")
    return _grows_by_width(meter, "", args, kwargs)


METHODS_THAT_GROW: dict[str, Growth] = {
    **dict.fromkeys(("center", "ljust", "rjust", "zfill", "expandtabs"), _grows_by_width),
    **dict.fromkeys(("format", "format_map"), _grows_by_formatting),
    **dict.fromkeys(("translate", "to_bytes"), _never),
    "replace": _grows_by_replacing,
    "join": _grows_by_joining,
}

FILTERS_THAT_GROW: dict[str, Growth] = {
    **dict.fromkeys(("center", "batch", "slice", "wordwrap", "truncate", "round", "tojson"), _grows_by_width),
    **dict.fromkeys(("sum", "pprint", "urlize", "xmlattr", "groupby", "unique"), _needs_small_input),
    "indent": _grows_by_lines,
    "replace": _grows_by_replacing,
    "format": _grows_by_formatting,
}


def metered_filter(meter: Meter, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter with a step and a check before it and its result charged after it."""
    wanted = getattr(getattr(function, "jinja_pass_arg", None), "name", "")
    check = FILTERS_THAT_GROW.get(name)

    def metered(context: Context, value: Any, *args: Any, **kwargs: Any) -> Any:
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

    return pass_context(metered)
