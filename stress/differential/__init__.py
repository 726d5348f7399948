"""The bundled templates against parsers that others wrote: where they differ, and on what.

``peers`` loads the others, ``texts`` writes and damages what models write, and ``python -m stress.differential`` runs
all of it and prints what differs, by kind; docs/differential.md says who is right.
"""
