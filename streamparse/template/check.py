"""What is wrong with a response template: the JSON Schema first, then what a schema can't say.

In: the template as plain data. Out: faults (it can't be used) and warnings (the reference accepts or silently ignores
it, but it can hardly be meant), each with its path. The format is ``docs/response-template.md``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

import jsonschema

from streamparse.errors import Fault
from streamparse.matching.delimiter import Delimiter
from streamparse.stages.content import CONTENT_PARSERS
from streamparse.stages.transform import check_transform
from streamparse.template.policy import EXTENSION_KEY, check_policy

DELIMITER_KEYS = (("open", "open_pattern"), ("close", "close_pattern"))
DEPTH_AT_MOST = 150
"""Levels of a whole template; a transform may have 100."""
ENTRIES_AT_MOST = 10_000
"""Members and items of a whole template, at all levels together."""
ANCHOR_KEYS = ("start_anchor", "start_anchor_pattern")


def check_template(source: Any) -> tuple[list[Fault], list[Fault]]:
    """All faults and all warnings of a template, in the order of its keys."""
    if not isinstance(source, dict):
        return [Fault("", f"must be a dict (a JSON object), not {_kind(source)}")], []
    if (too_large := _too_large(source)) is not None:
        return [too_large], []
    faults = [Fault(_path(error), _schema_message(error)) for error in _validator().iter_errors(source)]
    warnings: list[Fault] = []
    for found in (_check_version(source), _check_anchor(source), _check_fields(source), check_policy(source)):
        faults += found[0]
        warnings += found[1]
    return faults, warnings


def _too_large(source: dict[str, Any]) -> Fault | None:
    """Where the template is nested too deep to be copied and checked, holds itself, or has too much in it."""
    pending: list[tuple[str, Any, int]] = [("", source, 0)]
    entries_left = ENTRIES_AT_MOST
    while pending:
        path, value, depth = pending.pop()
        if depth > DEPTH_AT_MOST:
            return Fault(
                ".".join(path.split(".")[:3]), f"is nested more than {DEPTH_AT_MOST} levels deep, or holds itself"
            )
        if isinstance(value, dict | list):
            entries_left -= len(value)
            if entries_left < 0:
                reason = (
                    f"the template has more than {ENTRIES_AT_MOST} members and items; leave out what it does not need"
                )
                return Fault(".".join(path.split(".")[:3]), reason)
            entries = value.items() if isinstance(value, dict) else enumerate(value)
            pending += [(f"{path}.{key}" if path else str(key), item, depth + 1) for key, item in entries]
    return None


@cache
def _validator() -> jsonschema.protocols.Validator:
    text = resources.files(__package__).joinpath("response_template.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def _path(error: jsonschema.ValidationError) -> str:
    return ".".join(str(part) for part in error.absolute_path)


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__


def _schema_message(error: jsonschema.ValidationError) -> str:
    """The validator's finding in a user's words."""
    value: Any = error.instance
    bound: Any = error.validator_value
    match error.validator:
        case "additionalProperties":
            assert isinstance(error.schema, dict), "only an object's schema allows no additional properties"
            known = error.schema["properties"]
            unknown = sorted(str(key) for key in value if key not in known)
            return f"unknown keys {unknown}; known are {sorted(known)}"
        case "type":
            wanted = " or ".join(bound) if isinstance(bound, list) else str(bound)
            return f"must be of type {wanted}, not {_kind(value)}"
        case "enum":
            return f"{value!r} is not one of {bound}"
        case "required":
            return f"{error.message.split(' ')[0]} is missing"
        case "minLength":
            return "must not be an empty string: it would match everywhere"
        case "minItems" | "minProperties":
            return "must not be empty"
    return error.message


Found = tuple[list[Fault], list[Fault]]


def _check_version(source: dict[str, Any]) -> Found:
    version = source.get("version", 1)
    if version != 1:
        return [Fault("version", f"version {version!r} is not supported; this is a reader of version 1")], []
    if isinstance(version, int) and not isinstance(version, bool):
        return [], []
    return [], [Fault("version", f"{version!r} counts as 1; write 1")]


def _check_anchor(source: dict[str, Any]) -> Found:
    given = [key for key in ANCHOR_KEYS if key in source]
    if not given:
        return [Fault("", "needs 'start_anchor' or 'start_anchor_pattern': where the assistant's message starts")], []
    if len(given) == 2:
        return [Fault("start_anchor", "can't stand beside 'start_anchor_pattern'; keep one of them")], []
    _, faults, _ = read_delimiter(source, ANCHOR_KEYS, "")
    warnings = []
    if source.get("start_anchor_pattern") == "":
        warnings.append(
            Fault("start_anchor_pattern", "an empty pattern matches at the end: the whole prefix is dropped")
        )
    return faults, warnings


def read_delimiter(
    holder: dict[str, Any], keys: tuple[str, str], path: str
) -> tuple[Delimiter | None, list[Fault], list[Fault]]:
    """The delimiter that ``holder`` gives under one of two keys (literals or a pattern), with faults and warnings.

    What the JSON Schema already reports (a wrong type, an empty literal) gives no delimiter and no second fault.
    """
    literal_key, pattern_key = keys
    prefix = f"{path}." if path else ""
    if pattern_key in holder:
        pattern = holder[pattern_key]
        if not isinstance(pattern, str):
            return None, [], []
        try:
            delimiter = Delimiter.of_pattern(pattern)
        except Exception as error:  # a stranger's pattern makes the regex module raise more than regex.error
            return None, [Fault(prefix + pattern_key, f"is not a valid pattern: {error}")], []
        return delimiter, [], [Fault(prefix + pattern_key, text) for text in delimiter.lint()]
    literals = holder.get(literal_key)
    literals = [literals] if isinstance(literals, str) else literals
    if not isinstance(literals, list) or not literals or not all(isinstance(item, str) and item for item in literals):
        return None, [], []
    repeated = sorted(item for item, count in Counter(literals).items() if count > 1)
    warnings = [Fault(prefix + literal_key, f"{item!r} stands here more than once") for item in repeated]
    try:
        return Delimiter.of_literals(literals), [], warnings
    except ValueError as error:
        return None, [Fault(prefix + literal_key, str(error))], warnings


def _check_fields(source: dict[str, Any]) -> Found:
    fields = source.get("fields")
    if not isinstance(fields, dict):
        return [], []
    faults: list[Fault] = []
    warnings: list[Fault] = []
    defaults = source.get("defaults")
    faults += _check_plain_data("defaults", defaults)
    for name, field in fields.items():
        if not isinstance(field, dict):
            continue
        path = f"fields.{name}"
        for found in _field_checks(path, field, _reads_calls(source, name)):
            faults += found[0]
            warnings += found[1]
        if isinstance(defaults, dict) and name in defaults:
            warnings += _check_default(f"defaults.{name}", field, defaults[name])
    implicit = [name for name, field in fields.items() if isinstance(field, dict) and not _opens(field)]
    if len(implicit) > 1:
        faults.append(
            Fault(
                "fields",
                f"only one field may lack 'open' and 'open_pattern' (it takes what no other field claims), "
                f"but {', '.join(implicit)} do",
            )
        )
    return faults, warnings


def _opens(field: dict[str, Any]) -> bool:
    return "open" in field or "open_pattern" in field


def _reads_calls(source: dict[str, Any], name: str) -> bool:
    """Whether the policy of a field says where its calls are, so that its transform is only for the strict mode."""
    policy: Any = source
    for key in (EXTENSION_KEY, "fields", name, "calls"):
        policy = policy.get(key) if isinstance(policy, dict) else None
    return policy is not None


def _field_checks(path: str, field: dict[str, Any], reads_calls: bool) -> Iterator[Found]:
    groups: set[str] = set()
    optional: set[str] = set()
    for keys in DELIMITER_KEYS:
        if all(key in field for key in keys):
            yield [Fault(f"{path}.{keys[0]}", f"can't stand beside {keys[1]!r}; keep one of them")], []
            continue
        delimiter, faults, warnings = read_delimiter(field, keys, path)
        yield faults, warnings
        if delimiter is not None:
            groups |= delimiter.groups
            optional |= set() if reads_calls else delimiter.optional_groups
    yield _check_flags(path, field)
    yield _check_content(path, field)
    yield _check_shape(path, field, groups, optional)


def _check_flags(path: str, field: dict[str, Any]) -> Found:
    faults, warnings = [], []
    for key in ("repeats", "optional"):
        value = field.get(key, True)
        if not isinstance(value, bool):
            warnings.append(Fault(f"{path}.{key}", f"{value!r} counts as {bool(value)}; write true or false"))
    if field.get("join") is not None and not field.get("repeats", False):
        faults.append(Fault(f"{path}.join", "needs 'repeats': true beside it"))
    return faults, warnings


def _check_content(path: str, field: dict[str, Any]) -> Found:
    name, arguments = field.get("content", "text"), field.get("content_args", {})
    if not isinstance(name, str) or name not in CONTENT_PARSERS or not isinstance(arguments, dict):
        return [], []
    return CONTENT_PARSERS[name].check(arguments, f"{path}.content_args")


def _check_shape(path: str, field: dict[str, Any], groups: set[str], optional: set[str]) -> Found:
    transform, each = field.get("transform"), field.get("transform_each", False)
    if transform is None:
        faults = []
        if each is True:
            faults.append(Fault(f"{path}.transform_each", "needs a 'transform' beside it"))
        if groups:
            faults.append(
                Fault(
                    path,
                    f"its patterns have named groups {sorted(groups)} but it has no 'transform', the only place that "
                    "can use them; add one, or make the groups (?:…)",
                )
            )
        return faults, []
    return check_transform(
        transform, f"{path}.transform", groups=sorted(groups), optional_groups=optional, each=bool(each)
    )


def _check_plain_data(path: str, value: Any) -> list[Fault]:
    """What of a value that a message will have is no JSON data, and so could be neither sent nor saved."""
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        return [fault for key, item in entries for fault in _check_plain_data(f"{path}.{key}", item)]
    return (
        [] if isinstance(value, str | int | float | None) else [Fault(path, f"must be JSON data, not {_kind(value)}")]
    )


def _check_default(path: str, field: dict[str, Any], default: Any) -> list[Fault]:
    """A default that the field's own values can't be added to: an error as soon as such a region closes."""
    if field.get("join") is not None:
        wanted: tuple[type, ...] = (str, type(None))
    elif field.get("repeats", False):
        wanted = (list,)
    else:
        return []
    if isinstance(default, wanted):
        return []
    names = " or ".join(_kind(None) if kind is type(None) else kind.__name__ for kind in wanted)
    return [Fault(path, f"the field's values are added to it, so it must be a {names}, not {_kind(default)}")]
