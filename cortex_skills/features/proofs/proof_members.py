"""What the feature `proofs` adds to a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cortex_skills.features.proofs.proving import prover_of
from cortex_skills.plugin import Plugin

if TYPE_CHECKING:
    from cortex_skills.features.proofs.logic.prover import Prover


class ProofMembers(Plugin):
    """Proofs of Logic."""

    def prover(self) -> Prover:
        """Makes the Proofs of Logic of the namespace."""
        return self.part(prover_of)
