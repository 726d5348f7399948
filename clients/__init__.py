"""Clients that others wrote, tried against ``streamparse serve``: ``make clients`` writes docs/clients.md.

``family.py`` and ``model.py`` play a model of each family, ``upstream.py`` serves its text as an engine would, and
``serving.py`` puts ``streamparse serve`` in front of it, or of the real model of ``llama_cpp.py``. ``python/`` and
``node/`` have a program for each client, which takes jobs and gives outcomes as lines of JSON; ``client.py`` runs them.
``checks.py`` says what is asked and what must come of it, ``trial.py`` tries it, ``table.py`` writes it down.
"""
