"""The JSON-LD contexts that documents may use: local copies, pinned by their digests.

Rules kept here:
- nothing is fetched: a document that names another context cannot be checked;
- a copy is used only if its SHA-256 is the pinned one, because the context decides what a signature covers.

`credentials-v2.jsonld` is the context of the Verifiable Credentials Data Model 2.0 and, within it, that of Data
Integrity proofs; © W3C, under the W3C Software and Document License (`LICENSE.md` beside it).
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

CREDENTIALS_V2 = "https://www.w3.org/ns/credentials/v2"

_PINNED = {
    CREDENTIALS_V2: ("credentials-v2.jsonld", "8a9f494a89ecc51db093e90e84713e07e84d6d9204364a9b3c7868b21751236f"),
}


@cache
def pinned() -> dict[str, dict[str, Any]]:
    """The contexts by address.

    Raises:
        RuntimeError: a copy does not have the pinned digest.
    """
    contexts = {}
    for address, (name, digest) in _PINNED.items():
        data = (files(__name__) / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != digest:
            raise RuntimeError(f"the copy of {address} in this installation was changed: reinstall the package")
        contexts[address] = json.loads(data)
    return contexts
