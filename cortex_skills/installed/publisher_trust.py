"""How far the publisher of an artifact is trusted: when it is installed, and when it is opened.

Rules kept here:
- an artifact that was installed is opened while its publisher is trusted with the key that signed it; one that the user
  installed without trusting its publisher is opened as long as no other key of that publisher is trusted.
"""

from __future__ import annotations

from cortex_skills.artifacts import ArtifactManifest, ArtifactSignature, RuntimeVersions
from cortex_skills.artifacts.artifact_verification import TrustCheck
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.keys.did import did_of
from cortex_skills.signatures.trust_file import trust_of

HOST_VERSIONS = RuntimeVersions(1, "0.5.0")
ALLOWED = "allowed"


def publisher_trust(config: Config, *, allow_untrusted: bool = False) -> TrustCheck:
    """The check of a publisher; it returns `listed`, `first use` or `allowed`, and changes nothing.

    Args:
        config: the settings, with the trust store.
        allow_untrusted: whether an unknown publisher is allowed.

    """
    trust = trust_of(config).trust()

    def check(signature: ArtifactSignature, manifest: ArtifactManifest) -> str:
        key, known = did_of(signature.public_key), trust.publishers.get(manifest.publisher)
        if known is None and allow_untrusted:
            return ALLOWED
        if known is None:
            raise CortexError(
                "signature_invalid",
                f"{manifest.skill_id} is signed by {manifest.publisher}, whom you do not trust",
                hint=f"to trust the publisher: cortex-skills trust add {manifest.publisher} {key}",
            )
        if known.key != key:
            raise CortexError(
                "signature_invalid",
                f"{manifest.publisher} signs with another key than the trusted one",
                hint=f"if the publisher announced the new key: cortex-skills trust remove {manifest.publisher}",
            )
        return known.how

    return check
