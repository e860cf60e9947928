"""The prefixes of a namespace: those of the standard vocabularies, and those that imported files declare.

Rules kept here:
- a prefix of a file is kept with the namespace when the file is imported, so that names are short from then on, in
  queries and in answers. Exports declare it, and copies and backups have it. It is a help for writing names, and never
  part of a triple;
- the first meaning of a prefix stays; the namespace, its vocabularies and the standard vocabularies have theirs, and
  the words that names of the namespace begin with (`agent:`, `skill:`) are none;
- at most `MOST` are kept, short ones in ASCII, so that a file cannot fill an answer with them;
- another process reads them within `_AGED_S`, on a server within a minute.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping

import orjson
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.exceptions import GraphError
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES, Names
from cortex_graph.naming.turtle_terms import TurtleTerms, json_string
from cortex_graph.naming.vocabulary import VALUE
from cortex_graph.store import GraphStore, Pattern

log = logging.getLogger(__name__)

MOST = 200
_AGED_S = 2.0
_AGED_ON_SERVERS_S = 60.0
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,23}")
_MAX_START = 300
_NO_PREFIXES = frozenset({"agent", "skill", "genid", "urn", "did", "mailto", "http", "https"})


class Prefixes:
    """The prefixes of one namespace. Safe to use from several threads."""

    def __init__(self, store: GraphStore, names: Names) -> None:
        self._store = store
        self._names = names
        self._node = NamedNode(f"{names.graph.value}/prefixes")
        self._pattern = Pattern(names.index_graph, self._node, VALUE)
        self._own = {**names.prefixes, **WELL_KNOWN_VOCABULARIES, **names.vocabularies}
        self._kept: dict[str, str] = {}
        self._joined: tuple[dict[str, str], dict[str, str]] = (self._kept, self._own)
        self._read_at = float("-inf")
        self._aged_s = _AGED_S if store.keeps_order else _AGED_ON_SERVERS_S

    def kept(self) -> dict[str, str]:
        """Return the prefixes of imported files, and the starts of the IRIs that they abbreviate."""
        if time.monotonic() - self._read_at >= self._aged_s:
            read = self._read()
            self._kept = self._kept if read == self._kept else read
            self._read_at = time.monotonic()
        return self._kept

    def all(self) -> Mapping[str, str]:
        """Return every prefix: of the namespace, of the standard vocabularies, and of imported files.

        It is the same object until a prefix is kept.
        """
        kept = self.kept()
        if kept is not self._joined[0]:
            self._joined = (kept, {**kept, **self._own} if kept else self._own)
        return self._joined[1]

    def terms(self, quoted: Callable[[str], str] = json_string) -> TurtleTerms:
        """Return what writes terms with these prefixes, and reads them.

        Args:
            quoted: returns a text in quotes.
        """
        return TurtleTerms(self.all(), self._own, quoted)

    def keep(self, declared: Mapping[str, str]) -> dict[str, str]:
        """Keep the prefixes that a file declares, where they have no other meaning; a store that cannot logs it.

        Returns:
            Those that have another one, with that, for IRIs that no other prefix abbreviates.
        """
        known = self._read()
        taken = set(self.all().values())
        new = {
            prefix: start
            for prefix, start in declared.items()
            if prefix not in known and self._may_be_kept(prefix, start) and start not in taken
        }
        other = {
            prefix: here
            for prefix, start in declared.items()
            if (here := self.all().get(prefix, start)) != start and start not in (*taken, *new.values())
        }
        if not new:
            return other
        kept = dict(list({**known, **new}.items())[:MOST])
        quad = Quad(self._node, VALUE, Literal(orjson.dumps(kept).decode()), self._names.index_graph)
        try:
            self._store.apply([quad], [old for old in self._store.quads(self._pattern) if old != quad])
        except GraphError as error:  # the file is imported, and its names are written in full
            log.warning("the prefixes of the file are not kept: %s", error.message)
            return other
        self._kept, self._read_at = kept, time.monotonic()
        return other

    def _may_be_kept(self, prefix: str, start: str) -> bool:
        if not _PREFIX.fullmatch(prefix) or prefix in _NO_PREFIXES or prefix in self._own:
            return False
        return len(start) <= _MAX_START and start.endswith(("/", "#", ":", "=", "-", "_")) and _is_iri(start)

    def _read(self) -> dict[str, str]:
        try:
            texts = [quad.object.value for quad in self._store.quads(self._pattern) if isinstance(quad.object, Literal)]
        except GraphError:  # the names are written in full then
            return self._kept
        found: dict[str, str] = {}
        for text in texts:
            try:
                document = orjson.loads(text)
            except ValueError:
                continue
            if isinstance(document, dict):
                valid = {p: s for p, s in document.items() if isinstance(s, str) and self._may_be_kept(p, s)}
                found = {**valid, **found}
        return found


def _is_iri(text: str) -> bool:
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True
