"""What makes the arguments of a bad call unreadable, for clients that complete JSON which is not whole.

In:  the part of a call's arguments that has been sent, and can't be taken back.
Out: a text to send after it, with which no continuation is JSON.

A client that reads JSON refuses arguments that end too early. Several clients complete them first: LangChain would run
``{"tz":"Eur`` as ``{"tz":"Eur"}``. What they don't complete is a bracket that closes what was never opened. Parsers
that give a value for a beginning of JSON (``jiter``, and pydantic's ``from_json``) are more patient: they end at a
wrong bracket where a comma could stand, and refuse it only behind one. So an open string is ended, a comma follows
where a value may have ended, and then comes the bracket that doesn't fit.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?P<end>")?|[{}\[\]]', re.DOTALL)
_CUT_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{0,3})?\Z")
_WHOLE_ESCAPES = re.compile(r"\\(?:u[0-9a-fA-F]{4}|[^u])", re.DOTALL)
_CLOSES = {"}": "{", "]": "["}


def unreadable_end(sent: str) -> str:
    r"""Give what to send after a beginning of a JSON text, so that no parser takes the whole for JSON.

    >>> unreadable_end('{"tz":"Eur'), unreadable_end('{"n":[1'), unreadable_end('{"n":'), unreadable_end("")
    ('",]', ',}', ']', '{]')
    >>> unreadable_end('{"path":"C:\\'), unreadable_end('{"name":"caf\\u00')
    ('\\",]', '00",]')
    """
    if not sent.strip():
        return "{]"
    text = ""
    open_brackets: list[str] = []
    for token in _TOKEN.finditer(sent):
        if token[0].startswith('"'):
            text = "" if token["end"] else _rest_of_escape(sent[token.start() :]) + '"'
        elif token[0] in ("{", "["):
            open_brackets.append(token[0])
        elif open_brackets and open_brackets[-1] == _CLOSES[token[0]]:
            open_brackets.pop()
    if text or sent.rstrip()[-1] not in "{[,:":
        text += ","
    return text + ("}" if open_brackets and open_brackets[-1] == "[" else "]")


def _rest_of_escape(text: str) -> str:
    r"""What completes the escape that the beginning of a string may end in, so that the quote behind it is one.

    >>> _rest_of_escape("a\\"), _rest_of_escape("a\\\\"), _rest_of_escape("\\u0")
    ('\\', '', '000')
    """
    cut = _CUT_ESCAPE.search(_WHOLE_ESCAPES.sub("", text))
    if cut is None:
        return ""
    return "\\" if cut[1] is None else "0" * (5 - len(cut[1]))
