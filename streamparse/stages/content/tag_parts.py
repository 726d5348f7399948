r"""The parts of a tag whose extent one look at the next character settles, and how each is stepped over.

A ``TagShape`` is made of them; ``sequence_step`` turns a sequence of them into a function from a text and a position
in it to where the parts end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import regex

from streamparse.matching.syntax import Chars

Step = Callable[[str, int], int]
"""From a text and a position in it to where a part that starts there ends; -1 where none does."""

PLAIN_CLASS = regex.compile(r"\[([^\[\]\\^&|~-]+)\]")
WHITE_SPACE = tuple(filter(regex.compile(r"\s").match, map(chr, range(0x3001))))


class NotDetermined(Exception):
    """It takes more than a look at the next character to know where a part ends."""


@dataclass(frozen=True)
class Literal:
    """A fixed text."""

    text: str


@dataclass(frozen=True)
class Run:
    """As many characters of a class as there are, ``minimum`` to ``maximum`` of them.

    ``suffix`` are characters of the class that the pattern asks for by name at the run's end, as in ``\\s*\\n``.
    """

    chars: Chars
    minimum: int
    maximum: int | None
    suffix: str = ""


@dataclass(frozen=True)
class LineBreak:
    """One line break (a line feed, or a carriage return and a line feed), or none, beside a value."""

    minimum = 0


@dataclass(frozen=True)
class OneOf:
    """One of several texts, none of which begins another."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Optional:
    """Parts that are there if, and only if, their first character is."""

    parts: tuple[Part, ...]


Part = Literal | Run | OneOf | Optional
Edge = Run | LineBreak | None
"""What may stand between a tag and its value, and is no part of the value."""


def determined(parts: list[Part], following: list[str | Chars]) -> tuple[Part, ...]:
    """Check that each part ends where the next character says so; ``following`` is what may come after the last one.

    Where the text after a run begins with characters of the run, they become the run's ``suffix``. Raises
    NotDetermined.
    """
    result: list[Part] = []
    for part in reversed(parts):
        if isinstance(part, Run):
            if result and isinstance(literal := result[0], Literal) and part.maximum is None:
                part, result[0] = with_suffix(part, literal)
            if any(overlap(part.chars, character) for character in may_begin(result, following)):
                raise NotDetermined
        elif isinstance(part, Optional):
            after = list(may_begin(result, following))
            if not isinstance(first := part.parts[0], Literal) or any(overlap(it, first.text[0]) for it in after):
                raise NotDetermined
            part = Optional(determined(list(part.parts), after))
        result.insert(0, part)
    return tuple(result)


def with_suffix(run: Run, literal: Literal) -> tuple[Run, Literal]:
    """Move the characters of a run that the text after it begins with to the run's ``suffix``."""
    rest = literal.text
    while rest and run.chars.contains(rest[0]):
        rest = rest[1:]
    if not rest:
        raise NotDetermined
    return replace(run, suffix=literal.text[: len(literal.text) - len(rest)]), Literal(rest)


def may_begin(parts: list[Part], following: list[str | Chars]) -> Iterator[str | Chars]:
    """Give what a sequence of parts may begin with: characters and classes."""
    for part in parts:
        yield from first_characters(part)
        if not isinstance(part, Optional) and not (isinstance(part, Run) and part.minimum == 0 and not part.suffix):
            return
    yield from following


def first_characters(part: Part) -> list[str | Chars]:
    """Give what a part begins with where it is not empty."""
    if isinstance(part, Literal):
        return [part.text[0]]
    if isinstance(part, OneOf):
        return [text[0] for text in part.texts]
    return [part.chars] if isinstance(part, Run) else first_characters(part.parts[0])


def overlap(one: str | Chars, other: str | Chars) -> bool:
    """Whether two classes may have a character in common; true unless it is known that they have none."""
    if isinstance(one, Chars):
        if isinstance(other, str):
            return one.contains(other)
        one_members, other_members = members(one), members(other)
        if one_members is not None:
            return any(map(other.contains, one_members))
        return other_members is None or any(map(one.contains, other_members))
    return overlap(other, one) if isinstance(other, Chars) else one == other


def members(chars: Chars) -> Iterable[str] | None:
    """List the characters of a class; None for one with too many."""
    if chars.literal is not None:
        return chars.literal
    if chars.source == r"\s":
        return WHITE_SPACE
    plain = PLAIN_CLASS.fullmatch(chars.source)
    return plain[1] if plain and not chars.flags & regex.IGNORECASE else None


def character_test(chars: Chars) -> Callable[[str], bool]:
    """Make the function that tells whether a character is of a class, which it asks once a character."""
    known: dict[str, bool] = {}

    def test(character: str) -> bool:
        found = known.get(character)
        if found is None:
            found = known[character] = chars.contains(character)
        return found

    return test


def sequence_step(parts: tuple[Part, ...]) -> Step:
    """Make the step over parts that follow one another."""
    steps = [STEPS[type(part)](part) for part in parts]

    def step(text: str, position: int) -> int:
        for inner in steps:
            position = inner(text, position)
            if position == -1:
                break
        return position

    return steps[0] if len(steps) == 1 else step


def literal_step(part: Literal) -> Step:
    """Make the step over a fixed text."""
    fixed, length = part.text, len(part.text)
    return lambda text, position: position + length if text.startswith(fixed, position) else -1


def one_of_step(part: OneOf) -> Step:
    """Make the step over one of several texts."""

    def step(text: str, position: int) -> int:
        for fixed in part.texts:
            if text.startswith(fixed, position):
                return position + len(fixed)
        return -1

    return step


def optional_step(part: Optional) -> Step:
    """Make the step over parts that are there if their first character is."""
    first = part.parts[0]
    assert isinstance(first, Literal)
    character, inner = first.text[0], sequence_step(part.parts)
    return lambda text, position: inner(text, position) if text.startswith(character, position) else position


def run_step(run: Run) -> Step:
    """Make the step over a run with its suffix."""
    run_end = run_ends(run.chars)
    least, suffix = run.minimum + len(run.suffix), run.suffix

    def step(text: str, position: int) -> int:
        end = run_end(text, position)
        length = end - position
        if length < least or (run.maximum is not None and length > run.maximum):
            return -1
        return end if text.startswith(suffix, end - len(suffix)) else -1

    return step


def run_ends(chars: Chars) -> Step:
    """Make the function that finds where a run of a class ends, for one text.

    It remembers the last run, so that runs which many tags look into are not gone through again for each of them.
    """
    source = chars.source if chars.literal is None else regex.escape(chars.literal)
    match = regex.compile(f"(?:{source})*+", chars.flags).match
    known_start, known_end = 1, 0

    def end(text: str, position: int) -> int:
        nonlocal known_start, known_end
        if not known_start <= position <= known_end:
            found = match(text, position)
            known_start, known_end = position, found.end() if found else position
        return known_end

    return end


STEPS: dict[type, Callable[..., Step]] = {
    Literal: literal_step,
    Run: run_step,
    OneOf: one_of_step,
    Optional: optional_step,
}
