"""The kinds of proofs, and the functions that choose one by a stored name or by the form of a document.

Rules kept here:
- the kinds of this package are registered in `_BUILT_IN`; other distributions register theirs as entry points of the
  group `cortex_skills.proof_kinds`, each a `ProofKind` or a function without arguments that returns one;
- an entry point that cannot be loaded, or repeats a registered name, is skipped with a warning;
- a proof of an unknown kind is `not checked`;
- a stored proof is checked against each statement that it is stored with; a valid proof of another one is refuted.
"""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.kinds.base import PRESENCE, CheckContext, ProofKind, not_checked
from cortex_skills.features.proofs.kinds.credential import CredentialKind
from cortex_skills.features.proofs.kinds.proof_of_logic import ProofOfLogicKind
from cortex_skills.features.proofs.kinds.zero_knowledge import ZeroKnowledgeKind
from cortex_skills.features.proofs.verdict import Check

__all__ = [
    "GROUP",
    "CheckContext",
    "ProofKind",
    "check_proof",
    "check_stored",
    "kind_named",
    "kind_of",
    "proof_kinds",
    "type_of",
]

GROUP = "cortex_skills.proof_kinds"
_BUILT_IN: tuple[ProofKind, ...] = (CredentialKind(), ProofOfLogicKind(), ZeroKnowledgeKind())

log = logging.getLogger(__name__)


@cache
def proof_kinds() -> dict[str, ProofKind]:
    """All kinds by their names."""
    kinds = {kind.name: kind for kind in _BUILT_IN}
    for entry in entry_points(group=GROUP):
        try:
            loaded = entry.load()
            kind = loaded if isinstance(loaded, ProofKind) else loaded()
            if not isinstance(kind, ProofKind) or kind.name in kinds:
                raise TypeError("it is not a ProofKind with a new name")
        except Exception as error:
            log.warning("the proof kind %s is skipped: %s: %s", entry.value, type(error).__name__, error)
        else:
            kinds[kind.name] = kind
    return kinds


def kind_named(name: str) -> ProofKind | None:
    """The kind with a name; None when it is not known."""
    return proof_kinds().get(name)


def kind_of(content: str) -> ProofKind | None:
    """The kind of a document, by its form; None when it is not known.

    Raises:
        CortexError: `invalid_arguments`: the text is not a JSON object.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        message, hint = "this is not a proof: a proof is a JSON object", "give the file of a proof"
        raise CortexError("invalid_arguments", message, hint=hint)
    return next((kind for kind in proof_kinds().values() if kind.recognizes(document)), None)


def type_of(kind: str, content: str) -> str:
    """The type of a proof: the scheme of a zero-knowledge proof, else the name of the kind."""
    found = kind_named(kind)
    return kind if found is None else found.type_of(content)


def check_proof(kind: str, content: str, context: CheckContext) -> list[Check]:
    """Check a proof, part by part.

    Args:
        kind: the name of its kind; see `kind_of`.
        content: the proof.
        context: what it is checked against.

    Raises:
        CortexError: `cancelled`; `config_invalid`: the shapes that the settings name cannot be read.
    """
    found = kind_named(kind)
    if found is None:
        return not_checked(f"this version does not know proofs of the kind {kind[:40]!r}")
    if not context.limit_ms:
        return not_checked("the time for all checks was used up before")
    return found.check(content, context)


def check_stored(proof: StoredProof, graph: NamespacedGraph, context: CheckContext) -> list[Check]:
    """Check a proof against each statement that it is stored with.

    Raises:
        CortexError: `cancelled`.
    """
    kind = kind_named(proof.kind)
    if kind is None:
        return check_proof(proof.kind, proof.content, replace(context, graph=graph))
    checks = []
    for triple_id in proof.proves:
        quad = graph.index.find(triple_id)
        if quad is None and not kind.precedes_statement:
            why = f"{triple_id} is not in the graph"
            checks.append(Check.of(PRESENCE, False, "the statement is in the graph", "that it is true", why))
        checks += check_proof(proof.kind, proof.content, replace(context, graph=graph, triple=quad))
        if quad is None:
            checks += _check_statement(kind, proof.content, triple_id, graph)
    return checks


def _check_statement(kind: ProofKind, content: str, triple_id: str, graph: NamespacedGraph) -> list[Check]:
    """Whether a proof is about a statement that is not in the graph."""
    try:
        found, _ = kind.statement_of(content, graph)
    except (ValueError, RecursionError, CortexError):
        return []  # the other checks report it
    establishes, does_not = (
        "the proof is about the statement that it is stored with",
        "that it proves it: see the other parts",
    )
    return [Check.of("about", found == triple_id, establishes, does_not, f"it is about the statement {found}")]
