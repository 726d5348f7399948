r"""Tags that are spelled in another way than their family's: doubled or plain bars, typographic quotes, odd attributes.

In comes a text that should be tags, and their outline. Out comes the text with the tags as the family writes them, as
far as each has only one reading: its start, its key and its closing tag say all that counts.
"""

from __future__ import annotations

from functools import lru_cache

import regex

from streamparse.matching.misspelling import misspelt
from streamparse.stages.structure.tag_outline import TagOutline

REST_OF_HEAD = r"[^<>\n]{0,200}>"
CURLY = str.maketrans("“”", '""')
KEY = regex.compile(r'([^"<>]+)"')


def respelled(text: str, outline: TagOutline) -> str:
    r"""The text with its tags spelled as the outline has them; the same text where they are, or can't be told.

    >>> from streamparse.stages.structure.tag_outline import tag_outline
    >>> outline = tag_outline('<｜p name="(?P<key>[^"]+)"(?: string="(?P<string>true|false)")?>(?P<value>.*?)</｜p>')
    >>> respelled("<|p name=“a” string=“true”>1</｜｜p>", outline)
    '<｜p name="a" string="true">1</｜p>'
    >>> respelled('<｜p name="a" string="maybe">1</｜p>', outline)
    '<｜p name="a">1</｜p>'
    """
    if outline.shape.closing_end is not None:
        return text
    is_exact = outline.start in text
    pattern = heads_of(outline.start, None if is_exact else outline.shape.closing)

    def spell(match: regex.Match[str]) -> str:
        return outline.shape.closing if match["rest"] is None else head_of(match, outline)

    return pattern.sub(spell, text)


@lru_cache(256)
def heads_of(start: str, closing: str | None) -> regex.Pattern[str]:
    """What finds heads that begin with ``start``, and with ``closing`` misspelt ones and closing tags, too."""
    if closing is None:
        return regex.compile(f"{regex.escape(start)}(?P<rest>{REST_OF_HEAD})")
    loose_start, loose_closing = ("".join(misspelt(regex.escape(literal))) for literal in (start, closing))
    return regex.compile(f"{loose_start}(?P<rest>{REST_OF_HEAD})|{loose_closing}")


def head_of(match: regex.Match[str], outline: TagOutline) -> str:
    """A head as the family writes it: with its attributes, or with its key alone if those can't be read."""
    rest = match["rest"].translate(CURLY)
    key = KEY.match(rest)
    for head in (outline.start + rest, f'{outline.start}{key[1]}">' if key else ""):
        if outline.head(f"{head} ", 0).end == len(head):
            return head
    return match[0]
