"""The limits of a module from outside.

Rules kept here:
- an invalid limit is refused when it is set;
- the defaults are those of a manifest without `[capabilities.quotas]`.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex_sandbox.limits import MAX_MEMORY_BYTES, check_timeout

MAX_MODULE_BYTES = 32 << 20
# The size from which other hosts refuse a module: Palyra, `DEFAULT_SKILL_AUDIT_MAX_MODULE_BYTES`.
LARGE_MODULE_BYTES = 8 << 20
MAX_EXPORTED_FUNCTIONS = 128
# Component tools make one or two tables for calls between their parts.
MAX_TABLES = 16
# Component tools link further modules with memories, such as adapters of WASI.
MAX_MEMORIES = 4
# What a call of a host function costs, and each byte that is passed: 1.
HOST_CALL_FUEL = 1_000
_PAGE = 64 << 10


@dataclass(frozen=True, slots=True)
class WasmLimits:
    """The limits of one call of a module.

    Args:
        fuel: how much may be executed: about one for each instruction, and `HOST_CALL_FUEL` for a call of the host.
        memory_bytes: the linear memory, 64 KiB to 256 MiB. Several memories share it in equal parts.
        timeout_s: wall-clock seconds for a call, with the start of the module and host functions.
        table_elements: the maximum number of elements of a table.
        instances: the maximum number of core instances in a component.
        transfer_bytes: the maximum size of the input and output of a tool, and of what it passes to a host function.

    Raises:
        ValueError: for a number out of its range.
    """

    fuel: int = 10_000_000
    memory_bytes: int = 64 << 20
    timeout_s: float = 30.0
    table_elements: int = 100_000
    instances: int = 256
    transfer_bytes: int = 1 << 20

    def __post_init__(self) -> None:
        if not 0 < self.fuel < 1 << 63:
            raise ValueError("fuel must be at least 1 and below 2^63")
        if not _PAGE <= self.memory_bytes <= MAX_MEMORY_BYTES:
            raise ValueError(f"memory_bytes must be {_PAGE} to {MAX_MEMORY_BYTES}")
        check_timeout(self.timeout_s)
        if not 0 <= self.table_elements <= 1_000_000 or not 1 <= self.instances <= 1_000:
            raise ValueError("table_elements must be 0 to 1,000,000, instances 1 to 1,000")
        if not 1024 <= self.transfer_bytes <= self.memory_bytes:
            raise ValueError("transfer_bytes must be at least 1024 and at most memory_bytes")
