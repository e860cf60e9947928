"""Which predicates the active skills declare, and which of them need a proof.

Rules kept here:
- a predicate needs a proof for every skill when one active skill declares it with `requireProof`: the strictest
  declaration applies, whichever skill acts;
- a skill that declares `*` may assert any predicate that no other active skill declares by its name;
- predicates are compared by IRI;
- the skills are replaced as a whole, so that a reader sees all of a change or nothing of it.

>>> from cortex_skills.manifest.model import ManifestAssertion, Semantic
>>> required = DeclaredPredicates(Names("mayros"))
>>> required.replace({"verify-kyc": Semantic(1, assertions=(ManifestAssertion("isVerified", require_proof=True),))})
>>> required.skills("mayros:isVerified")
('verify-kyc',)
>>> required.skills("note"), required.owners("note")
((), ())
"""

from __future__ import annotations

from collections.abc import Mapping

from pyoxigraph import NamedNode

from cortex_graph.naming.names import Names
from cortex_skills.manifest import Semantic
from cortex_skills.manifest.model import ANY


class DeclaredPredicates:
    """The predicates that need a proof. Safe to use from several threads.

    Args:
        names: of the namespace.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._skills: Mapping[NamedNode, tuple[str, ...]] = {}
        self._owners: Mapping[NamedNode, tuple[str, ...]] = {}

    def replace(self, active: Mapping[str, Semantic]) -> None:
        """Replace the active skills.

        Args:
            active: the semantic block of each by its name; the predicates that it declares are valid names.
        """
        owners: dict[NamedNode, dict[str, bool]] = {}
        for skill in sorted(active):
            for assertion in active[skill].assertions:
                if assertion.predicate != ANY:
                    proofs = owners.setdefault(self._names.node(assertion.predicate, "predicate"), {})
                    proofs[skill] = assertion.require_proof or proofs.get(skill, False)
        self._owners = {predicate: tuple(proofs) for predicate, proofs in owners.items()}
        requiring = {node: tuple(skill for skill in proofs if proofs[skill]) for node, proofs in owners.items()}
        self._skills = {predicate: skills for predicate, skills in requiring.items() if skills}

    def skills(self, predicate: str) -> tuple[str, ...]:
        """The names of the active skills that require a proof for a predicate, sorted.

        Raises:
            InvalidArguments: it is not a name.
        """
        return self._skills.get(self._names.node(predicate, "predicate"), ())

    def owners(self, predicate: str) -> tuple[str, ...]:
        """The names of the active skills that declare that they assert a predicate, sorted.

        Raises:
            InvalidArguments: it is not a name.
        """
        return self._owners.get(self._names.node(predicate, "predicate"), ())
