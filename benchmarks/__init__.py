"""How fast streamparse is, how its time grows, how much memory it takes: ``python -m benchmarks``.

Compared with the parser of the installed transformers in the same process, as ratios: a time on one machine says
little.

workloads.py      templates and texts
measure.py        medians of interleaved runs
table.py          what is printed
load.py           the tokens of many generations, from a second process
against_transformers.py, growth.py, memory.py, deltas.py, stream_cost.py, generations.py, idle.py, slow_consumer.py,
kafka.py          one section of the report each
"""
