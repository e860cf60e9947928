"""Whether the key of an index is trusted that was not seen before.

Rules kept here:
- a key that a person gives is trusted, and no other then; without one, the key of a publisher that the trust store
  lists with it is. A listed publisher signs with its keys only, and a revoked key signs nothing, also if it was
  seen before.
"""

from __future__ import annotations

from cortex_skills.features.artifacts.index.index_error import badly_signed
from cortex_skills.features.artifacts.index.snapshot_check import KeyTrust
from cortex_skills.features.artifacts.package import ArtifactSignature
from cortex_skills.keys import did_of
from cortex_skills.signatures.named_keys import read_key
from cortex_skills.signatures.trust import Trust, changed_key


def key_trust(trust: Trust, given: str | None = None) -> KeyTrust:
    """The check of a key for `fetch`.

    Args:
        trust: the state of the trust store.
        given: a key that a person gives, in a form of `read_key`; None for none.

    Raises:
        CortexError: `invalid_arguments`: what was given is no key.
    """
    wanted = read_key(given) if given is not None else None

    def trusted(signature: ArtifactSignature) -> bool:
        key = did_of(signature.public_key)
        trust.check_not_revoked(key, signature.publisher)
        if wanted is not None and key != wanted:
            raise badly_signed(f"the index is signed with {key}, not with the key that was given")
        if wanted is not None:
            return True
        known = trust.publishers.get(signature.publisher)
        if known is not None and key not in known.keys:
            raise changed_key(known, key)
        return known is not None

    return trusted
