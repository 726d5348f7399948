"""Loading a response template: from plain data, a file, a model's folder, or the bundle.

In: what a user has. Out: a :class:`ResponseTemplate`, checked and compiled, the same object for the same content.
"""

from __future__ import annotations

import copy
import hashlib
import json
import logging
import os
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from streamparse.errors import Fault, TemplateError
from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.stages.content import CONTENT_PARSERS
from streamparse.stages.content.table import Preparation
from streamparse.stages.content.text import EDGES
from streamparse.template.bundled import (
    bundled_source,
    did_you_mean,
    exact_names,
    is_bundled,
    response_template_names,
)
from streamparse.template.check import ANCHOR_KEYS, DELIMITER_KEYS, check_template, read_delimiter
from streamparse.template.model import Field, ResponseTemplate
from streamparse.template.policy import EXTENSION_KEY, FieldPolicy, read_field_policy, read_policy

TemplateSource = dict[str, Any] | str | os.PathLike[str] | ResponseTemplate
"""What a template can be given as: a dict, a path, the name of a bundled template, or a loaded template."""

_log = logging.getLogger("streamparse")
_loaded: OrderedDict[str, ResponseTemplate] = OrderedDict()
_limited: OrderedDict[tuple[Any, ...], ResponseTemplate] = OrderedDict()
_LOADED_AT_MOST = 256


def load_response_template(source: TemplateSource) -> ResponseTemplate:
    """Load, check and compile a response template.

    ``source`` is a dict; the path of a template's JSON, of a ``tokenizer_config.json`` that has one under
    ``response_template``, or of a folder with either; the name of a bundled template, or of a model on a hub for which
    only one of them can be meant (``"Qwen/Qwen3-8B"``); or a loaded template, which is returned as it is. Raises
    :class:`TemplateError`, which lists every fault with its path. What is legal but can hardly be meant is in
    ``.warnings`` and logged once.

    >>> template = load_response_template({"start_anchor": "<|assistant|>", "fields": {"content": {}}})
    >>> list(template.fields)
    ['content']
    """
    if isinstance(source, ResponseTemplate):
        return source
    if source is None:
        raise no_template()
    if isinstance(source, str | os.PathLike):
        source = _read(source)
    key = _canonical(source)
    if key is not None and key in _loaded:
        _loaded.move_to_end(key)
        return _loaded[key]
    template = _build(source)
    if key is not None:
        _loaded[key] = template
        if len(_loaded) > _LOADED_AT_MOST:
            _loaded.popitem(last=False)
    return template


def no_template(where: str = "") -> TemplateError:
    """The error where no template was given at all."""
    return TemplateError(
        [
            Fault(
                "",
                f"no response template{where}; give one of four: the name of a bundled template, such as 'qwen3' (see "
                "response_template_names()); a dict, or the path of a file or of a model's folder that has one; a "
                "tokenizer= with a response_template or a chat_template; or, for parse_stream, a chat_template= to "
                "infer one from (see infer_response_template)",
            )
        ]
    )


def get_response_template(name: str) -> ResponseTemplate:
    """The bundled template of that name (see :func:`response_template_names`).

    >>> get_response_template("qwen3").defaults
    {'role': 'assistant'}
    """
    if name is None:
        raise no_template()
    return load_response_template(bundled_source(name))


def without_fields(template: ResponseTemplate, names: Iterable[str]) -> ResponseTemplate:
    """The template with some of its fields switched off: their markup is text like any other.

    Raises :class:`TemplateError` for names that are no fields of it, or if none is left.

    >>> without_fields(get_response_template("qwen3"), ["tool_calls"]).fields.keys()
    dict_keys(['reasoning_content', 'content'])
    """
    names = set(names)
    if not names:
        return template
    unknown = sorted(names - template.fields.keys())
    if unknown:
        raise TemplateError([Fault("fields", f"there is no field {', '.join(unknown)} that could be switched off")])
    source = copy.deepcopy(template.source)
    policy = source.get(EXTENSION_KEY, {})
    for name in names:
        del source["fields"][name]
        policy.get("fields", {}).pop(name, None)
    if policy.get("starts_in") in names:
        del policy["starts_in"]
    policy.pop("marks", None)  # nothing says which of them the switched-off fields write
    policy.pop("marks_pattern", None)
    return load_response_template(source)


def _canonical(source: Any) -> str | None:
    """The template's content as a key; None where it is not JSON (the checks say what is wrong with it)."""
    try:
        return json.dumps(source, ensure_ascii=False, sort_keys=False)
    except (TypeError, ValueError, RecursionError):
        return None


def _build(source: Any) -> ResponseTemplate:
    faults, warnings = check_template(source)
    if faults:
        raise TemplateError(faults)
    for warning in warnings:
        _log.warning("response template: %s", warning)
    return _compiled(copy.deepcopy(source), tuple(warnings), DEFAULT_LIMITS)


def within_limits(template: ResponseTemplate, limits: Limits) -> ResponseTemplate:
    """The same template, its content parsers made to keep within ``limits``; the same object for the same limits.

    >>> template = within_limits(get_response_template("qwen3"), Limits(json_depth=2))
    >>> template.fields["tool_calls"].limits.json_depth
    2
    """
    if _bounds(limits) == _bounds(DEFAULT_LIMITS):
        return template
    key = (template.digest, *_bounds(limits))
    if key not in _limited:
        if len(_limited) >= _LOADED_AT_MOST:
            _limited.popitem(last=False)
        _limited[key] = _compiled(template.source, template.warnings, limits)
    return _limited[key]


def _bounds(limits: Limits) -> tuple[float, ...]:
    """The limits that content parsers are made with."""
    return limits.json_depth, limits.number_length, limits.pattern_seconds


def _compiled(source: Any, warnings: tuple[Fault, ...], limits: Limits) -> ResponseTemplate:
    """A template that the checks have found to be well-formed."""
    anchor, _, _ = read_delimiter(source, ANCHOR_KEYS, "")
    assert anchor is not None, "check_template reports a template without an anchor"
    fields = {
        name: _build_field(name, raw, read_field_policy(source, name, limits), limits)
        for name, raw in source["fields"].items()
    }
    return ResponseTemplate(
        source=source,
        digest=hashlib.sha256((_canonical(source) or repr(source)).encode("utf-8", "surrogatepass")).hexdigest(),
        defaults=source.get("defaults", {}),
        fields=fields,
        implicit=next((field for field in fields.values() if field.open is None), None),
        start_anchor=anchor,
        policy=read_policy(source),
        warnings=warnings,
    )


def _build_field(name: str, raw: dict[str, Any], policy: FieldPolicy, limits: Limits) -> Field:
    (open_delimiter, _, _), (close_delimiter, _, _) = (read_delimiter(raw, keys, "") for keys in DELIMITER_KEYS)
    parser = CONTENT_PARSERS[raw.get("content", "text")]
    arguments = raw.get("content_args", {})
    lenient = parser.prepare(arguments, Preparation(limits, keep_source=True))
    if parser.name == "text" and policy.strip != "all":
        lenient = EDGES[policy.strip]
    return Field(
        name=name,
        open=open_delimiter,
        close=close_delimiter,
        content=parser.name,
        content_arguments=arguments,
        parse=parser.prepare(arguments, Preparation(limits)),
        parse_with_source=lenient,
        streams=parser.streams,
        repeats=bool(raw.get("repeats", False)),
        join=raw.get("join"),
        optional=bool(raw.get("optional", True)),
        transform=raw.get("transform"),
        transform_each=raw.get("transform_each", False),
        policy=policy,
        limits=limits,
    )


def _read(source: str | os.PathLike[str]) -> Any:
    """The template's data from a file, a folder or the bundle."""
    path = Path(source)
    if isinstance(source, str) and source in exact_names():
        return bundled_source(source)
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError:  # such as a name that is too long for one
        is_folder = is_file = False
    if is_folder:
        for name in ("response_template.json", "tokenizer_config.json"):
            if (path / name).is_file():
                return _read_file(path / name)
        raise TemplateError(
            [Fault("", f"the folder {source} has no response_template.json and no tokenizer_config.json")]
        )
    if is_file:
        return _read_file(path)
    if isinstance(source, str) and is_bundled(source):  # a file or a folder goes before a name that has to be guessed
        return bundled_source(source)
    shown = str(source) if len(str(source)) <= 100 else str(source)[:99] + "…"
    raise TemplateError(
        [
            Fault(
                "",
                f"{shown!r} is neither a file, nor a folder, nor a bundled template{did_you_mean(str(source))} "
                f"({', '.join(response_template_names())})",
            )
        ]
    )


def _read_file(path: Path) -> Any:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise TemplateError([Fault("", f"{path} can't be read as JSON: {error}")]) from error
    if isinstance(data, dict) and "fields" not in data and path.name == "tokenizer_config.json":
        if data.get("response_template") is None:
            raise TemplateError(
                [Fault("", f"{path} has no 'response_template'; give a template of your own or a bundled one")]
            )
        return data["response_template"]
    if isinstance(data, dict) and "fields" not in data and "response_template" in data:
        return data["response_template"]
    return data
