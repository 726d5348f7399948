"""A template and a call that count as large in tests of what is put off: real ones would take seconds each."""

from __future__ import annotations

from streamparse import load_response_template

LARGE = 20
"""So many characters of a region are put off in these tests."""
TEMPLATE = load_response_template(
    {
        "start_anchor": "@",
        "fields": {
            "content": {},
            "calls": {"open": "<call>", "close": "</call>", "repeats": True, "content": "json"},
        },
    }
)
CALL = '<call>{"name": "f", "arguments": {"a": 1}}</call>'
