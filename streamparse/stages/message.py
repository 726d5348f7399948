"""The fold of events into the message: the last stage of the core.

In: batches of events. Out: the same batches; the message, and what went wrong on the way, are here at the end.
"""

from __future__ import annotations

from typing import Any

from streamparse.errors import ParseError, SnapshotError
from streamparse.template.model import Field, ResponseTemplate

Event = dict[str, Any]

_NOTHING: frozenset[str] = frozenset()


class MessageFold:
    """Collects the values of closed regions under their fields, as the template declares them.

    Strict: a field without ``repeats`` has its last value, as in transformers. Lenient: an empty value never replaces
    another, several texts of one field are kept (joined with a newline), several lists are put together.
    """

    def __init__(self, template: ResponseTemplate, *, lenient: bool = False) -> None:
        self._template = template
        self._lenient = lenient
        self._message: dict[str, Any] = copied(template.defaults)
        self._written = _NOTHING
        self._problems: list[dict[str, Any]] | None = None
        self.regions = self.malformed = self.repaired = 0
        """Regions that have ended, and those among them without a value, and with a mended one."""

    def feed(self, batch: list[Event]) -> list[Event]:
        """Fold a batch, and pass it on."""
        for event in batch:
            kind = event["type"]
            if kind == "region_close":
                self.regions += 1
                self.repaired += "repaired" in event
                self._take(self._template.fields[event["field"]], copied(event["value"]))
            elif kind == "region_malformed":
                self.regions += 1
                self.malformed += 1
                self.problems.append(
                    {key: event[key] for key in ("type", "field", "error", "position", "text", "incomplete")}
                )
            elif kind == "region_unclaimed" and "mark" in event:
                error = f"the mark {event['text'].strip()!r} delimits nothing here"
                self.problems.append({"type": kind, "error": error, "position": event["start"], "text": event["text"]})
        return batch

    def finish(self) -> list[Event]:
        """Check that the required fields are there; a missing one raises, or is a problem in the lenient modes."""
        missing = [
            field.name
            for field in self._template.fields.values()
            if not field.optional and field.name not in self._message
        ]
        if missing and not self._lenient:
            raise ParseError(f"the required fields {missing} did not occur in the output")
        for name in missing:
            error = "the required field did not occur in the output"
            self.problems.append({"type": "field_missing", "field": name, "error": error})
        return []

    @property
    def problems(self) -> list[dict[str, Any]]:
        """What went wrong so far (lenient modes)."""
        if self._problems is None:
            self._problems = []
        return self._problems

    @property
    def message(self) -> dict[str, Any]:
        """The message as it stands: empty values are left out, except those that the template's defaults name."""
        defaults = self._template.defaults
        return {key: value for key, value in self._message.items() if key in defaults or not _is_empty(value)}

    def snapshot(self, *, message: bool = True) -> dict[str, Any]:
        """The state as JSON-able data; without the message for those who keep only events."""
        state: dict[str, Any] = {"written": sorted(self._written)}
        if message:
            state |= {"message": self._message, "problems": self.problems}
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        self._written = frozenset(state["written"])
        unknown = self._written - self._template.fields.keys()
        if unknown:
            raise SnapshotError(f"the snapshot is damaged: there are no fields {sorted(map(repr, unknown))}")
        self._message = state.get("message", self._message)
        self._problems = state.get("problems")

    def _take(self, field: Field, value: Any) -> None:
        message, name = self._message, field.name
        if field.join is not None:
            if self._lenient and not value:
                return
            self._drop_unfit_default(name, str)
            previous = message.get(name)
            if previous is not None and not isinstance(previous, str):
                raise ParseError(f"the default {previous!r} is not a string that values can be joined to", field=name)
            message[name] = value if previous is None else previous + field.join + value
        elif field.repeats:
            self._drop_unfit_default(name, list)
            present = message.setdefault(name, [])
            if not isinstance(present, list):
                raise ParseError(f"the default {present!r} is not a list that values can be added to", field=name)
            if self._lenient and isinstance(value, list) and _gives_lists(field):
                present.extend(value)
            else:
                present.append(value)
        elif self._lenient and name in self._written and name in message:  # a snapshot may have left it out
            message[name] = _combined(message[name], value, field.policy.join)
        else:
            message[name] = value
        self._written |= {name}

    def _drop_unfit_default(self, name: str, kind: type) -> None:
        """Lenient: a default that values can't be added to, or an empty text, gives way to the first value."""
        default = self._message.get(name)
        if self._lenient and name not in self._written and (not default or not isinstance(default, kind)):
            self._message.pop(name, None)


def _gives_lists(field: Field) -> bool:
    """Whether one region of the field gives several values, by what the template says."""
    return field.policy.calls is not None or field.transform_each or isinstance(field.transform, list)


def _combined(present: Any, value: Any, separator: str) -> Any:
    """What a field that is written again has, when nothing may be lost."""
    if _is_empty(value):
        return present
    if isinstance(present, str) and isinstance(value, str) and present:
        return present + separator + value
    if isinstance(present, list) and isinstance(value, list):
        return present + value
    return value


def _is_empty(value: Any) -> bool:
    return value is None or (not value and isinstance(value, _MAY_BE_EMPTY))


def copied(value: Any) -> Any:
    """A copy of JSON-like data that shares no list and no dict with it; without recursion, for data of any depth.

    What stands in several places of the data, as a transform can put it, is one thing in the copy too: a copy is never
    larger than the data.
    """
    if not isinstance(value, _CONTAINERS):
        return value
    root: Any = _shallow(value)
    pending: list[Any] = [root]
    copies: dict[int, Any] = {id(value): root}
    while pending:
        target = pending.pop()
        for key, item in target.items() if type(target) is dict else enumerate(target):
            if isinstance(item, _CONTAINERS):
                child: Any = copies.get(id(item))
                if child is None:
                    child = copies[id(item)] = _shallow(item)
                    pending.append(child)
                target[key] = child
    return root


def _shallow(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else list(value)


_CONTAINERS = (list, dict)
_MAY_BE_EMPTY = (list, dict, str)
