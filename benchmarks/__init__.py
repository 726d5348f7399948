"""How fast streamparse is, how its time grows, how much memory it takes: ``python -m benchmarks``.

Compared with the parser of the installed transformers in the same process, as ratios: a time on one machine says
little.

workloads.py      templates and texts
measure.py        medians of interleaved runs
table.py          what is printed
against_transformers.py, growth.py, memory.py, stream_cost.py   one section of the report each
"""
