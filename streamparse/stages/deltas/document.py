"""Finds the parts of tool calls in a value that is being read, and gives out what is certain of them.

In come the parts of the value as a reader finds them (as for ``Arguments``). A part of a call is taken to where it
belongs; the rest of the value is passed over. Out go deltas: a call's id, its name, and pieces of its arguments.
"""

from __future__ import annotations

import json
from typing import Any

from streamparse.formats.compact import compact
from streamparse.formats.reader import NotCertain
from streamparse.stages.deltas.arguments import Arguments, ToolArguments
from streamparse.stages.deltas.call import Call, id_of
from streamparse.stages.deltas.plan import CallSource
from streamparse.template.policy import Path


class Nothing:
    """Takes the parts of a value that is of no interest, up to its end."""

    __slots__ = ("_depth", "complete")
    takes_entries = True

    def __init__(self) -> None:
        self._depth = 0
        self.complete = False

    def begin(self, _bracket: str) -> None:
        """An object or a list begins."""
        self._depth += 1

    def end(self) -> None:
        """The innermost object or list ends."""
        self._depth -= 1
        self.complete = not self._depth

    def key(self, _key: str) -> None:
        """A member's key."""

    def entries(self, _text: str) -> None:
        """Whole entries of the innermost object or list."""

    def word(self, _text: str) -> None:
        """A number or a name."""
        self.complete = not self._depth

    def string_begins(self) -> None:
        """A string begins."""

    def piece(self, _text: str) -> None:
        """A piece of a string."""

    def string_ends(self) -> None:
        """A string ends."""
        self.complete = not self._depth


class CallDocument:
    """A value with calls in it, read part by part; ``calls`` are those found so far.

    With ``makes_ids`` a call that has a name and no id yet gets one that is made, and what the model writes as an id
    after that is passed over; where its models write ids (``CallSource.writes_ids``), theirs is waited for. Any of the
    methods raises NotCertain where the value is not what was expected.
    """

    def __init__(self, source: CallSource, tools: ToolArguments, *, makes_ids: bool = False) -> None:
        self._source = source
        self._id_comes_by_name = makes_ids and not source.writes_ids
        self._tools = tools
        self._roles, self._on_the_way = source.roles, source.on_the_way
        self._levels: list[Path | None] = []  # the path of each object that is open, None for the list of calls
        self._path: Path = ()
        self._keys = 0  # how many the call has had
        self._named_by_key = False
        self._role = ""
        self._sink: Arguments | Nothing | None = (
            None  # takes the value that is open, if it is none on the way to a part
        )
        self.calls: list[Call] = []
        if source.listed is False:
            self._call_begins()

    @property
    def current(self) -> Call:
        """The call that is being read."""
        return self.calls[-1]

    def may_get_id(self, call: Call) -> bool:
        """Whether an id is to be waited for, of a call that has a name and none."""
        return self._source.writes_ids and not call.ended

    @property
    def takes_arguments(self) -> bool:
        """Whether the whole value is the arguments of one call whose name is known."""
        return () in self._roles and bool(self.calls) and self.calls[-1].name is not None

    def cast_members(self, members: dict[str, Any]) -> dict[str, Any]:
        """Cast some of the arguments of the present call; raises ContentError as ``ToolSchemas.cast`` does."""
        name = self.calls[-1].name
        assert name is not None, "a call whose arguments are read has a name"
        cast: dict[str, Any] = self._tools.cast(name, members)
        return cast

    @property
    def arguments(self) -> Arguments | None:
        """The arguments that are being written, while they are."""
        return self._sink if isinstance(self._sink, Arguments) else None

    def begin(self, bracket: str) -> None:
        """An object or a list begins."""
        sink = self._sink
        if sink is None and bracket == "{" and self._is_named_by_key():
            sink = self._sink = self._arguments_begin()
        if sink is None and not self._leads_on(bracket):
            sink = self._value_begins()
        if sink is not None:
            sink.begin(bracket)

    def end(self) -> None:
        """The innermost object or list ends."""
        sink = self._sink
        if sink is not None:
            sink.end()
            if sink.complete:
                self._value_ends()
        elif self._levels.pop() == ():
            self._call_ends()

    def key(self, key: str) -> None:
        """A member's key; its value comes next."""
        if self._sink is not None:
            self._sink.key(key)
            return
        outer = self._levels[-1] or ()
        self._path = (*outer, key)
        if not outer:
            self._keys += 1
            if self._keys > 1 and self._named_by_key:
                raise NotCertain

    def word(self, text: str) -> None:
        """A number or a name, as compact JSON."""
        sink = self._sink or self._value_begins()
        sink.word(text)
        if sink.complete:
            self._value_ends()

    @property
    def takes_entries(self) -> bool:
        """Whether entries of what is open go out as they stand."""
        return self._sink is not None and self._sink.takes_entries

    def entries(self, text: str) -> None:
        """Whole entries of the innermost object or list, as compact JSON, each with its comma."""
        self._sink.entries(text)  # type: ignore[union-attr]

    def value(self, value: Any) -> None:
        """A whole value among the arguments, cast already."""
        self._sink.value(value)  # type: ignore[union-attr]

    def string_begins(self) -> None:
        """A string begins."""
        (self._sink or self._value_begins()).string_begins()

    def piece(self, text: str) -> None:
        """A piece of the string, as it stands in JSON text; no escape is cut."""
        self._sink.piece(text)  # type: ignore[union-attr]

    def string_ends(self) -> None:
        """The string ends."""
        sink = self._sink
        assert sink is not None, "the string has begun"
        sink.string_ends()
        if sink.complete:
            self._value_ends()

    def _leads_on(self, bracket: str) -> bool:
        """Whether what begins is no part of a call but has one in it."""
        source = self._source
        if not self._levels:
            if () in self._roles:
                return False
            if bracket == "[" and source.listed is not False:
                self._levels.append(None)
                return True
            if bracket == "[" or source.listed:
                raise NotCertain
        elif self._levels[-1] is not None:
            if bracket == "{" and self._path in self._on_the_way:
                self._levels.append(self._path)
                return True
            return False
        elif bracket == "[":
            raise NotCertain
        if self._levels or source.listed is None:
            self._call_begins()
        self._levels.append(())
        return True

    def _is_named_by_key(self) -> bool:
        """Whether the object that begins stands behind the key that names the call."""
        if not self._levels or self._levels[-1] != () or self._keys != 1 or not self._source.names_by(self._path[0]):
            return False
        self._settle(self.calls[-1], "name", self._path[0])
        self._named_by_key = True
        return True

    def _call_begins(self) -> None:
        source = self._source
        self._keys = 0
        self._named_by_key = False
        name = None if source.name is None else source.tool(source.name, self._tools.names)
        self.calls.append(Call(name, source.id))

    def _value_begins(self) -> Arguments | Nothing:
        """Make what takes the value that begins."""
        self._role = ""
        if self._levels and self._levels[-1] is None:
            raise NotCertain
        path = self._path if self._levels else ()
        role = self._roles.get(path)
        if role is None:
            if not self._levels:
                raise NotCertain
            self._sink = Nothing()
        else:
            self._role = role
            self._sink = self._part_begins(role, path)
        return self._sink

    def _part_begins(self, role: str, path: Path) -> Arguments:
        if role == "arguments" and path in self._source.certain and self.calls[-1].name is not None:
            return self._arguments_begin()
        self._path = path
        return Arguments(None)

    def _arguments_begin(self) -> Arguments:
        call = self.calls[-1]
        if call.arguments is not None or call.name is None:
            raise NotCertain
        call.arguments = self._tools.begin(call.name)
        return call.arguments

    def _value_ends(self) -> None:
        sink, self._sink = self._sink, None
        call = self.calls[-1]
        if sink is call.arguments or not self._role:
            return
        assert isinstance(sink, Arguments), "a call's part is written"
        path, value = self._path, json.loads("".join(sink.out))
        if path in call.found:
            raise NotCertain
        call.found[path] = value
        if path in self._source.certain and self._role != "arguments":
            self._settle(call, self._role, value)

    def _settle(self, call: Call, role: str, value: Any) -> None:
        """Take a name or an id for certain."""
        if role == "name":
            if not isinstance(value, str) or not value:
                raise NotCertain
            call.name = self._source.tool(value, self._tools.names)
        elif call.name is None or not self._id_comes_by_name:
            call.id = id_of(value)

    def _call_ends(self) -> None:
        """All of the call is there: of the paths that exist, the first ones count."""
        call, source, found = self.calls[-1], self._source, self.calls[-1].found
        if call.id is None and (id_path := _first(source.ids, found)) is not None:
            self._settle(call, "id", found[id_path])
        if call.name is None:
            name_path = _first(source.names, found)
            if name_path is None:
                raise NotCertain
            self._settle(call, "name", found[name_path])
        arguments_path = _first(source.arguments, found)
        if call.arguments is None and arguments_path is not None:
            assert call.name is not None, "a call without a name is refused"
            call.arguments = Arguments(None)
            call.arguments.out.append(compact(self._tools.cast(call.name, found[arguments_path])))
            call.arguments.complete = True
        call.ended = True


def _first(paths: tuple[Path, ...], found: dict[Path, Any]) -> Path | None:
    return next((path for path in paths if path in found), None)
