"""The limits of a sandbox.

Rules kept here:
- an invalid limit is refused when it is set;
- every limit has a default that suits a small skill.
"""

from __future__ import annotations

from dataclasses import dataclass

MIN_MEMORY_BYTES = 1 << 20
MAX_MEMORY_BYTES = 256 << 20
MIN_STACK_BYTES = 16 << 10
# The guest is linked with a stack of 1 MiB; half of it is left for the frames of the engine.
MAX_STACK_BYTES = 512 << 10
MAX_TIMEOUT_S = 3600.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one sandbox.

    Args:
        memory_bytes: the guest's JavaScript heap, 1 MiB to 256 MiB. Up to about 10 MiB its memory has a fixed size,
            and its code runs a tenth faster (decision 26).
        stack_bytes: the guest's call stack, from 16 KiB. 256 KiB hold about 1,020 plain calls, 512 KiB 2,040.
            Up to `INLINE_STACK_BYTES` guest code runs on the caller's thread; above it on a thread with a larger
            stack, which costs a switch of threads per call. Values above 512 KiB are reduced to 512 KiB, the maximum
            of the guest's build.
        timeout_s: wall-clock seconds for loading and for each call, with promise reactions and host functions.
        transfer_bytes: the maximum size of a JSON text from the guest, a result or the arguments of a host function.
        log_bytes: how much console output is kept between two calls of `take_logs`.

    Raises:
        ValueError: for a number out of its range.
    """

    memory_bytes: int = 8 << 20
    stack_bytes: int = 256 << 10
    timeout_s: float = 10.0
    transfer_bytes: int = 1 << 20
    log_bytes: int = 64 << 10

    def __post_init__(self) -> None:
        if not MIN_MEMORY_BYTES <= self.memory_bytes <= MAX_MEMORY_BYTES:
            raise ValueError(f"memory_bytes must be {MIN_MEMORY_BYTES} to {MAX_MEMORY_BYTES}")
        if self.stack_bytes < MIN_STACK_BYTES:
            raise ValueError(f"stack_bytes must be at least {MIN_STACK_BYTES}")
        check_timeout(self.timeout_s)
        if self.transfer_bytes < 1024 or self.log_bytes < 0:
            raise ValueError("transfer_bytes must be at least 1024, log_bytes at least 0")


def check_timeout(timeout_s: float) -> float:
    """The timeout, validated.

    Raises:
        ValueError: when it is not above 0 and at most an hour.
    """
    if not 0 < timeout_s <= MAX_TIMEOUT_S:
        raise ValueError(f"a timeout must be above 0 and at most {MAX_TIMEOUT_S:.0f} seconds")
    return timeout_s
