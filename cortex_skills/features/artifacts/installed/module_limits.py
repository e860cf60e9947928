"""The limits of a call of a module with the quotas of its manifest."""

from __future__ import annotations

from cortex_sandbox.limits import MAX_MEMORY_BYTES
from cortex_sandbox.wasm import WasmLimits
from cortex_skills.features.artifacts.package.artifact_manifest import ArtifactQuotas

_TRANSFER_BYTES = 1 << 20


def limits_of(quotas: ArtifactQuotas) -> WasmLimits:
    """The limits of a call with these quotas; the memory of this host is the highest."""
    memory = min(quotas.max_memory_bytes, MAX_MEMORY_BYTES)
    return WasmLimits(
        fuel=quotas.fuel_budget,
        memory_bytes=memory,
        timeout_s=quotas.wall_clock_timeout_ms / 1000,
        transfer_bytes=min(_TRANSFER_BYTES, memory),
    )
