"""Checking a Proof of Logic: its signature, its premises, and the result of its rules now.

Rules kept here:
- each part has its own verdict, with what it establishes and what it does not; a part that was not checked is
  `not checked`, and the logic is `well-formed` where the core rules alone applied;
- a removed premise refutes the proof, whatever the rules return now. An added triple where the rules had read does not:
  the rules are evaluated again, and their result decides;
- a proof is replayed with exactly the rules that it names: rules in the graph or given by the caller with the same
  SHA-256, and the same version of the core rules;
- where the host has shapes for the namespace, a proof that was made without them is not verified.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.store_access.read_ahead import Ahead, UpTo
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.logic.document import KIND, LogicProof, read_document
from cortex_skills.features.proofs.logic.evaluate import CORE, Evaluation, evaluate
from cortex_skills.features.proofs.logic.findings import safe_message
from cortex_skills.features.proofs.logic.premises import RecordingReader, changes_since, premises_of
from cortex_skills.features.proofs.verdict import Check, Verdict
from cortex_skills.skill_folder.rule_set import RuleSet, read_rules

_MAX_REASONS = 20
_AHEAD = 500  # patterns, and quads of each, that are read before the rules read them
CORE_ONLY = "only the core rules applied: no rule of a skill or of the namespace checked its meaning"


def verify(
    proof: StoredProof | LogicProof,
    graph: NamespacedGraph | None,
    *,
    rules: Mapping[str, str] | None = None,
    timeout_s: float = 5.0,
    replay: bool = True,
    cancel: CancelToken | None = None,
    host_rules: RuleSet | None = None,
) -> list[Check]:
    """Check a proof.

    Args:
        proof: a stored proof, or the document of one.
        graph: its namespace; None to check it without a graph.
        rules: texts of rule sets by their SHA-256, beside those in the graph.
        timeout_s: the time limit of its shapes, in seconds.
        replay: whether its rules are evaluated again.
        cancel: cancels the call.
        host_rules: the shapes that this host has for the namespace; None when it has none.

    Returns:
        The checks `signature`, `statement`, `premises` and `logic`, and `rules` when this host has shapes.
    """
    try:
        document = proof if isinstance(proof, LogicProof) else read_document(proof.content)
        quad = _statement(document)
    except CortexError as error:
        return [_check("signature", Verdict.REFUTED, error.message), *_not_checked()]
    checks = [_check_signature(document, quad)]
    if graph is None or graph.namespace != document.fields["namespace"] or graph.names.graph != quad.graph_name:
        why = f"no graph of {document.fields['namespace']} was given"
        return [*checks, *_not_checked(why)]
    checks.append(Check.of("statement", graph.store.contains(quad), *_PARTS["statement"], "it is not in the graph"))
    now, why_not = None, "the rules were not evaluated again"
    if replay:
        now, why_not = _replayed(document, quad, graph, rules or {}, timeout_s, cancel)
    changes, premises = _check_premises(document, quad, graph, now, cancel)
    checks += [premises, _check_logic(document, now, why_not, changed=changes)]
    return checks if host_rules is None else [*checks, _check_rules(document, host_rules)]


def read_again(graph: NamespacedGraph, proofs: Iterable[StoredProof]) -> Iterator[Ahead]:
    """What a check of proofs reads of their namespace, beside the statements: their premises, and texts of rules."""
    left = _AHEAD
    for proof in proofs:
        document = read_stored(proof) if proof.kind == KIND else None
        if document is None or left <= 0:
            continue
        yield from (graph.proofs.rules_ahead(each["digest"]) for each in document.fields["rules"][1:])
        for read in document.premises.reads[:left]:
            left -= 1
            with suppress(ValueError):
                yield UpTo(read.asked(graph.names.graph), _AHEAD)


def still_holds(proof: StoredProof, quad: Quad, evaluation: Evaluation) -> bool:
    """Whether a proof states the current evaluation of a statement, with the same premises, and is validly signed."""
    document = read_stored(proof)
    if document is None:
        return False
    fields = document.fields
    return (
        fields["statement"] == f"{quad} ."
        and fields["rules"] == [result.to_json() for result in evaluation.rule_sets]
        and fields["premises"] == evaluation.premises.to_json()
        and fields["verdict"] == evaluation.stated
        and document.states_its_hash()
        and document.signature_holds()
    )


def read_stored(proof: StoredProof) -> LogicProof | None:
    """The document of a stored proof; None when it is not a Proof of Logic."""
    try:
        return read_document(proof.content)
    except CortexError:
        return None


def _statement(document: LogicProof) -> Quad:
    line: str = document.fields["statement"]
    try:
        quads = list(parse(line, RdfFormat.N_QUADS))
    except SyntaxError:
        quads = []
    if [f"{quad} ." for quad in quads] != [line]:
        raise CortexError("invalid_arguments", "its statement is not a canonical N-Quads line")
    statement: Quad = quads[0]
    return statement


def _check_signature(document: LogicProof, quad: Quad) -> Check:
    if not document.states_its_hash():
        return _check(
            "signature", Verdict.REFUTED, f"its statementHash is not the hash of its statement: {quad.predicate}"
        )
    if not document.signature_holds():
        return _check("signature", Verdict.REFUTED, f"{document.signer} has not signed this proof")
    return _check("signature", Verdict.VERIFIED, f"signed by {document.signer} at {document.created}")


def _replayed(
    document: LogicProof,
    quad: Quad,
    graph: NamespacedGraph,
    given: Mapping[str, str],
    timeout_s: float,
    cancel: CancelToken | None,
) -> tuple[Evaluation | None, str]:
    """The evaluation of its rules now; else why they cannot be evaluated."""
    first, *others = document.fields["rules"]
    if (first["name"], first["digest"]) != (CORE.name, CORE.digest):
        return None, f"its core rules, {first['digest']}, are not those of this version ({CORE.digest})"
    sets: list[RuleSet] = []
    for named in others:
        text = given.get(named["digest"])
        if text is None or hashlib.sha256(text.encode()).hexdigest() != named["digest"]:
            text = graph.proofs.rules(named["digest"])
        if text is None:
            return None, f"the rules {named['name']} {named['digest']} are missing"
        try:
            read_rules(text, named["name"])
        except CortexError as error:
            return None, safe_message(error.message)
        sets.append(RuleSet(named["name"], named["version"], text))
    try:
        return evaluate(quad, graph, sets, timeout_s=timeout_s, cancel=cancel), ""
    except CortexError as error:
        if error.code == "cancelled":
            raise
        return None, error.message


def _check_premises(
    document: LogicProof, quad: Quad, graph: NamespacedGraph, now: Evaluation | None, cancel: CancelToken | None
) -> tuple[bool, Check]:
    """Whether the premises have changed, and their check."""
    premises = document.premises
    if premises.is_whole and premises_of(premises.reads).to_json() != premises.to_json():
        return True, _check("premises", Verdict.REFUTED, "the premises that it lists do not have its digest")
    if now is not None and now.premises.digest == premises.digest:
        return False, _check("premises", Verdict.VERIFIED, f"{premises.count} reads of the graph, all unchanged")
    if not premises.is_whole:
        why = "they are too many to list" + ("" if now is None else ", and they have changed")
        return True, _check("premises", Verdict.NOT_CHECKED, why)
    reader = RecordingReader(graph, quad) if cancel is None else RecordingReader(graph, quad, cancel.check)
    try:
        changes = changes_since(premises.reads, reader)
    except (CortexError, ValueError) as error:
        if isinstance(error, CortexError) and error.code == "cancelled":
            raise
        return True, _check("premises", Verdict.NOT_CHECKED, safe_message(str(error)))
    if any("withdrawn" in each for each in changes):
        return True, _check("premises", Verdict.REFUTED, *changes)
    return bool(changes), _check("premises", Verdict.VERIFIED, *changes)


def _check_rules(document: LogicProof, host_rules: RuleSet) -> Check:
    """Whether a proof was made with the rules of this host: the maker of a proof chooses its rules."""
    named = {each["digest"] for each in document.fields["rules"]}
    why = () if host_rules.digest in named else (f"it was not made with the rules {host_rules.name} of this host",)
    return _check("rules", Verdict.NOT_CHECKED if why else Verdict.VERIFIED, *why)


def _check_logic(document: LogicProof, now: Evaluation | None, why_not: str, *, changed: bool) -> Check:
    if now is None:
        return _check("logic", Verdict.NOT_CHECKED, why_not)
    violations = [f"{finding.message} [{name}, {finding.rule}]" for name, finding in now.violations]
    if not now.verdict.holds:
        return _check("logic", Verdict.REFUTED, *(violations or ["the rules do not verify it"]))
    if document.fields["verdict"] != now.stated:
        return _check(
            "logic",
            Verdict.REFUTED,
            f"it states {document.fields['verdict']}, and its rules return {now.stated}",
        )
    then, again = (_without_texts(rules) for rules in (document.fields["rules"], [r.to_json() for r in now.rule_sets]))
    if then != again and not changed:
        return _check("logic", Verdict.REFUTED, "its rules return another result for the same premises")
    names = tuple(result.rules.name for result in now.rule_sets if result.applied)
    if now.verdict is Verdict.WELL_FORMED:
        return replace(_check("logic", now.verdict, CORE_ONLY), rules=names)
    return replace(_check("logic", now.verdict, f"by {', '.join(names)}"), rules=names)


def _without_texts(rules: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """The results of rules without messages, which may differ between versions of pySHACL."""
    return [
        (
            each["digest"],
            each["applied"],
            each["verdict"],
            sorted((f["rule"], f["severity"], f.get("node", ""), f.get("path", "")) for f in each["findings"]),
        )
        for each in rules
    ]


# What each part establishes, and what it does not.
_PARTS = {
    "signature": (
        "the holder of the key that the proof names signed exactly this proof",
        "that the holder is trusted, or was right",
    ),
    "statement": ("the statement of the proof is in the graph", "that it is true of the world"),
    "premises": (
        "every statement that the rules read is still in the graph",
        "that these statements are true, or are proved",
    ),
    "logic": (
        "the statement obeys the rules that the proof names, in this graph, at its own nodes",
        "that the statement is true, that the rules are good ones, or that other nodes obey them",
    ),
    "rules": (
        "the rules of this host for the namespace are among the rules of the proof",
        "that the rules of the skill are among them",
    ),
}


def _check(part: str, verdict: Verdict, *reasons: str) -> Check:
    more = (f"and {len(reasons) - _MAX_REASONS} more",) if len(reasons) > _MAX_REASONS else ()
    return Check(part, verdict, *_PARTS[part], (*reasons[:_MAX_REASONS], *more))


def _not_checked(*reasons: str) -> list[Check]:
    return [_check(part, Verdict.NOT_CHECKED, *reasons) for part in ("statement", "premises", "logic")]
