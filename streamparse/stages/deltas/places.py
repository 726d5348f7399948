"""What a tool's schema makes of a value at one place in a call's arguments, as far as it is known before the value is.

A piece of a text can be given out at once only where no continuation changes what the text is cast to. A ``Place`` says
so for one value: whether a text stays a text there, and what there is to know of the members of an object or a list.
None in a place's stead means that nothing below it is ever changed. What is said here follows ``ToolSchemas.cast``.

The same place is always the same object, so that what has been found out about it once can be known again.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import Any, Protocol

from streamparse.stages.argument_casting import MAX_VALUE_DEPTH, ArgumentCaster, chosen, takes_any_text
from streamparse.stages.schema_branches import Branch
from streamparse.stages.schema_typing import STRICT_READERS, ToolSchemas, strict_cast


class TextFate(Enum):
    """What becomes of a text: it stays one, whatever it says, or unless it says null or is a value of another type.

    Or that shows at its end only.
    """

    STAYS = "stays"
    STAYS_UNLESS_NULL = "stays unless null"
    STAYS_UNLESS_JSON = "stays unless it is exactly a JSON value"
    SHOWS_AT_ITS_END = "shows at its end"


class Inner(Protocol):
    """The places of an object's members, or of a list's items."""

    @property
    def own_places(self) -> int:
        """How many of a list's first items have places of their own; all further ones have one together."""

    def at(self, key: Any) -> Place | None:
        """The place of the member with that key, or of the item with that index."""


class Place(Protocol):
    """What is known of the value at one place."""

    @property
    def text(self) -> TextFate:
        """What becomes of a text there that the format calls a text."""

    @property
    def untyped_text(self) -> TextFate:
        """What becomes of a text there whose type the format doesn't say."""

    @property
    def decides_text(self) -> bool:
        """Whether the schema says what a text is; where it doesn't, what the content parser guessed stays."""

    def enter(self, bracket: str) -> Inner | None:
        """The places in an object (``{``) or a list (``[``); None where nothing in it is changed.

        Raises Whole where what it is cast to shows only at its end.
        """

    def cast(self, value: Any) -> Any:
        """Cast a whole value."""


class Whole(Exception):
    """What a value is cast to shows only when it is whole."""


class ArgumentsPlace:
    """The place of a call's arguments as a whole."""

    text = untyped_text = TextFate.SHOWS_AT_ITS_END
    decides_text = True

    def __init__(self, schemas: ToolSchemas, name: str, *, lenient: bool) -> None:
        self._schemas = schemas
        self._name = name
        self._lenient = lenient
        self._inner: Inner | None = None

    def enter(self, bracket: str) -> Inner | None:
        """The places of the arguments."""
        if bracket != "{":
            raise Whole
        self._inner = self._inner or self._members()
        return self._inner

    def cast(self, value: Any) -> Any:
        """Cast all arguments; raises ContentError as ``ToolSchemas.cast`` does."""
        call = {"function": {"name": self._name, "arguments": value}}
        return self._schemas.cast(call, lenient=self._lenient)["function"]["arguments"]

    def _members(self) -> Inner | None:
        if not self._lenient:
            return StrictArguments(self._schemas, self._name) if self._name in self._schemas.names else None
        caster = self._schemas.caster(self._name)
        return None if caster is None else object_places(caster, [caster.schema], MAX_VALUE_DEPTH)


class StrictArguments:
    """The places of arguments that are cast as transformers casts them: each by itself, and nothing inside them."""

    own_places = 0

    def __init__(self, schemas: ToolSchemas, name: str) -> None:
        self._schemas = schemas
        self._name = name
        self._known: dict[tuple[str, ...], StrictPlace] = {}

    def at(self, key: str) -> Place | None:
        """The place of an argument."""
        types = self._schemas.types(self._name, key)
        if types and types not in self._known:
            self._known[types] = StrictPlace(types)
        return self._known[types] if types else None


class StrictPlace:
    """The place of one argument under strict casting."""

    decides_text = False

    def __init__(self, types: tuple[str, ...]) -> None:
        self._types = types
        casts = {name for name in types if name in STRICT_READERS}
        unless_null = TextFate.STAYS_UNLESS_NULL if casts == {"null"} else TextFate.SHOWS_AT_ITS_END
        self.text = self.untyped_text = unless_null if casts else TextFate.STAYS

    def enter(self, bracket: str) -> Inner | None:
        """Nothing in an object is cast; the items of a list are, where the schema wants no list."""
        if bracket == "[" and "array" not in self._types:
            raise Whole
        return None

    def cast(self, value: Any) -> Any:
        """Cast a text, or the texts of a list."""
        if isinstance(value, str):
            return strict_cast(value, self._types)
        if isinstance(value, list) and "array" not in self._types:
            return [strict_cast(item, self._types) if isinstance(item, str) else item for item in value]
        return value


class LenientPlace:
    """The place of a value under lenient casting, which ``schemas`` describe."""

    def __init__(self, caster: ArgumentCaster, schemas: list[Any], depth: int) -> None:
        self.caster = caster
        self.schemas = schemas
        self.depth = depth
        self._lists: Inner | None = None
        self._objects: Inner | None = None

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The ways in which the schemas let the value be."""
        return self.caster.reader.branches(self.schemas)

    @property
    def decides_text(self) -> bool:
        """Whether any type is named."""
        return any(branch.kinds for branch in self.branches)

    @cached_property
    def text(self) -> TextFate:
        """A text stays where any string is allowed."""
        stays = takes_any_text(self.branches) or not self.branches
        return TextFate.STAYS if stays else TextFate.SHOWS_AT_ITS_END

    @cached_property
    def untyped_text(self) -> TextFate:
        """A text stays where any string is allowed, unless it is a value of another type that is allowed too."""
        others = any(kind != "string" for branch in self.branches for kind in branch.kinds)
        return TextFate.STAYS_UNLESS_JSON if others and self.text is TextFate.STAYS else self.text

    def enter(self, bracket: str) -> Inner | None:
        """The places of members and items."""
        if bracket == "{":
            self._objects = self._objects or object_places(self.caster, self.schemas, self.depth)
            return self._objects
        self._lists = self._lists or self._items()
        return self._lists

    def cast(self, value: Any) -> Any:
        """Cast a whole value."""
        return self.caster.value(value, self.schemas, self.depth)

    def _items(self) -> Inner:
        """The places of items; where the schema wants no list, each item is cast as the whole would be."""
        branch = next((branch for branch in self.branches if "array" in branch.kinds), None)
        places = LenientPlaces(self.caster, self.depth - 1)
        return Items(places, [self.schemas]) if branch is None else Items(places, items_of(branch))


class LenientPlaces:
    """The places of what lies in one object or list, by the schemas that describe it."""

    def __init__(self, caster: ArgumentCaster, depth: int) -> None:
        self._caster = caster
        self._depth = depth
        self._known: dict[tuple[int, ...], LenientPlace] = {}

    def of(self, schemas: list[Any]) -> Place | None:
        """The place of a value; None where no schema describes it, or it lies too deep to be cast."""
        if not schemas or self._depth <= 0:
            return None
        key = tuple(map(id, schemas))  # of the tool's own schemas, which live as long as the caster
        if key not in self._known:
            self._known[key] = LenientPlace(self._caster, schemas, self._depth)
        return self._known[key]


class Members:
    """The places of an object's members, under one branch of its schema."""

    own_places = 0

    def __init__(self, places: LenientPlaces, branch: Branch) -> None:
        self._places = places
        self._branch = branch

    def at(self, key: str) -> Place | None:
        """The place of a member."""
        return self._places.of(self._branch.property_schemas(key))


class Items:
    """The places of a list's items: the schemas of each of the first ones, and last those of all others."""

    def __init__(self, places: LenientPlaces, schemas: list[list[Any]]) -> None:
        self._places = places
        self._schemas = schemas
        self.own_places = len(schemas) - 1

    def at(self, key: int) -> Place | None:
        """The place of an item."""
        return self._places.of(self._schemas[min(key, self.own_places)])


def items_of(branch: Branch) -> list[list[Any]]:
    """The schemas of a list's first items, and last those of all others."""
    lists = (facet.get("prefixItems", facet.get("items")) for facet in branch.facets)
    first = max((len(items) for items in lists if isinstance(items, list)), default=0)
    return [branch.item_schemas(index) for index in range(first + 1)]


def object_places(caster: ArgumentCaster, schemas: list[Any], depth: int) -> Inner | None:
    """The places of an object's members; raises Whole where it takes all members to know which branch describes it."""
    branches = [branch for branch in caster.reader.branches(schemas) if chosen((branch,), {}) is not None]
    if len(branches) > 1:
        raise Whole
    return Members(LenientPlaces(caster, depth - 1), branches[0]) if branches else None
