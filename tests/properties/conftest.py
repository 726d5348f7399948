"""How many examples the property tests try.

The usual run is short and always the same. ``STREAMPARSE_EXAMPLES=5000`` makes it long and different each time.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SLOW_TO_MAKE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "short", max_examples=60, derandomize=True, deadline=None, suppress_health_check=_SLOW_TO_MAKE, database=None
)
settings.register_profile(
    "long",
    max_examples=int(os.environ.get("STREAMPARSE_EXAMPLES", "1000")),
    deadline=None,
    suppress_health_check=_SLOW_TO_MAKE,
    print_blob=True,
)
settings.load_profile("long" if "STREAMPARSE_EXAMPLES" in os.environ else "short")
