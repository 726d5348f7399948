"""The stages of the core: each a small machine with feed, finish, snapshot and restore; no I/O, no event loop."""
