"""Checking a bundle: every link from the issuer's signature to the assertion, with nothing but the bundle.

Rules kept here:
- whom to trust, and what is enough, the verifier says; nothing of it is taken from the bundle;
- each link is checked by the module of its kind, and against the others: all of them are about one statement, one
  skill and one version, and the rules that were asked are the ones that the skill's publisher signed;
- rules are asked again, in a graph of nothing but the statement and the premises that are shown; that is in memory;
- a link that is missing is refuted, and one that could not be checked is `not_evaluated`: neither is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import rfc8785
from pyoxigraph import NamedNode

from cortex_graph import GraphError, NamespacedGraph, open_store
from cortex_skills.errors import CortexError
from cortex_skills.escaping import shown_name
from cortex_skills.proofs.bundle.document import Bundle
from cortex_skills.proofs.bundle.links import Link
from cortex_skills.proofs.bundle.requirements import Requirement
from cortex_skills.proofs.bundle.skill import check_skill, named
from cortex_skills.proofs.kinds import Asked, check_proof
from cortex_skills.proofs.signing import MalformedError, check_credential, issuer_of
from cortex_skills.proofs.signing.credentials import Claim as Said
from cortex_skills.proofs.signing.documents import check_document as check_json
from cortex_skills.proofs.verdict import Check, Verdict
from cortex_skills.proofs.zk.claims import Claim
from cortex_skills.proofs.zk.patience import patience
from cortex_skills.proofs.zk.proof import ZkProof
from cortex_skills.proofs.zk.verifying import Expected, check_document
from cortex_skills.reading import SHAPES
from cortex_skills.signatures.trust import Trust

# What these parts of a Proof of Logic mean where there is no graph but what is shown.
_IN_A_BUNDLE: dict[str, dict[str, Any]] = {
    "statement": {
        "establishes": "the statement that the proof speaks of is the one that is shown",
        "does_not_establish": "that it is true of the world, or still in the graph that it was asserted in",
    },
    "premises": {
        "establishes": "every statement that the rules looked at is shown",
        "does_not_establish": "that these statements are true, or still in the graph that they were looked at in",
    },
}


@dataclass(frozen=True, slots=True)
class Trusted:
    """Whom a verifier trusts.

    Attributes:
        issuers: whose commitments count, as `did:key`.
        publishers: whose skills count, and which of their versions were seen.

    """

    issuers: Collection[str] = ()
    publishers: Trust = field(default_factory=Trust)


def check_bundle(
    bundle: Bundle, trusted: Trusted, asked: Asked, requirements: Sequence[Requirement] = ()
) -> list[Link]:
    """What holds of a bundle, link by link.

    Args:
        bundle: as it was read.
        trusted: whom the verifier trusts.
        asked: the time, the settings, the nonce that the verifier asked for; its graph is not looked at.
        requirements: what has to be proved of the subject.

    Raises:
        CortexError: `proof_failed`: the bundle is about no namespace; `cancelled`.

    """
    return list(_Chain(bundle, trusted, asked).links(requirements))


@dataclass
class _Chain:
    bundle: Bundle
    trusted: Trusted
    asked: Asked

    def links(self, requirements: Sequence[Requirement]) -> Iterator[Link]:
        graph, subject = self.graph, self.bundle.statement.subject
        assert isinstance(subject, NamedNode)  # noqa: S101 - as it was read
        yield from self._issuers()
        held: list[Claim] = []
        for document in self.bundle.proofs:
            links, claim = self._proof(document)
            yield from links
            if claim is not None and all(link.verdict is Verdict.VERIFIED for link in links):
                held.append(claim)
        if not self.bundle.proofs:
            yield Link("proof", "of nothing", (_missing("something is proved in zero knowledge", "no proof is there"),))
        for wanted in requirements:
            yield Link("requirement", wanted.text, (wanted.check(held, subject, graph.names),))
        yield check_skill(self.bundle, self.acting, self.trusted.publishers, self.asked.now)
        yield self._logic()
        yield self._assertion()

    @cached_property
    def graph(self) -> NamespacedGraph:
        """The statement and its premises, as the graph that they are of."""
        bundle = self.bundle
        assert isinstance(bundle.statement.graph_name, NamedNode)  # noqa: S101 - as it was read
        name, namespace = bundle.statement.graph_name.value, self.namespace
        try:
            if not namespace or not name.endswith(namespace):
                raise CortexError("proof_failed", "the statement is not in the graph of the namespace")
            graph = NamespacedGraph(open_store("memory:"), namespace, base=name.removesuffix(namespace))
        except (GraphError, CortexError) as error:
            message = f"the bundle is of no namespace that there could be: {error}"
            raise CortexError("proof_failed", message, hint="ask its sender for the file again") from None
        graph.store.apply([bundle.statement, *bundle.premises])
        return graph

    @property
    def namespace(self) -> str:
        """As the Proof of Logic has it, whose signature is checked with everything else."""
        return self._said("namespace")

    def _said(self, key: str) -> str:
        value = self.bundle.logic.get(key)
        return value if isinstance(value, str) else ""

    @property
    def acting(self) -> tuple[str, str]:
        """The skill that acted, and its version."""
        return self._said("skill"), self._said("skillVersion")

    def _issuers(self) -> Iterator[Link]:
        """Those of the issuers that are trusted; all of them when none is."""
        known = [each for each in self.bundle.credentials if issuer_of(each) in self.trusted.issuers]
        for credential in known or self.bundle.credentials:
            issuer = issuer_of(credential)
            is_known = issuer in self.trusted.issuers
            who = shown_name((issuer or "nobody")[:120])
            trust = Check(
                "trust",
                _verdict(is_known),
                "the issuer is one whom you trust",
                "that the issuer is right",
                () if is_known else (f"it is issued by {who}, who is not among the issuers whom you trust",),
            )
            yield Link("issuer", _subject_of(credential), (trust, *self._credential(credential)))
        if not self.bundle.credentials:
            yield Link("issuer", "nobody", (_missing("an issuer signed the commitments", "no credential is there"),))

    def _credential(self, credential: dict[str, Any], said: Said | None = None) -> tuple[Check, ...]:
        try:
            check_json(credential)
        except MalformedError as error:
            return (_missing("somebody signed this credential", str(error), part="signature"),)
        return tuple(check_credential(credential, self.asked.now, said))

    def _proof(self, document: dict[str, Any]) -> tuple[list[Link], Claim | None]:
        """A zero-knowledge proof, the anchors of its commitments, and what it claims."""
        expected = Expected(self.asked.now, self.trusted.issuers, self.asked.nonce, self.triple_id)
        readable = [each for each in self.bundle.credentials if _is_readable(each)]
        limit = patience(self.asked.limit_ms, self.asked.stop)
        if not self.asked.config.skill_sandbox.allow_zk_proofs:
            return [_unchecked("zero-knowledge proofs are switched off here (skillSandbox.allowZkProofs)")], None
        try:
            checks, proof = check_document(document, expected, lambda _: readable, check=limit)
        except CortexError as error:
            if error.code != "proof_timeout":
                raise
            return [_unchecked(error.message)], None
        if proof is None:
            return [Link("proof", "unreadable", tuple(checks))], None
        names = [_word(each.predicate) for each in proof.claim.commitments]
        about = f"{proof.claim.proof_type} of {' and '.join(names) or 'a key'}"
        anchors = [check for check in checks if check.part == "anchor"]
        parts = (*(check for check in checks if check.part != "anchor"), *self._belongs(proof))
        links = [Link("anchor", name, (check,)) for name, check in zip(names, anchors, strict=False)]
        return [Link("proof", about, parts), *links], proof.claim

    def _belongs(self, proof: ZkProof) -> Iterator[Check]:
        """That a proof is on behalf of the skill that asserted, and of the one whom the assertion is about."""
        said = (proof.statement.skill, proof.statement.skill_version)
        yield Check(
            "skill",
            _verdict(said == self.acting),
            "it was made on behalf of the skill that made the assertion, in the same version",
            "that the skill looked at it",
            () if said == self.acting else (f"it was made for {named(said)}, and {named(self.acting)} asserted",),
        )
        commitments = proof.claim.commitments
        if commitments:
            subject = self.bundle.statement.subject
            is_same = any(NamedNode(each.subject) == subject for each in commitments)
            yield Check(
                "subject",
                _verdict(is_same),
                "the commitment is to something of the very subject of the assertion",
                "who the subject is",
                () if is_same else (f"it is about {shown_name(commitments[0].subject)}",),
            )

    def _logic(self) -> Link:
        content = rfc8785.dumps(self.bundle.logic).decode()
        shapes = self.bundle.files.get(SHAPES)
        own = None if shapes is None else hashlib.sha256(shapes).hexdigest()
        texts = {hashlib.sha256(text.encode()).hexdigest(): text for text in self.bundle.rules}
        if own is not None and shapes is not None:
            texts[own] = shapes.decode("utf-8", "replace")
        try:
            asked = replace(self.asked, graph=self.graph, triple=self.bundle.statement, rules=texts)
            checks = check_proof("pol", content, asked)
        except GraphError as error:
            checks = [_missing("the rules hold", str(error), part="logic")]
        told = (replace(check, **_IN_A_BUNDLE.get(check.part, {})) for check in checks)
        return Link("logic", "the rules of the skill", (*told, *self._rules(own)))

    def _rules(self, own: str | None) -> Iterator[Check]:
        rules = self.bundle.logic.get("rules")
        digests = [each.get("digest") for each in rules if isinstance(each, dict)] if isinstance(rules, list) else []
        is_asked = own is None or own in digests
        yield Check(
            "rules",
            _verdict(is_asked),
            "the rules are the core ones" + ("" if own is None else ", and those that the publisher signed"),
            "that these rules are good ones",
            () if is_asked else ("the rules that its publisher signed are not those that were asked",),
        )

    def _assertion(self) -> Link:
        bundle, names = self.bundle, self.graph.names
        said = Said(bundle.statement, names.record(self.triple_id))
        name = f"by {shown_name((issuer_of(bundle.assertion) or 'nobody')[:120])}"
        return Link("assertion", name, self._credential(bundle.assertion, said))

    @property
    def triple_id(self) -> str:
        """The id of the statement."""
        return self.graph.index.hash_of(self.bundle.statement)


def _unchecked(why: str) -> Link:
    told = Check("proof", Verdict.NOT_EVALUATED, "what the proof claims, without the value", "anything else", (why,))
    return Link("proof", "unchecked", (told,))


def _is_readable(credential: dict[str, Any]) -> bool:
    try:
        check_json(credential)
    except MalformedError:
        return False
    return True


def _subject_of(credential: dict[str, Any]) -> str:
    """Which property a credential says something of, in a word; nothing is concluded from it."""
    subject = credential.get("credentialSubject")
    keys = [key for key in subject if key != "id"] if isinstance(subject, dict) else []
    return _word(keys[0]) if keys else "nothing"


def _word(iri: str) -> str:
    """The last part of an IRI, to be shown."""
    return shown_name(iri.rstrip("/#:").replace("#", "/").replace(":", "/").rpartition("/")[2][:60])


def _verdict(holds: bool) -> Verdict:
    return Verdict.VERIFIED if holds else Verdict.REFUTED


def _missing(establishes: str, why: str, part: str = "presence") -> Check:
    return Check(part, Verdict.REFUTED, establishes, "anything else", (why,))
