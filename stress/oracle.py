"""What counts as a find: an exception that is not documented, too much time, or too much memory.

In: a call, and the size of what it gets. Out: nothing, or a :class:`Find`. Time is CPU time, so that a busy machine is
no find; a call that never comes back is ended by ``faulthandler``, with a traceback and the exit code 1.
"""

from __future__ import annotations

import faulthandler
import time
from collections.abc import Callable
from typing import TypeVar

from streamparse import StreamparseError

SECONDS = 5.0
SECONDS_A_CHARACTER = 20e-6
HANGS_AFTER = 120.0

Result = TypeVar("Result")


class Find(AssertionError):
    """Something that hostile input must not be able to do."""


def checked(call: Callable[[], Result], size: int, *, seconds: float = SECONDS) -> Result | None:
    """The call's result, or None where it raised a documented error; raises Find for anything else.

    It may take ``seconds``, and a little more for each of ``size`` characters.
    """
    faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
    begun = time.process_time()
    try:
        return call()
    except StreamparseError as error:
        str(error)
        return None
    except MemoryError as error:
        raise Find("it ran out of memory") from error
    except Exception as error:
        raise Find(f"it raised {type(error).__name__}: {error}") from error
    finally:
        faulthandler.cancel_dump_traceback_later()
        taken = time.process_time() - begun
        allowed = seconds + size * SECONDS_A_CHARACTER
        if taken > allowed:
            raise Find(f"it took {taken:.1f} s of CPU time for {size} characters; {allowed:.1f} s are allowed")
