"""``python -m streamparse`` is the command ``streamparse``."""

from __future__ import annotations

import sys

from streamparse.cli import main

sys.exit(main())
