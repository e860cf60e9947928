"""Whether this host accepts the contracts that an artifact declares.

Rules kept here:
- an artifact without contracts is `untyped_legacy`: its tools are called as tools, and it is ready;
- a contract is rejected, with each reason, when this host has not its version, when the artifact requests a class of
  capabilities that the contract does not allow, or when a tool for one of its operations is missing;
- an accepted contract that this host never calls is reported as `not_invoked_here`;
- an artifact is ready when all of its contracts are accepted; rejected ones are never called.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from cortex_skills.features.artifacts.contracts.contract_kinds import KINDS, VERSION, ContractKind

Mode = Literal["typed", "untyped_legacy"]


@dataclass(frozen=True, slots=True)
class NegotiatedContract:
    """The result for one declared contract.

    Attributes:
        kind: as it was declared.
        version: as it was declared.
        reasons: why it was rejected; empty when it was accepted.
        tools: the tools that are called for it, by operation; empty when it was rejected.
    """

    kind: str
    version: int
    reasons: tuple[str, ...]
    tools: dict[str, str]

    @property
    def accepted(self) -> bool:
        """Whether it was accepted."""
        return not self.reasons

    @property
    def called(self) -> bool:
        """Whether this host calls it."""
        return self.accepted and KINDS[self.kind].called

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON object."""
        known = KINDS.get(self.kind)
        status = "rejected" if not self.accepted else "accepted" if self.called else "not_invoked_here"
        return {
            "kind": self.kind,
            "version": self.version,
            "status": status,
            "reasons": list(self.reasons),
            "inputSchema": known.input_schema if known else None,
            "outputSchema": known.output_schema if known else None,
        }


@dataclass(frozen=True, slots=True)
class Negotiation:
    """The result for an artifact.

    Attributes:
        mode: `untyped_legacy` without contracts.
        contracts: the result for each declared contract.
    """

    mode: Mode
    contracts: tuple[NegotiatedContract, ...] = ()

    @property
    def ready(self) -> bool:
        """Whether all contracts were accepted."""
        return all(each.accepted for each in self.contracts)

    def fulfilled_by(self, tool: str) -> frozenset[tuple[str, str]]:
        """The kinds and operations that this host calls a tool for."""
        called = (each for each in self.contracts if each.called)
        return frozenset((each.kind, name) for each in called for name, found in each.tools.items() if found == tool)

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON object."""
        return {"mode": self.mode, "ready": self.ready, "contracts": [each.to_json() for each in self.contracts]}


def negotiate(
    skill_id: str, declared: Iterable[tuple[str, int]], tools: Collection[str], requested: Collection[str]
) -> Negotiation:
    """Negotiate the contracts of an artifact.

    Args:
        skill_id: of the artifact.
        declared: the kind and version of each contract.
        tools: the ids of its tools.
        requested: the classes of capabilities that it requests: `http_hosts`, `secrets`, `storage_prefixes`,
            `channels`.
    """
    contracts = tuple(_negotiated(skill_id, kind, version, tools, requested) for kind, version in declared)
    return Negotiation("typed" if contracts else "untyped_legacy", contracts)


def _negotiated(
    skill_id: str, name: str, version: int, tools: Collection[str], requested: Collection[str]
) -> NegotiatedContract:
    kind = KINDS.get(name)
    if kind is None:
        return NegotiatedContract(name, version, (f"this host has no contract {name}",), {})
    reasons = []
    if version != VERSION:
        reasons.append(f"this host has version {VERSION} of {name}, not {version}")
    if refused := sorted(set(requested) - kind.capability_classes):
        reasons.append(f"{name} does not allow {', '.join(refused)}")
    by_operation = _tools_of(kind, skill_id)
    if missing := sorted(set(by_operation.values()) - set(tools)):
        reasons.append(f"the artifact has no tool {', '.join(missing)}")
    return NegotiatedContract(name, version, tuple(reasons), {} if reasons else by_operation)


def _tools_of(kind: ContractKind, skill_id: str) -> dict[str, str]:
    return {operation: f"{skill_id}.{operation}" for operation in kind.operations}
