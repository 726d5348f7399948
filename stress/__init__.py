"""Long runs that look for what tests of a few seconds don't find: ``fuzz`` with hostile input, ``soak`` under load."""
