"""The vectors of the specification, step by step."""

from __future__ import annotations

import hashlib

from cortex_skills.features.proofs.signing.canonical import canonical
from cortex_skills.features.proofs.signing.jsonld import to_rdf
from cortex_skills.features.proofs.signing.suite import sign, signed_bytes, verify_proof
from cortex_skills.keys.multibase import decode
from tests.docs.conformance_page import cases_in, counts_of
from tests.proofs.signing import vectors


def options(method: str) -> dict[str, str]:
    return {
        "type": "DataIntegrityProof",
        "cryptosuite": "eddsa-rdfc-2022",
        "created": vectors.CREATED,
        "verificationMethod": method,
        "proofPurpose": "assertionMethod",
    }


def test_the_canonical_forms_are_the_published_ones() -> None:
    contexts = vectors.contexts()
    document = canonical(to_rdf(vectors.DOCUMENT, contexts).dataset)
    assert document.decode() == vectors.CANONICAL_DOCUMENT
    config = {**options(vectors.METHOD), "@context": vectors.DOCUMENT["@context"]}
    proof = canonical(to_rdf(config, contexts).dataset)
    assert proof.decode() == vectors.CANONICAL_OPTIONS
    assert hashlib.sha256(document).hexdigest() == vectors.DOCUMENT_HASH
    assert hashlib.sha256(proof).hexdigest() == vectors.OPTIONS_HASH


def test_what_is_signed_is_both_hashes_with_the_options_first() -> None:
    signed = signed_bytes(vectors.DOCUMENT, options(vectors.METHOD), vectors.contexts())
    assert signed.hex() == vectors.OPTIONS_HASH + vectors.DOCUMENT_HASH
    assert vectors.key().sign(signed).hex() == vectors.SIGNATURE


def test_the_key_is_the_published_one() -> None:
    assert vectors.key().did == f"did:key:{vectors.PUBLIC}"


def test_the_signed_document_is_the_published_one() -> None:
    signed = sign(vectors.DOCUMENT, vectors.key(), vectors.METHOD, vectors.CREATED, vectors.contexts())
    assert signed == {**vectors.DOCUMENT, "proof": {**options(vectors.METHOD), "proofValue": vectors.PROOF_VALUE}}
    assert decode(signed["proof"]["proofValue"], 64).hex() == vectors.SIGNATURE
    assert verify_proof(signed, vectors.key().public, vectors.contexts())


def test_the_vector_of_the_earlier_edition_is_valid_too() -> None:
    proof = {**options(vectors.EARLIER_METHOD), "proofValue": vectors.EARLIER_PROOF_VALUE}
    assert verify_proof({**vectors.DOCUMENT, "proof": proof}, vectors.key().public, vectors.contexts())
    changed = {**vectors.DOCUMENT, "name": "Alumni credential", "proof": proof}
    assert not verify_proof(changed, vectors.key().public, vectors.contexts())


def test_the_page_of_conformance_counts_these() -> None:
    assert counts_of("eddsa-rdfc-2022") == (cases_in(globals()) - 1, 0)
