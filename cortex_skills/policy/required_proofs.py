"""Which predicates the active skills require a proof for.

Rules kept here:
- a predicate needs a proof for every skill when one active skill declares it with `requireProof`: the strictest
  declaration applies, whichever skill acts;
- predicates are compared by IRI;
- the skills are replaced as a whole, so that a reader sees all of a change or nothing of it.

>>> from cortex_skills.manifest.model import Assertion, Semantic
>>> required = RequiredProofs(Names("mayros"))
>>> required.replace({"verify-kyc": Semantic(1, assertions=(Assertion("isVerified", require_proof=True),))})
>>> required.skills("mayros:isVerified")
('verify-kyc',)
>>> required.skills("note")
()
"""

from __future__ import annotations

from collections.abc import Mapping

from pyoxigraph import NamedNode

from cortex_graph.names import Names
from cortex_skills.manifest import Semantic


class RequiredProofs:
    """The predicates that need a proof. Safe to use from several threads.

    Args:
        names: of the namespace.

    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._skills: Mapping[NamedNode, tuple[str, ...]] = {}

    def replace(self, active: Mapping[str, Semantic]) -> None:
        """Replace the active skills.

        Args:
            active: the semantic block of each by its name; the predicates that it declares are valid names.

        """
        found: dict[NamedNode, dict[str, None]] = {}
        for skill in sorted(active):
            for assertion in active[skill].assertions:
                if assertion.require_proof:
                    found.setdefault(self._names.node(assertion.predicate, "predicate"), {})[skill] = None
        self._skills = {predicate: tuple(skills) for predicate, skills in found.items()}

    def skills(self, predicate: str) -> tuple[str, ...]:
        """The names of the active skills that require a proof for a predicate, sorted.

        Raises:
            InvalidArguments: it is not a name.

        """
        return self._skills.get(self._names.node(predicate, "predicate"), ())
