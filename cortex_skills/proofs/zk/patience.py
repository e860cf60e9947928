"""How long a proof may take: until a deadline, or until nobody waits for it.

Rules kept here:
- it is looked at between two steps of a proof, each well under a millisecond: the end comes promptly, and no thread has
  to be killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.stopping import Stop

Check = Callable[[], None]


def unlimited() -> None:
    """Wait for as long as it takes."""


def patience(timeout_ms: int, stop: Stop | None = None, *, clock: Callable[[], float] = time.monotonic) -> Check:
    """What is called between two steps; it raises when there is to be none after them.

    Args:
        timeout_ms: from now, in milliseconds.
        stop: ends the call early.
        clock: seconds.

    Returns:
        The check. It raises a `CortexError`: `proof_timeout`, or `cancelled`.

    """
    end = clock() + timeout_ms / 1000

    def check() -> None:
        if stop is not None:
            stop.check()
        if clock() > end:
            raise CortexError(
                "proof_timeout",
                f"the proof took longer than the {timeout_ms} ms that one may take",
                hint="ask for a narrower range or a smaller set, or raise skillSandbox.proofTimeoutMs",
            )

    return check
