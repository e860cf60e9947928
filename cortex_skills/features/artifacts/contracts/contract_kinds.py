"""The typed contracts that an artifact can declare in `operator.plugin.contracts`, version 1 of each.

Rules kept here:
- the twelve kinds, their schema names, operations and classes of capabilities are those of the format's origin;
- an operation is a tool of the artifact, named `SKILL_ID.OPERATION`, so that a call of a contract passes the gate as
  each call of a tool does;
- four kinds are called by this host; the others are negotiated, and never invoked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

HTTP, SECRETS, STORAGE, CHANNELS = "http_hosts", "secrets", "storage_prefixes", "channels"

VERSION = 1


@dataclass(frozen=True, slots=True)
class ContractKind:
    """A kind of contract.

    Attributes:
        name: as an artifact declares it.
        operations: the tools that fulfil it, without the id of the skill.
        capability_classes: what an artifact with this contract may request; the graph is always possible.
        output: the last part of the name of its output schema.
        called: whether this host calls it.
    """

    name: str
    operations: tuple[str, ...]
    capability_classes: frozenset[str]
    output: str = "output"
    called: bool = False

    @property
    def input_schema(self) -> str:
        """The name of the schema of its input."""
        return f"palyra.plugin.{self.name}.input.v{VERSION}"

    @property
    def output_schema(self) -> str:
        """The name of the schema of its output."""
        return f"palyra.plugin.{self.name}.{self.output}.v{VERSION}"


def _kind(
    name: str, operations: str, classes: tuple[str, ...] = (), output: str = "output", *, called: bool = False
) -> ContractKind:
    return ContractKind(name, tuple(operations.split()), frozenset(classes), output, called)


_OUTSIDE = (HTTP, SECRETS, STORAGE)

KINDS: Mapping[str, ContractKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            _kind("memory_provider", "provide_memory", _OUTSIDE, called=True),
            _kind("context_engine", "plan_context", _OUTSIDE),
            _kind("routing_strategy", "route_model", _OUTSIDE, called=True),
            _kind("run_lifecycle_hook", "decide_run_lifecycle", output="decision", called=True),
            _kind("compaction_provider", "compact_context", _OUTSIDE),
            _kind("diagnostics_provider", "emit_diagnostics", (STORAGE,)),
            _kind("policy_signal_provider", "emit_policy_signal"),
            _kind(
                "channel_binding_provider",
                "discover_binding validate_binding repair_binding_hint explain_binding",
                (CHANNELS,),
            ),
            _kind("delivery_adapter", "deliver_message", (CHANNELS,), "receipt", called=True),
            _kind("scheduler_task_provider", "schedule_task", (STORAGE,)),
            _kind("model_auth_provider", "resolve_model_auth", (SECRETS,)),
            _kind(
                "connector_adapter",
                "connector_inbound connector_outbound connector_rate_limit discover_binding",
                (*_OUTSIDE, CHANNELS),
            ),
        )
    }
)
