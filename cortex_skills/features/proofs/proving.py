"""What proofs keep for a host: its prover, which is made when a proof is first made or checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cortex_skills.features.proofs.proof_settings import ProofSettings
from cortex_skills.host import Host

if TYPE_CHECKING:
    from cortex_skills.features.proofs.logic.prover import Prover
    from cortex_skills.gate.gate import Gate


def prover_of(host: Host) -> Prover:
    """Makes and checks the Proofs of Logic of a namespace: `host.part(prover_of)`."""
    from cortex_skills.features.proofs.logic.prover import Prover

    return Prover(host.config, host.graph)


def read_namespace_rules(gate: Gate) -> None:
    """Read the shapes of the namespace of a plugin that opens, so that an error in them is raised then."""
    host = gate.host
    if host.graph.namespace in host.config.section(ProofSettings).shapes:
        host.part(prover_of).namespace_rules  # noqa: B018 - it is read
