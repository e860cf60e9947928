"""Checking a Proof of Logic: who signed it, whether it still rests on something, and what its rules say now.

Rules kept here:
- each part has a verdict of its own, with what it establishes and what it does not; what was not checked says so;
- a premise that was withdrawn refutes the proof, whatever the rules would say now. What came since, where the rules had
  looked, refutes nothing by itself: the rules are asked again, and they decide;
- a proof is replayed by the rules that it names, byte by byte: those that the graph keeps, or that somebody hands over,
  and core rules of the same version. Other rules prove nothing about it;
- where the host has shapes for the namespace, a proof that was not made by them is not verified.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse

from cortex_graph import NamespacedGraph
from cortex_graph.proofs import StoredProof
from cortex_skills.errors import CortexError
from cortex_skills.proofs.logic.document import Document, read_document
from cortex_skills.proofs.logic.findings import told
from cortex_skills.proofs.logic.judging import CORE, Judgement, judge
from cortex_skills.proofs.logic.premises import Looker, looked_again, premises_of
from cortex_skills.proofs.logic.rules import RuleSet, read_rules
from cortex_skills.proofs.verdict import Check, Verdict
from cortex_skills.stopping import Stop

_MAX_REASONS = 20


def verify(
    proof: StoredProof | Document,
    graph: NamespacedGraph | None,
    *,
    rules: Mapping[str, str] | None = None,
    timeout_s: float = 5.0,
    replay: bool = True,
    stop: Stop | None = None,
    ours: RuleSet | None = None,
) -> list[Check]:
    """Check a proof.

    Args:
        proof: as it was kept, or as it was read from a file.
        graph: the namespace that it speaks of; None when there is none at hand.
        rules: texts of rule sets by their SHA-256, beside those that the graph keeps.
        timeout_s: how long its shapes may take, in seconds.
        replay: whether its rules are asked again.
        stop: ends it early.
        ours: the shapes that this host has for the namespace; None when it has none.

    Returns:
        The checks `signature`, `statement`, `premises` and `logic`, and `rules` when this host has shapes.

    """
    try:
        document = proof if isinstance(proof, Document) else read_document(proof.content)
        quad = _statement(document)
    except CortexError as error:
        return [_signature(Verdict.REFUTED, error.message), *(make(Verdict.NOT_EVALUATED) for make in _OTHERS)]
    checks = [_check_signature(document, quad)]
    if graph is None or graph.namespace != document.fields["namespace"] or graph.names.graph != quad.graph_name:
        why = f"there is no graph of {document.fields['namespace']} here to look at"
        return [*checks, *(make(Verdict.NOT_EVALUATED, why) for make in _OTHERS)]
    there = graph.store.contains(quad)
    checks.append(_stated(Verdict.VERIFIED if there else Verdict.REFUTED, *([] if there else ["it is not there"])))
    now, why_not = None, "it was not asked for"
    if replay:
        now, why_not = _replayed(document, quad, graph, rules or {}, timeout_s, stop)
    changes, premises = _check_premises(document, quad, graph, now, stop)
    checks += [premises, _check_logic(document, now, why_not, changed=changes)]
    return checks if ours is None else [*checks, _check_rules(document, ours)]


def still_holds(proof: StoredProof, quad: Quad, judgement: Judgement) -> bool:
    """Whether a proof says of a statement what its rules say of it just now, of the same premises."""
    document = as_document(proof)
    if document is None:
        return False
    fields = document.fields
    return (
        fields["statement"] == f"{quad} ."
        and fields["rules"] == [ruling.to_json() for ruling in judgement.rulings]
        and fields["premises"] == judgement.premises.to_json()
        and fields["verdict"] == judgement.verdict.value
        and document.states_its_hash()
        and document.signature_holds()
    )


def as_document(proof: StoredProof) -> Document | None:
    """A kept proof as it was written; None when it is no Proof of Logic."""
    try:
        return read_document(proof.content)
    except CortexError:
        return None


def _statement(document: Document) -> Quad:
    line: str = document.fields["statement"]
    try:
        quads = list(parse(line, RdfFormat.N_QUADS))
    except SyntaxError:
        quads = []
    if [f"{quad} ." for quad in quads] != [line]:
        raise CortexError("invalid_arguments", "its statement is no canonical N-Quads line")
    statement: Quad = quads[0]
    return statement


def _check_signature(document: Document, quad: Quad) -> Check:
    if not document.states_its_hash():
        return _signature(Verdict.REFUTED, f"its statement has another hash than it says: {quad.predicate}")
    if not document.signature_holds():
        return _signature(Verdict.REFUTED, f"{document.signer} has not signed this")
    return _signature(Verdict.VERIFIED, f"signed by {document.signer} at {document.created}")


def _replayed(
    document: Document,
    quad: Quad,
    graph: NamespacedGraph,
    given: Mapping[str, str],
    timeout_s: float,
    stop: Stop | None,
) -> tuple[Judgement | None, str]:
    """What its rules say now; else why nobody can ask them."""
    first, *others = document.fields["rules"]
    if (first["name"], first["digest"]) != (CORE.name, CORE.digest):
        return None, f"its core rules, {first['digest']}, are not those of this software ({CORE.digest})"
    sets: list[RuleSet] = []
    for named in others:
        text = given.get(named["digest"])
        if text is None or hashlib.sha256(text.encode()).hexdigest() != named["digest"]:
            text = graph.proofs.rules(named["digest"])
        if text is None:
            return None, f"the rules {named['name']} {named['digest']} are not here"
        try:
            read_rules(text, named["name"])
        except CortexError as error:
            return None, told(error.message)
        sets.append(RuleSet(named["name"], named["version"], text))
    try:
        return judge(quad, graph, sets, timeout_s=timeout_s, stop=stop), ""
    except CortexError as error:
        if error.code == "cancelled":
            raise
        return None, error.message


def _check_premises(
    document: Document, quad: Quad, graph: NamespacedGraph, now: Judgement | None, stop: Stop | None
) -> tuple[bool, Check]:
    """Whether what the rules looked at has changed, and the check of it."""
    premises = document.premises
    if premises.is_whole and premises_of(premises.reads).to_json() != premises.to_json():
        return True, _rests(Verdict.REFUTED, "the premises that it lists are not those of its digest")
    if now is not None and now.premises.digest == premises.digest:
        return False, _rests(Verdict.VERIFIED, f"{premises.count} looks at the graph, each as it was")
    if not premises.is_whole:
        why = "they are too many to be listed" + ("" if now is None else ", and they have changed")
        return True, _rests(Verdict.NOT_EVALUATED, why)
    check = stop.check if stop is not None else _nothing
    try:
        said = looked_again(premises.reads, Looker(graph, quad, check))
    except (CortexError, ValueError) as error:
        if isinstance(error, CortexError) and error.code == "cancelled":
            raise
        return True, _rests(Verdict.NOT_EVALUATED, told(str(error)))
    if any("withdrawn" in each for each in said):
        return True, _rests(Verdict.REFUTED, *said)
    return bool(said), _rests(Verdict.VERIFIED, *said)


def _check_rules(document: Document, ours: RuleSet) -> Check:
    """Whether a proof is one by the rules of this host: whoever makes a proof chooses what it is made by."""
    named = {each["digest"] for each in document.fields["rules"]}
    why = () if ours.digest in named else (f"it was not made by the rules {ours.name} that are in force here",)
    verdict = Verdict.NOT_EVALUATED if why else Verdict.VERIFIED
    establishes = "the rules that are in force here for this namespace are among those that the proof names"
    return Check("rules", verdict, establishes, "that those of the skill are among them", why)


def _check_logic(document: Document, now: Judgement | None, why_not: str, *, changed: bool) -> Check:
    if now is None:
        return _holds(Verdict.NOT_EVALUATED, why_not)
    said = [f"{finding.message} [{name}, {finding.rule}]" for name, finding in now.violations]
    if now.verdict is not Verdict.VERIFIED:
        return _holds(Verdict.REFUTED, *(said or ["the rules do not verify it"]))
    if document.fields["verdict"] != now.verdict.value:
        return _holds(Verdict.REFUTED, f"it says {document.fields['verdict']}, and its rules say {now.verdict.value}")
    then, again = (_rulings(rules) for rules in (document.fields["rules"], [r.to_json() for r in now.rulings]))
    if then != again and not changed:
        return _holds(Verdict.REFUTED, "its rules say something else of the same premises")
    names = ", ".join(ruling.rules.name for ruling in now.rulings if ruling.applied)
    return _holds(Verdict.VERIFIED, f"by {names}")


def _rulings(rules: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """What rules said, without the words: those may change with the library that found them."""
    return [
        (
            each["digest"],
            each["applied"],
            each["verdict"],
            sorted((f["rule"], f["severity"], f.get("node", ""), f.get("path", "")) for f in each["findings"]),
        )
        for each in rules
    ]


def _nothing() -> None:
    return None


def _signature(verdict: Verdict, *reasons: str) -> Check:
    return Check(
        "signature",
        verdict,
        "the holder of the key that the proof names signed exactly this proof",
        "that this holder is to be trusted, or was right",
        reasons,
    )


def _stated(verdict: Verdict, *reasons: str) -> Check:
    return Check(
        "statement",
        verdict,
        "the statement that the proof speaks of is in the graph",
        "that it is true of the world",
        reasons,
    )


def _rests(verdict: Verdict, *reasons: str) -> Check:
    more = (f"and {len(reasons) - _MAX_REASONS} more",) if len(reasons) > _MAX_REASONS else ()
    return Check(
        "premises",
        verdict,
        "every statement that the rules looked at is still there",
        "that these statements are true, or proved themselves",
        (*reasons[:_MAX_REASONS], *more),
    )


def _holds(verdict: Verdict, *reasons: str) -> Check:
    return Check(
        "logic",
        verdict,
        "the statement keeps the rules that the proof names, in this graph, at the nodes that it relates",
        "that the statement is true, that the rules are good ones, or that other nodes keep them",
        reasons[:_MAX_REASONS],
    )


_OTHERS = (_stated, _rests, _holds)
