"""The published test vector: Data Integrity EdDSA Cryptosuites 1.0, B.1 "Representation: eddsa-rdfc-2022".

Copyright © 2025 World Wide Web Consortium, W3C Software and Document License.
"""

from __future__ import annotations

from typing import Any

from cortex_skills.features.proofs.signing.contexts import pinned
from cortex_skills.keys import Key
from cortex_skills.keys.multibase import decode

PUBLIC = "z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2"
SECRET = "z3u2en7t5LR2WtQH5PfFqMqwVHBeXouLzo6haApm8XHqvjxq"
METHOD = f"did:key:{PUBLIC}#{PUBLIC}"
CREATED = "2023-02-24T23:36:38Z"

DOCUMENT: dict[str, Any] = {
    "@context": ["https://www.w3.org/ns/credentials/v2", "https://www.w3.org/ns/credentials/examples/v2"],
    "id": "urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33",
    "type": ["VerifiableCredential", "AlumniCredential"],
    "name": "Alumni Credential",
    "description": "A minimum viable example of an Alumni Credential.",
    "issuer": "https://vc.example/issuers/5678",
    "validFrom": "2023-01-01T00:00:00Z",
    "credentialSubject": {"id": "did:example:abcdefgh", "alumniOf": "The School of Examples"},
}

_NODE = "<urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33>"
_A = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_DATE_TIME = "<http://www.w3.org/2001/XMLSchema#dateTime>"
CANONICAL_DOCUMENT = (
    "<did:example:abcdefgh> <https://www.w3.org/ns/credentials/examples#alumniOf> "
    '"The School of Examples" .\n'
    f"{_NODE} {_A} <https://www.w3.org/2018/credentials#VerifiableCredential> .\n"
    f"{_NODE} {_A} <https://www.w3.org/ns/credentials/examples#AlumniCredential> .\n"
    f'{_NODE} <https://schema.org/description> "A minimum viable example of an Alumni Credential." .\n'
    f'{_NODE} <https://schema.org/name> "Alumni Credential" .\n'
    f"{_NODE} <https://www.w3.org/2018/credentials#credentialSubject> <did:example:abcdefgh> .\n"
    f"{_NODE} <https://www.w3.org/2018/credentials#issuer> <https://vc.example/issuers/5678> .\n"
    f'{_NODE} <https://www.w3.org/2018/credentials#validFrom> "2023-01-01T00:00:00Z"^^{_DATE_TIME} .\n'
)
CANONICAL_OPTIONS = (
    f'_:c14n0 <http://purl.org/dc/terms/created> "{CREATED}"^^{_DATE_TIME} .\n'
    f"_:c14n0 {_A} <https://w3id.org/security#DataIntegrityProof> .\n"
    '_:c14n0 <https://w3id.org/security#cryptosuite> "eddsa-rdfc-2022"'
    "^^<https://w3id.org/security#cryptosuiteString> .\n"
    "_:c14n0 <https://w3id.org/security#proofPurpose> <https://w3id.org/security#assertionMethod> .\n"
    f"_:c14n0 <https://w3id.org/security#verificationMethod> <{METHOD}> .\n"
)
DOCUMENT_HASH = "517744132ae165a5349155bef0bb0cf2258fff99dfe1dbd914b938d775a36017"
OPTIONS_HASH = "bea7b7acfbad0126b135104024a5f1733e705108f42d59668b05c0c50004c6b0"
SIGNATURE = (
    "4d8e53c2d5b3f2a7891753eb16ca993325bdb0d3cfc5be1093d0a18426f5ef85"
    "78cadc0fd4b5f4dd0d1ce0aefd15ab120b7a894d0eb094ffda4e6553cd1ed50d"
)
PROOF_VALUE = "z2YwC8z3ap7yx1nZYCg4L3j3ApHsF8kgPdSb5xoS1VR7vPG3F561B52hYnQF9iseabecm3ijx4K1FBTQsCZahKZme"

# An earlier edition's, where the verification method is an address of the issuer.
EARLIER_METHOD = f"https://vc.example/issuers/5678#{PUBLIC}"
EARLIER_PROOF_VALUE = "z21EVs3eXERqTn4acNHT9viboqgzUaQ3kTmhPT3eA8qrVPE7CrQq78WkzctnMX5W4CrzcKnHw8V6dvy5pgWYCU5e9"


def key() -> Key:
    """The key of the vectors."""
    return Key("w3c", decode(SECRET, 34)[2:])


def contexts() -> dict[str, Any]:
    """The pinned contexts, and the one of the examples: it maps every term, so nothing that is used has it."""
    examples = {"@context": {"@vocab": "https://www.w3.org/ns/credentials/examples#"}}
    return {**pinned(), "https://www.w3.org/ns/credentials/examples/v2": examples}
