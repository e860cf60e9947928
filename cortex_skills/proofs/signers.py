"""Whose signature under a proof counts here.

Rules kept here:
- the keys of this installation count, and the issuers that the settings name (`proofs.trustedIssuers`); nobody else's;
- a signature shows which key signed. Whether that key may speak is another question, and it is answered apart;
- a zero-knowledge proof has no signer: its anchor is what counts (`zk.anchor`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from cortex_skills.errors import CortexError
from cortex_skills.proofs.verdict import Check, Verdict

if TYPE_CHECKING:
    from cortex_skills.config import Config

SIGNER = "signer"
_DID = re.compile(r"did:key:z[1-9A-HJ-NP-Za-km-z]{40,60}")


def signers_of(config: Config) -> frozenset[str]:
    """The `did:key`s whose proofs count: those of this installation's keys, and of the issuers that it trusts."""
    from cortex_skills.proofs.keys.local import key_folder

    try:
        own = {known.did for known in key_folder(config).list() if known.did is not None}
    except CortexError:  # a folder that others can open is nobody's
        own = set()
    return frozenset({*own, *config.proofs.trusted_issuers})


def check_signer(kind: str, content: str, known: frozenset[str]) -> list[Check]:
    """Whether the one who signed a proof counts; nothing for a kind of proof that nobody signs.

    Args:
        kind: of the proof.
        content: the proof itself, as it is kept.
        known: those who count; see `signers_of`.

    """
    if kind not in _SIGNED:
        return []
    signer = _SIGNED[kind](content)
    counts = signer in known
    name = signer if signer is not None and _DID.fullmatch(signer) else "somebody without a did:key"
    why = "this installation or its settings name the key" if counts else "nobody here has said to trust them"
    return [
        Check(
            SIGNER,
            Verdict.VERIFIED if counts else Verdict.NOT_EVALUATED,
            "whoever signed the proof is trusted here: a key of this installation, or one of proofs.trustedIssuers",
            "that what they say is true",
            (f"{name}: {why}",),
        )
    ]


def _of_logic(content: str) -> str | None:
    from cortex_skills.proofs.logic.document import read_document

    try:
        return read_document(content).signer
    except CortexError:
        return None


def _of_credential(content: str) -> str | None:
    from cortex_skills.proofs.signing import MalformedError, read_document
    from cortex_skills.proofs.signing.checking import issuer_of

    try:
        return issuer_of(read_document(content))
    except MalformedError:
        return None


# Who a proof says has signed it, by its kind; whether they have is what its signature shows.
_SIGNED: dict[str, Callable[[str], str | None]] = {"pol": _of_logic, "credential": _of_credential}
