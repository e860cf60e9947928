r"""Signatures of hosts, by which one runs what was approved elsewhere; no input or output.

Rules kept here:
- a request states the key of the host where it was asked for, and its signature: a server cannot make up a request that
  a host runs;
- a resolution for another host states the key of the host where it was made, and its signature: a host that names the
  keys of others (`approvals.hosts`) runs only what was approved there or here;
- a rule states the key of the host where it was made, where alone it holds.

    of a request     Ed25519 over "cortex-approval-host/1\0" + RFC 8785 JSON of the request without `signed`
    of a rule        Ed25519 over "cortex-approval-rule/1\0" + RFC 8785 JSON of the rule without `signed`
    of a resolution  Ed25519 over "cortex-approval-resolution/1\0" + the id + RFC 8785 JSON of it without `signed`
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from cortex_skills.audit.chain import Signer

OF_REQUEST = b"cortex-approval-host/1\0"
OF_RESOLUTION = b"cortex-approval-resolution/1\0"
OF_RULE = b"cortex-approval-rule/1\0"


@dataclass(frozen=True, slots=True)
class HostSignature:
    """What a stored text states about its signature, and what is signed; it is not verified yet.

    Attributes:
        key: a `did:key`.
        signature: in hexadecimal.
        message: what is signed.
    """

    key: str
    signature: str
    message: bytes = field(repr=False)

    def is_of(self, keys: Collection[str]) -> bool:
        """Whether it is a valid signature with one of some keys."""
        from cortex_skills.keys.ed25519 import is_signed

        if self.key not in keys:
            return False
        try:
            return is_signed(self.key, self.message, bytes.fromhex(self.signature))
        except ValueError:
            return False


def signed(signer: Signer | None, message: bytes) -> dict[str, Any]:
    """The member `signed` of a text with this message; none without a key."""
    return {} if signer is None else {"signed": {"key": signer.did, "signature": signer.sign(message).hex()}}


def read_signature(given: Mapping[str, Any], message: bytes) -> HostSignature | None:
    """The signature in a text with this message; None if it has none.

    Raises:
        ValueError: it is malformed.
    """
    if "signed" not in given:
        return None
    stated = given["signed"]
    if not isinstance(stated, dict) or not all(isinstance(stated.get(name), str) for name in ("key", "signature")):
        raise ValueError("no signature")
    return HostSignature(stated["key"], stated["signature"], message)
