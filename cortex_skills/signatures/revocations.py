"""The revoked keys of now, for skills that are loaded already.

Rules kept here:
- the trust store is read again when its file has changed, so a call after a revocation sees it, in every process;
- a store that cannot be used is an error, not a store without revocations.
"""

from __future__ import annotations

from collections.abc import Mapping

from cortex_skills.signatures.trust import RevokedKey
from cortex_skills.signatures.trust_file import TrustFile


class Revocations:
    """The revoked keys of a trust store. Safe to use from several threads.

    Args:
        file: the trust store.
    """

    def __init__(self, file: TrustFile) -> None:
        self._file = file
        self._known: tuple[tuple[int, ...] | None, Mapping[str, RevokedKey]] | None = None

    def keys(self) -> Mapping[str, RevokedKey]:
        """The revoked keys by their `did:key`.

        Raises:
            CortexError: `config_invalid`: the trust store cannot be used.
        """
        state, known = self._state(), self._known
        if known is None or known[0] != state:
            known = self._known = (state, self._file.trust().revoked)
        return known[1]

    def _state(self) -> tuple[int, ...] | None:
        """What changes with each write of the file; None without a file."""
        try:
            found = self._file.path.stat()
        except OSError:
            return None
        return (found.st_ino, found.st_mtime_ns, found.st_size)
