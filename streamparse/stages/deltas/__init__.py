"""Argument deltas: what is certain of a tool call while it is being written.

stage.py               the stage: batches in, batches with ``region_delta`` events out
region_deltas.py       one region: its reader, what was given out, what is left at its end
plan.py                where a call's name, id and arguments come from
readers.py             the table of readers, one a content parser: those of ``streamparse.formats`` for what nests in
                       brackets, tags_reader.py (with tag_values.py), lines_reader.py
walk.py                what pieces of text did before, so that a piece that comes again is not read again
document.py            takes the parts that a reader finds to the calls (call.py) that they belong to
arguments.py           writes a call's arguments as compact JSON, as far as they are certain
partial.py             what can be read of a call that was cut off
places.py              what a tool's schema makes of a value, before it is whole
"""

from streamparse.stages.deltas.stage import DeltaStage

__all__ = ["DeltaStage"]
