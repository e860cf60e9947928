"""The time limit of a proof.

Rules kept here:
- the limit is checked between two steps of a proof, each well under a millisecond, so a proof ends promptly and no
  thread has to be killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.cancellation import CancelToken

DeadlineCheck = Callable[[], None]


def unlimited() -> None:
    """The check without a time limit."""


def deadline_check(
    timeout_ms: int, cancel: CancelToken | None = None, *, clock: Callable[[], float] = time.monotonic
) -> DeadlineCheck:
    """A function to call between two steps of a proof.

    Args:
        timeout_ms: the time limit from now, in milliseconds.
        cancel: cancels the call.
        clock: the current time in seconds.

    Returns:
        A function that raises a `CortexError` when the proof must end: `proof_timeout`, or `cancelled`.
    """
    end = clock() + timeout_ms / 1000

    def check() -> None:
        if cancel is not None:
            cancel.check()
        if clock() > end:
            raise CortexError(
                "proof_timeout",
                f"the proof took longer than {timeout_ms} ms",
                hint="request a narrower range or a smaller set, or raise skillSandbox.proofTimeoutMs",
            )

    return check
