"""The content parsers, one file each: what turns the text of a region into a value.

====================  =============================================  =======
name                  value                                          streams
====================  =============================================  =======
``text``              the text                                       yes
``int``               a whole number                                 yes
``float``             a number                                       yes
``bool``              a truth value                                  yes
``json``              any JSON value                                 no
``xml-inline``        a dictionary, a tag for each key               no
``kv-lines``          a dictionary, a line for each key              no
``python-call-list``  a list of names with arguments                 no
====================  =============================================  =======

Where a parser *streams*, the chunks of its region are part of the value (``dirty`` is false); otherwise the value is
known only when the region closes.
"""

from __future__ import annotations

from streamparse.stages.content import (
    boolean,
    integer,
    json_value,
    kv_lines,
    number,
    python_call_list,
    text,
    xml_inline,
)
from streamparse.stages.content.table import (
    CONTENT_PARSERS,
    ContentParser,
    Parse,
    check_content,
    prepare_content,
)
from streamparse.stages.content.value_parser import SourcedDict

CONTENT_PARSERS.update(
    {
        module.PARSER.name: module.PARSER
        for module in (text, integer, number, boolean, json_value, xml_inline, kv_lines, python_call_list)
    }
)

__all__ = [
    "CONTENT_PARSERS",
    "ContentParser",
    "Parse",
    "SourcedDict",
    "check_content",
    "prepare_content",
]
