"""Where a chat template comes from: Jinja text, a file, a model's folder, or a tokenizer.

Out: ``ChatTemplate``, the Jinja source with the special tokens that belong to it. Forms: ``chat_template.jinja``;
``tokenizer_config.json`` or ``chat_template.json`` with the key ``chat_template`` (a text, or a list of named ones, of
which ``tool_use`` says most); an object with these attributes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamparse.infer.errors import InferenceError

JINJA_FILE = "chat_template.jinja"
JSON_FILES = ("chat_template.json", "tokenizer_config.json")


@dataclass(frozen=True)
class ChatTemplate:
    """A chat template's source and the special tokens that it may print (None where unknown)."""

    text: str
    bos_token: str | None = None
    eos_token: str | None = None


def read_chat_template(source: Any) -> ChatTemplate:
    """The chat template of a source; raises InferenceError where there is none."""
    if isinstance(source, str) and not _is_path(source):
        return ChatTemplate(source)
    if isinstance(source, (str, Path)):
        return _from_path(Path(source))
    if isinstance(source, Mapping):
        return _from_config(source, "the configuration")
    if hasattr(source, "chat_template"):
        names = ("chat_template", "bos_token", "eos_token")
        return _from_config({name: getattr(source, name, None) for name in names}, type(source).__name__)
    raise InferenceError(
        f"{type(source).__name__} is no source of a chat template: give Jinja text, a path, or a tokenizer"
    )


def _is_path(text: str) -> bool:
    """Jinja text has a brace or a line break; what has neither is the name of a file or folder, if it can be one."""
    return bool(text) and not any(character in text for character in "{\n\0")


def _from_path(path: Path) -> ChatTemplate:
    if path.is_dir():
        return _from_folder(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InferenceError(f"can't read {path}: {error}") from error
    if path.suffix != ".json":
        return ChatTemplate(text)
    return _from_config(_json_object(text, path), str(path))


def _from_folder(folder: Path) -> ChatTemplate:
    """``chat_template.jinja`` goes before the JSON files; the special tokens are the tokenizer's in any case."""
    configs = [_json_object(_text(folder / name), folder / name) for name in JSON_FILES if (folder / name).is_file()]
    tokens = {name: config[name] for config in configs for name in ("bos_token", "eos_token") if name in config}
    if (folder / JINJA_FILE).is_file():
        return _from_config({**tokens, "chat_template": _text(folder / JINJA_FILE)}, str(folder))
    for config in configs:
        if config.get("chat_template"):
            return _from_config({**tokens, **config}, str(folder))
    raise InferenceError(
        f"{folder} has no chat template: neither {JINJA_FILE} nor the key in {' or '.join(JSON_FILES)}"
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InferenceError(f"can't read {path}: {error}") from error


def _json_object(text: str, path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InferenceError(f"{path} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InferenceError(f"{path} holds no JSON object")
    return value


def _from_config(config: Mapping[str, Any], name: str) -> ChatTemplate:
    """From a tokenizer's configuration or attributes."""
    template = config.get("chat_template")
    if isinstance(template, list):
        template = {entry.get("name"): entry.get("template") for entry in template if isinstance(entry, dict)}
    if isinstance(template, dict):
        template = template.get("tool_use") or template.get("default") or next(iter(template.values()), None)
    if not isinstance(template, str) or not template:
        raise InferenceError(f"{name} has no chat template")
    return ChatTemplate(template, _token(config.get("bos_token")), _token(config.get("eos_token")))


def _token(value: Any) -> str | None:
    """A special token's text: it may be an object with ``content``."""
    if isinstance(value, Mapping):
        value = value.get("content")
    return None if value is None else str(value)
