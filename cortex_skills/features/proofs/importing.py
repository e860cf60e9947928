"""Importing a proof that was made elsewhere.

Rules kept here:
- an imported proof is of a known kind, is about a statement of this namespace, and matches what the client declares:
  its type, and its subject and predicate where they are given;
- a refuted proof is not stored. A proof that could not be checked is stored, and its verdict is `not checked`;
- a proof is stored as its canonical JSON (RFC 8785), so the same proof is stored once.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import rfc8785
from pyoxigraph import Quad

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.proofs import MAX_CONTENT, StoredProof, content_id
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.kinds import CheckContext, ProofKind, check_stored, kind_of
from cortex_skills.features.proofs.kinds.base import cannot_store
from cortex_skills.features.proofs.verdict import Check, Verdict
from cortex_skills.safe_io.display import shown_name

_ADDING = threading.Lock()  # without it, a proof that is imported twice at once would get two creation times


@dataclass(frozen=True, slots=True)
class ProofToImport:
    """A proof as a client submits it.

    Attributes:
        document: the proof, as JSON.
        declared: the type that the client states: one of the `types` of a `ProofKind`.
        subject: the name of the statement's subject; None when the client does not state it.
        predicate: the name of the statement's predicate; None when the client does not state it.
        rules: texts of the rule sets that the proof names.
    """

    document: Mapping[str, Any]
    declared: str
    subject: str | None = None
    predicate: str | None = None
    rules: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ImportedProof:
    """A proof that was imported.

    Attributes:
        proof: the stored proof.
        is_new: whether it was not stored before.
        checks: the checks of the proof.
    """

    proof: StoredProof
    is_new: bool
    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict of all checks."""
        return Verdict.of_all(check.verdict for check in self.checks)


def import_proof(given: ProofToImport, graph: NamespacedGraph, context: CheckContext) -> ImportedProof:
    """Check a proof, and store it unless it is refuted.

    Args:
        given: the proof, and what the client declares.
        graph: the namespace.
        context: what it is checked against; its graph, triple and rules are set here.

    Raises:
        CortexError: `invalid_arguments`: it is not a proof, not of the declared type, or not about this namespace;
            `proof_failed`: it is refuted, with the checks in `details.checks`; `zk_disabled`.
    """
    kind, content = _read(given)
    kind.check_enabled(context.config)
    triple_id, quad = kind.statement_of(content, graph)
    if quad is None:
        raise cannot_store("the statement that it signs is not in this namespace", "write the statement first")
    proof = kind.to_store(content, triple_id, graph, context.now)
    texts = {content_id(text): text for text in given.rules}
    named = kind.rule_digests(content)
    _check_declared(given, quad, graph, named, texts)
    known = graph.proofs.get(proof.id)
    checks = tuple(check_stored(known or proof, graph, replace(context, rules=texts)))
    imported = ImportedProof(known or proof, known is None, checks)
    if known is not None:
        return imported
    if imported.verdict is Verdict.REFUTED:
        wrong = [check for check in checks if check.verdict is Verdict.REFUTED]
        reasons = "; ".join(reason for check in wrong for reason in check.reasons)[:600] or "it is not valid"
        details = {"checks": [check.to_json() for check in checks]}
        hint = "see which of the checks failed"
        raise CortexError(
            "proof_failed", f"the proof is refuted, and is not stored: {reasons}", hint=hint, details=details
        )
    rules = {each for each in named if each in texts or graph.proofs.rules(each) is not None}
    proof = replace(proof, rules=tuple(sorted(rules)))
    with _ADDING:
        before = graph.proofs.get(proof.id)
        if before is None:
            graph.proofs.add(proof, texts.values())
    return ImportedProof(before or proof, before is None, checks)


def _read(given: ProofToImport) -> tuple[ProofKind, str]:
    """The kind of a document, and its canonical text."""
    try:
        content = rfc8785.dumps(dict(given.document)).decode()
    except (ValueError, RecursionError) as error:
        raise cannot_store(f"it cannot be written as canonical JSON (RFC 8785): {str(error)[:200]}") from None
    if len(content) > MAX_CONTENT:
        raise cannot_store(f"it has more than {MAX_CONTENT} characters")
    kind = kind_of(content)
    if kind is None:
        raise cannot_store("its kind is not known")
    found = kind.type_of(content)
    if found != given.declared:
        raise CortexError(
            "invalid_arguments",
            f"the declared type of the proof is {given.declared}, and its type is {shown_name(found)}",
            hint="declare the type that the proof has",
            details={"field": "proof_type"},
        )
    return kind, content


def _check_declared(
    given: ProofToImport, quad: Quad, graph: NamespacedGraph, named: Sequence[str], texts: Mapping[str, str]
) -> None:
    """Refuse a proof of another statement than declared, or one that comes with rules that it does not name."""
    for field, name, term in (
        ("subject", given.subject, quad.subject),
        ("predicate", given.predicate, quad.predicate),
    ):
        if name is not None and graph.names.node(name, field) != term:
            message = f"the {field} of the proof's statement is not {shown_name(name)}"
            hint = f"omit it, or give the {field} of the statement"
            raise CortexError("invalid_arguments", message, hint=hint, details={"field": field})
    if not set(texts) <= set(named):
        message, hint = "the proof does not name one of the given rule sets", "send the texts of the applied rule sets"
        raise CortexError("invalid_arguments", message, hint=hint, details={"field": "rules"})
