"""Checking a bundle: every link from the issuer's signature to the assertion, from the bundle alone.

Rules kept here:
- the verifier states whom to trust and what is sufficient; neither is taken from the bundle;
- each link is checked by the module of its kind, and against the others: all of them are about one statement, one skill
  and one version, and the evaluated rules are those that the skill's publisher signed;
- the rules are evaluated again, over a graph in memory with only the statement and the premises of the bundle;
- a link that is missing or could not be checked is `not checked`, and a requirement without its proof is refuted;
- a bundle without commitments has no issuer and no proof: nothing is missing, unless the verifier expects them.
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
from cortex_skills.features.proofs.bundle.bundle import Bundle
from cortex_skills.features.proofs.bundle.links import Link, check_skill, skill_text
from cortex_skills.features.proofs.bundle.requirements import Requirement
from cortex_skills.features.proofs.kinds import CheckContext, check_proof
from cortex_skills.features.proofs.logic.document import KIND as LOGIC
from cortex_skills.features.proofs.signing import MalformedError, TripleClaim, check_credential, issuer_of
from cortex_skills.features.proofs.signing.documents import check_document as check_json
from cortex_skills.features.proofs.verdict import Check, Verdict
from cortex_skills.features.proofs.zk.claims import Claim
from cortex_skills.features.proofs.zk.deadline import deadline_check
from cortex_skills.features.proofs.zk.proof import ZkProof
from cortex_skills.features.proofs.zk.verify import Expected, check_document
from cortex_skills.safe_io.display import shown_name
from cortex_skills.signatures.trust import Trust
from cortex_skills.skill_folder.snapshot import SHAPES

# What two parts of a Proof of Logic establish when the graph is the bundle's.
_IN_A_BUNDLE: dict[str, dict[str, Any]] = {
    "statement": {
        "establishes": "the proof is about the statement of the bundle",
        "does_not_establish": "that it is true of the world, or still in the graph where it was asserted",
    },
    "premises": {
        "establishes": "the bundle has every statement that the rules read",
        "does_not_establish": "that these statements are true, or still in the graph where they were read",
    },
}


@dataclass(frozen=True, slots=True)
class Trusted:
    """Whom a verifier trusts.

    Attributes:
        issuers: the issuers of commitments, as `did:key`.
        publishers: the publishers of skills, and the versions that were seen.
    """

    issuers: Collection[str] = ()
    publishers: Trust = field(default_factory=Trust)


def check_bundle(
    bundle: Bundle, trusted: Trusted, context: CheckContext, requirements: Sequence[Requirement] = ()
) -> list[Link]:
    """Check a bundle, link by link.

    Args:
        bundle: the bundle.
        trusted: whom the verifier trusts.
        context: the time, the settings, and the nonce that the verifier chose; its graph is not used.
        requirements: what must be proved about the subject.

    Raises:
        CortexError: `proof_failed`: the bundle's namespace is not valid; `cancelled`.
    """
    return list(_Chain(bundle, trusted, context).links(requirements))


@dataclass
class _Chain:
    bundle: Bundle
    trusted: Trusted
    context: CheckContext

    def links(self, requirements: Sequence[Requirement]) -> Iterator[Link]:
        graph, subject = self.graph, self.bundle.statement.subject
        assert isinstance(subject, NamedNode)  # noqa: S101 - as it was read
        yield from self._issuers()
        if self._expects_proofs(requirements) and not self.bundle.credentials:
            yield _missing("issuer", "nobody", "an issuer signed the commitments", "credential")
        verified: list[Claim] = []
        for document in self.bundle.proofs:
            links, claim = self._proof(document)
            yield from links
            if claim is not None and all(link.verdict is Verdict.VERIFIED for link in links):
                verified.append(claim)
        if self._expects_proofs(requirements) and not self.bundle.proofs:
            yield _missing("proof", "of nothing", "something is proved in zero knowledge", "zero-knowledge proof")
        for required in requirements:
            yield Link("requirement", required.text, (required.check(verified, subject, graph.names),))
        yield check_skill(self.bundle, self.acting, self.trusted.publishers, self.context.now)
        yield self._logic()
        yield self._assertion()

    @cached_property
    def graph(self) -> NamespacedGraph:
        """A graph in memory with the statement and its premises."""
        bundle = self.bundle
        assert isinstance(bundle.statement.graph_name, NamedNode)  # noqa: S101 - as it was read
        # The Proof of Logic names the namespace; its signature is checked with the other links.
        name, namespace = bundle.statement.graph_name.value, self._logic_text("namespace")
        try:
            if not namespace or not name.endswith(namespace):
                raise CortexError("proof_failed", "the statement is not in the graph of the namespace")
            graph = NamespacedGraph(open_store("memory:"), namespace, base=name.removesuffix(namespace))
        except (GraphError, CortexError) as error:
            message = f"the namespace of the bundle is not valid: {error}"
            raise CortexError("proof_failed", message, hint="ask its sender for the file again") from None
        graph.store.apply([bundle.statement, *bundle.premises])
        return graph

    @property
    def triple_id(self) -> str:
        """The id of the statement."""
        return self.graph.index.hash_of(self.bundle.statement)

    @property
    def acting(self) -> tuple[str, str]:
        """Name and version of the skill that made the assertion."""
        return self._logic_text("skill"), self._logic_text("skillVersion")

    def _logic_text(self, key: str) -> str:
        value = self.bundle.logic.get(key)
        return value if isinstance(value, str) else ""

    def _expects_proofs(self, requirements: Sequence[Requirement]) -> bool:
        """Whether the bundle has commitments, or the verifier named what only they can show."""
        asked = requirements or self.trusted.issuers or self.context.nonce is not None
        return bool(asked or self.bundle.proofs or self.bundle.credentials)

    def _issuers(self) -> Iterator[Link]:
        """The credentials of trusted issuers; all credentials when no issuer is trusted."""
        known = [each for each in self.bundle.credentials if issuer_of(each) in self.trusted.issuers]
        for credential in known or self.bundle.credentials:
            issuer = issuer_of(credential)
            is_trusted = issuer in self.trusted.issuers
            name = shown_name((issuer or "nobody")[:120])
            why = f"it is issued by {name}, who is not among the issuers whom you trust"
            trust = Check.of("trust", is_trusted, "you trust the issuer", "that the issuer is right", why)
            yield Link("issuer", _subject_of(credential), (trust, *self._credential(credential)))

    def _credential(self, credential: dict[str, Any], claim: TripleClaim | None = None) -> tuple[Check, ...]:
        try:
            check_json(credential)
        except MalformedError as error:
            return (_refuted("this credential is signed", str(error), part="signature"),)
        return tuple(check_credential(credential, self.context.now, claim))

    def _proof(self, document: dict[str, Any]) -> tuple[list[Link], Claim | None]:
        """The links of a zero-knowledge proof and of its anchors, and its claim."""
        context = self.context
        expected = Expected(context.now, self.trusted.issuers, context.nonce, self.triple_id)
        readable = [each for each in self.bundle.credentials if _is_readable(each)]
        if not context.config.skill_sandbox.allow_zk_proofs:
            return [_unchecked("zero-knowledge proofs are disabled here (skillSandbox.allowZkProofs)")], None
        limit = deadline_check(context.limit_ms, context.cancel)
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
        """Whether a proof is on behalf of the acting skill, and about the subject of the assertion."""
        skill = (proof.statement.skill, proof.statement.skill_version)
        yield Check.of(
            "skill",
            skill == self.acting,
            "it was made on behalf of the skill that made the assertion, in the same version",
            "that the skill looked at it",
            f"it was made for {skill_text(skill)}, and {skill_text(self.acting)} asserted",
        )
        commitments = proof.claim.commitments
        if commitments:
            is_same = any(NamedNode(each.subject) == self.bundle.statement.subject for each in commitments)
            yield Check.of(
                "subject",
                is_same,
                "the commitment is to a property of the subject of the assertion",
                "who the subject is",
                f"it is about {shown_name(commitments[0].subject)}",
            )

    def _logic(self) -> Link:
        content = rfc8785.dumps(self.bundle.logic).decode()
        shapes = self.bundle.files.get(SHAPES)
        signed_rules = None if shapes is None else hashlib.sha256(shapes).hexdigest()
        texts = {hashlib.sha256(text.encode()).hexdigest(): text for text in self.bundle.rules}
        if signed_rules is not None and shapes is not None:
            texts[signed_rules] = shapes.decode("utf-8", "replace")
        try:
            context = replace(self.context, graph=self.graph, triple=self.bundle.statement, rules=texts)
            checks = check_proof(LOGIC, content, context)
        except GraphError as error:
            checks = [_refuted("the rules hold", str(error), part="logic")]
        reworded = (replace(check, **_IN_A_BUNDLE.get(check.part, {})) for check in checks)
        return Link("logic", "the rules of the skill", (*reworded, self._rules(signed_rules)))

    def _rules(self, signed_rules: str | None) -> Check:
        rules = self.bundle.logic.get("rules")
        digests = [each.get("digest") for each in rules if isinstance(each, dict)] if isinstance(rules, list) else []
        applied = signed_rules is None or signed_rules in digests
        return Check.of(
            "rules",
            applied,
            "the rules are the core rules" + ("" if signed_rules is None else ", and those that the publisher signed"),
            "that these rules are good ones",
            "the rules that the publisher signed are not among the rules of the proof",
        )

    def _assertion(self) -> Link:
        bundle = self.bundle
        claim = TripleClaim(bundle.statement, self.graph.names.record(self.triple_id))
        name = f"by {shown_name((issuer_of(bundle.assertion) or 'nobody')[:120])}"
        return Link("assertion", name, self._credential(bundle.assertion, claim))


def _missing(name: str, about: str, establishes: str, what: str) -> Link:
    why = (f"the bundle has no {what}",)
    return Link(name, about, (Check("presence", Verdict.NOT_CHECKED, establishes, "anything else", why),))


def _unchecked(why: str) -> Link:
    check = Check("proof", Verdict.NOT_CHECKED, "the claim of the proof, without the value", "anything else", (why,))
    return Link("proof", "unchecked", (check,))


def _is_readable(credential: dict[str, Any]) -> bool:
    try:
        check_json(credential)
    except MalformedError:
        return False
    return True


def _subject_of(credential: dict[str, Any]) -> str:
    """The property that a credential is about, for display; no decision depends on it."""
    subject = credential.get("credentialSubject")
    keys = [key for key in subject if key != "id"] if isinstance(subject, dict) else []
    return _word(keys[0]) if keys else "nothing"


def _word(iri: str) -> str:
    """The last part of an IRI, for display."""
    return shown_name(iri.rstrip("/#:").replace("#", "/").replace(":", "/").rpartition("/")[2][:60])


def _refuted(establishes: str, why: str, part: str) -> Check:
    return Check.of(part, False, establishes, "anything else", why)
