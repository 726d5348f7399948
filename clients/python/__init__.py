"""A program for each client in Python; each is run by itself, as ``python -m clients.python.NAME``."""
