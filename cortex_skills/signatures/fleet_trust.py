"""What the hosts of a store trust together, read from the store before each call, and written to it by the owner.

Rules kept here:
- without `verification.owner` nothing is read, and nothing is shared;
- one read of the store for a look; a list that was seen before is not verified again;
- an accepted list is kept beside the trust store of the host, which is what everything else reads;
- a list that is withheld or older is an error, which is logged once, and so is its end;
- of two owners that share at once one decides again with what the other did.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from uuid import uuid4

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphBusy
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import CORTEX
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.claims import apply_claimed
from cortex_skills.errors import CortexError
from cortex_skills.keys import Key
from cortex_skills.signatures.shared_trust import SharedTrust, read_shared, refused
from cortex_skills.signatures.trust_file import TrustFile

log = logging.getLogger(__name__)

LIST = NamedNode(f"{CORTEX}sharedTrust")
_CHANGE = NamedNode(f"{CORTEX}sharedTrustChange")
_ATTEMPTS = 10


class FleetTrust:
    """The shared list of one namespace.

    Args:
        store: the store.
        names: of the namespace of this installation.
        file: the trust store of this host.

    Attributes:
        file: the same.
    """

    def __init__(self, store: GraphStore, names: Names, file: TrustFile) -> None:
        self._store = store
        self._names = names
        self._graph = names.publishers_graph
        self.file = file
        self._refused = ""  # the last error, which is logged once
        self._seen: tuple[str, tuple[int, ...] | None] | None = None

    def look(self) -> None:
        """Accept the list in the store, if it is a new one.

        Raises:
            CortexError: `signature_invalid`: the list is not the owner's, or is an older one; `config_invalid`: the
                trust store cannot be written.
            GraphError: the store cannot be read.
        """
        if not self.file.owner:
            return
        try:
            text = self._text()
            if not self._refused and self._seen == (text, self.file.shared_stamp()):
                return
            if text:
                self.file.accept(self._read(text), text)
            elif (kept := self.file.shared()) is not None:
                raise refused(f"is missing in the store, and list {kept.number} was accepted here before", "missing")
        except CortexError as error:
            if error.message != self._refused:
                self._refused = error.message
                log.error("every call is refused: %s", error.message)
            raise
        if self._refused:
            self._refused = ""
            log.warning("calls are answered again: what the hosts of this store trust is there")
        self._seen = (text, self.file.shared_stamp())

    def share(self, key: Key) -> SharedTrust:
        """Write what this host trusts and has revoked as the next list.

        Args:
            key: the owner's.

        Raises:
            CortexError: `invalid_arguments`: it is not the owner's key; `signature_invalid`, `config_invalid`.
            GraphError: the store cannot be written.
        """
        if not self.file.owner or key.did != self.file.owner:
            raise CortexError(
                "invalid_arguments",
                f"the key {key.name} is not that of the owner",
                hint=f"on every host of the store set verification.owner: {key.did}",
            )
        for _ in range(_ATTEMPTS):
            text, kept = self._text(), self.file.shared()
            before = self._read(text) if text else SharedTrust(self._graph.value, key.did)
            if kept is not None and kept.number >= before.number:  # the store was restored
                before = kept
            after = before.following(self.file.own(), datetime.now(UTC))
            number = self._names.beside("publishers", str(after.number))
            claim = Quad(number, _CHANGE, Literal(uuid4().hex), self._graph)
            new = Quad(self._graph, LIST, Literal(after.signed(key)), self._graph)
            old = list(self._store.quads(Pattern(self._graph, self._graph, LIST)))
            if apply_claimed(self._store, claim, [new], old):
                self.look()
                return after
        raise GraphBusy("what is trusted is shared by another process, and nothing was shared", hint="try again later")

    def _read(self, text: str) -> SharedTrust:
        return read_shared(text, self.file.owner, self._graph.value)

    def _text(self) -> str:
        page = self._store.match(Pattern(self._graph, self._graph, LIST), 1)
        if page.cursor is not None:
            raise refused("is there twice", "unreadable")
        return "".join(quad.object.value for quad in page.quads if isinstance(quad.object, Literal))
