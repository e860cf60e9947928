"""The settings of the feature: `proofs`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cortex_graph.naming.namespace_form import NAMESPACE
from cortex_skills.config.core_settings import KeySettings
from cortex_skills.config.setting import PRIVATE, READ_ONLY, setting


@dataclass(frozen=True, slots=True)
class ProofSettings(KeySettings):
    """The shapes for proofs, the signing key, and the trusted issuers of commitments."""

    shapes: Mapping[str, str] = setting(
        {},
        "The file of SHACL shapes (Turtle) for each namespace, by its name.",
        path=READ_ONLY,
        additionalProperties={"type": "string", "minLength": 1, "maxLength": 4096},
        propertyNames={"pattern": f"^{NAMESPACE}$"},
        maxProperties=1000,
    )
    trusted_issuers: tuple[str, ...] = setting(
        (),
        "The trusted issuers of commitments: a list of did:key.",
        items={"description": "A did:key of an Ed25519 key.", "pattern": "^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{40,60}$"},
        maxItems=1000,
        uniqueItems=True,
    )
    openings: str = setting(
        "",
        "The folder of the encrypted openings of commitments; empty for one in the user's data folder.",
        path=PRIVATE,
        maxLength=4096,
    )
    openings_key: str = setting(
        "",
        "The file of the key that encrypts them; empty for one in the user's settings folder.",
        path=PRIVATE,
        maxLength=4096,
    )
