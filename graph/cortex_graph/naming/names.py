"""Names on the wire and their IRIs in the graph.

Rules kept here:
- a namespace `mayros` with the base `urn:cortex:` owns exactly the IRIs that start with `urn:cortex:mayros:`. The colon
  ends the namespace, so `may` owns nothing of `mayros`, and `Mayros` is a third namespace;
- the name `mayros:agent:a1` is the IRI `urn:cortex:mayros:agent:a1`. Inside the namespace `agent:a1` means the same,
  and `other:x` means `mayros:other:x`: no local name leaves the namespace;
- a namespace may have parts, `foo/observations` or `foo.v2`. Its IRIs have `%2F` for `/`, so that none of them is
  below another namespace; it is no prefix of Turtle or SPARQL;
- names and IRIs are in bijection, for every Unicode name. Percent-encoded (UTF-8, upper-case hex) are `%`, what
  RFC 3987 does not allow, spaces, invisible and direction marks, and `/ ? #`, so that no URL library can resolve a name
  to a path outside the namespace. Nothing is normalised. Lone surrogates and the empty name are refused;
- an allowed vocabulary (`rdf` → `http://www.w3.org/1999/02/22-rdf-syntax-ns#`) maps `rdf:type` to the standard IRI and
  back; without it the name is `mayros:rdf:type`. An understood vocabulary maps `rdf:type` to the standard IRI, which is
  read back as an absolute IRI;
- an absolute IRI is used unchanged: a scheme followed by `//`, or `urn:`, `did:`, `mailto:`
  (`https://schema.org/name`), and any other scheme in angle brackets (`<tag:example.org,2024:x>`). A name that looks
  like one is written with its namespace: `mayros:https://…` is always a name;
- `<mayros:agent:a1>` is the name `mayros:agent:a1`, because other Cortex servers write names so. The IRI
  `mayros:agent:a1`, whose scheme is the namespace, is written `<:mayros:agent:a1>`;
- `name` is the inverse of `node`: for every IRI `i`, `node(name(i)) == i`, for every namespace.

    >>> names = Names("mayros")
    >>> names.node("agent:a 1").value
    'urn:cortex:mayros:agent:a%201'
    >>> names.name("urn:cortex:mayros:agent:a%201")
    'mayros:agent:a 1'
    >>> names.node("https://schema.org/name").value
    'https://schema.org/name'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote

from pyoxigraph import NamedNode

from cortex_graph.exceptions import invalid
from cortex_graph.naming.namespace_form import NAMESPACE

DEFAULT_BASE = "urn:cortex:"

WELL_KNOWN_VOCABULARIES: Mapping[str, str] = MappingProxyType(
    {
        "dcterms": "http://purl.org/dc/terms/",
        "foaf": "http://xmlns.com/foaf/0.1/",
        "owl": "http://www.w3.org/2002/07/owl#",
        "prov": "http://www.w3.org/ns/prov#",
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "schema": "https://schema.org/",
        "sh": "http://www.w3.org/ns/shacl#",
        "skos": "http://www.w3.org/2004/02/skos/core#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
    }
)

_NAMESPACE = re.compile(NAMESPACE)
_PREFIX = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*")
_SHORT = 100  # characters
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*://|(?:urn|did|mailto):", re.IGNORECASE)
_BRACKETED = re.compile(r"<:?[a-z][a-z0-9+.-]*:.*>", re.IGNORECASE | re.DOTALL)

# RFC 3987 `iunreserved / sub-delims / ":" / "@"`, without spaces, invisible and direction-changing characters.
_KEPT = (
    "A-Za-z0-9._~!$&'()*+,;=:@\\-"
    "\u00a1-\u00ac\u00ae-\u061b\u061d-\u167f\u1681-\u180d\u180f-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u2fff"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufefe\uff00-\uffef"
    + "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 14))
    + "\U000e1000-\U000efffd"
)
_ALL_KEPT = re.compile(f"[{_KEPT}]+")
_NOT_KEPT = f"[^{_KEPT}]+"  # compiled at the first use, which is rare


def check_namespace(namespace: Any) -> str:
    """Return the namespace if it is well-formed (`NAMESPACE`).

    Raises:
        InvalidArguments: the namespace is malformed.
    """
    if not isinstance(namespace, str) or not _NAMESPACE.fullmatch(namespace):
        raise invalid(
            "namespace",
            f"is {namespace!r}, which is not a namespace",
            hint="a letter, then letters, digits, `_` or `-`; parts are separated by `/` or `.`",
        )
    return namespace


def is_namespace(name: str) -> bool:
    """Return whether a name is that of a namespace."""
    return bool(_NAMESPACE.fullmatch(name))


def namespace_of(segment: str) -> str | None:
    """Return the namespace whose graph is `{base}SEGMENT`; None if there is none."""
    namespace = segment.replace("%2F", "/")
    return namespace if "/" not in segment and is_namespace(namespace) else None


class Names:
    """The names and the graphs of one namespace.

    Args:
        namespace: see `NAMESPACE`.
        base: the start of the IRIs of all namespaces; ends with `:`, `/` or `#`.
        vocabularies: prefix → start of the IRIs, for the standard vocabularies that may be used.
        understood: the same, for those that `node` maps and `name` does not.

    Raises:
        InvalidArguments: the namespace, the base or a vocabulary is malformed.
    """

    def __init__(
        self,
        namespace: str,
        base: str = DEFAULT_BASE,
        vocabularies: Mapping[str, str] | None = None,
        understood: Mapping[str, str] | None = None,
    ) -> None:
        self.namespace = check_namespace(namespace)
        self.base = _check_base(base)
        self.vocabularies = {
            prefix: start
            for prefix, start in (vocabularies or {}).items()
            if _check_vocabulary(prefix, start) and prefix != namespace  # the namespace's own prefix wins
        }
        self._mapped = {**(understood or {}), **self.vocabularies}
        self._mapped.pop(namespace, None)
        self.prefix = f"{namespace}:"
        self.graph = NamedNode(f"{base}{namespace.replace('/', '%2F')}")
        # The IRI of a namespace contains no `/` after the base, so none of these can be the graph of another namespace.
        self.provenance_graph = self._beside("provenance")
        self.index_graph = self._beside("index")
        self.registry_graph = self._beside("registry")
        self.trust_graph = self._beside("trust")
        self.approvals_graph = self._beside("approvals")
        self.queries_graph = self._beside("queries")
        self.artifacts_graph = self._beside("artifacts")
        self.publishers_graph = self._beside("publishers")
        self.artifact_bytes_graph = self._beside("artifact-bytes")
        self.owner: str | None = None  # the agent whose memories these are the names of
        self.memories = f"{self.graph.value}/memories/"
        self._record = f"{self.graph.value}/triple/"
        self._own = f"{self.graph.value}:"
        self._own_length = len(self._own)
        self._longest_first = sorted(self.vocabularies.items(), key=lambda item: -len(item[1]))

    def node(self, name: Any, field: str = "name") -> NamedNode:
        """Return the IRI of a name in this namespace.

        Args:
            name: a local or full name, a name of an allowed vocabulary, or an absolute IRI.
            field: the name of the argument in errors.

        Raises:
            InvalidArguments: not a string, empty, not Unicode text, or a malformed absolute IRI.
        """
        if not isinstance(name, str):
            raise invalid(field, f"must be a string, not {type(name).__name__}")
        if name.startswith(self.prefix):
            return self._made(self._own, name[len(self.prefix) :], field)
        if ":" in name:
            prefix, _, local = name.partition(":")
            if prefix in self._mapped:
                return self._made(self._mapped[prefix], local, field)
            if _ABSOLUTE.match(name):
                return absolute(name, field)
            if name[0] == "<" and _BRACKETED.fullmatch(name):
                if self._is_ambiguous(name[1:-1]):
                    return self._made(self._own, name[1 + len(self.prefix) : -1], field)
                return absolute(name[1:-1].removeprefix(":"), field)
        return self._made(self._own, name, field)

    def datatype(self, iri: str, field: str) -> NamedNode:
        """Return a datatype by its IRI, or by its name in a vocabulary (`xsd:date`).

        Raises:
            InvalidArguments: it is neither.
        """
        return self.node(iri, field) if iri.partition(":")[0] in self._mapped else absolute(iri, field)

    def name(self, iri: str) -> str:
        """Return the name of an IRI; `node` maps it back to the same IRI."""
        if iri.startswith(self._own):
            if _ALL_KEPT.fullmatch(iri, self._own_length):
                return self.prefix + iri[self._own_length :]
            if text := _decoded(iri[self._own_length :]):
                return self.prefix + text
        for prefix, start in self._longest_first:
            if iri.startswith(start) and (text := _decoded(iri[len(start) :])):
                return f"{prefix}:{text}"
        if _ABSOLUTE.match(iri) and not iri.startswith(self.prefix) and iri.partition(":")[0] not in self._mapped:
            return iri
        return f"<:{iri}>" if self._is_ambiguous(iri) else f"<{iri}>"

    @property
    def start(self) -> str:
        """What the IRIs of the names of the namespace begin with."""
        return self._own

    @property
    def own_prefix(self) -> dict[str, str]:
        """The namespace as a prefix of Turtle and SPARQL; empty if it has parts."""
        return {self.namespace: self._own} if _PREFIX.fullmatch(self.namespace) else {}

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes of the namespace and of its vocabularies."""
        return {**self.own_prefix, **self.vocabularies}

    def record(self, triple_hash: str) -> NamedNode:
        """Return the IRI of the provenance record of a triple: `{base}NS/triple/HASH`."""
        return NamedNode(self._record + triple_hash)

    def beside(self, kind: str, *parts: str) -> NamedNode:
        """Return the IRI of a thing that is kept beside the names of the namespace: `{base}NS/KIND/PART/…`.

        Raises:
            InvalidArguments: a part is not Unicode text.
        """
        return NamedNode("/".join([self._own[:-1], kind, *(_encoded(part, kind) for part in parts)]))

    def agent(self, agent: str) -> NamedNode:
        """Return the IRI of an agent: `{base}NS:agent:ID`."""
        return self.node(f"{self.prefix}agent:{agent}", "agent")

    def agent_of(self, iri: str) -> str | None:
        """Return the agent whose IRI this is; None for any other IRI."""
        start = f"{self._own}agent:"
        return _decoded(iri[len(start) :]) if iri.startswith(start) else None

    def of_memories(self, agent: str) -> Names:
        """Return the same names with the graphs of an agent's memories: `{base}NS/memories/AGENT`, and its index."""
        names = copy(self)
        names.owner = agent
        names.graph = NamedNode(self.memories + _encoded(agent, "agent"))
        names.provenance_graph = NamedNode(f"{names.graph.value}/provenance")
        names.index_graph = NamedNode(f"{names.graph.value}/index")
        return names

    def remembering(self, graph: NamedNode) -> str | None:
        """Return the agent whose memories a graph contains; None for any other graph."""
        if not graph.value.startswith(self.memories) or "/" in graph.value[len(self.memories) :]:
            return None
        return unquote(graph.value[len(self.memories) :])

    def _beside(self, kind: str) -> NamedNode:
        return NamedNode(f"{self.graph.value}/{kind}")

    def _is_ambiguous(self, text: str) -> bool:
        """Return whether a text is a full name, and may be an IRI whose scheme is the namespace."""
        is_iri = _ABSOLUTE.match(text) or self.base.startswith(self.prefix)
        return text.startswith(self.prefix) and not is_iri

    @staticmethod
    def _made(start: str, local: str, field: str) -> NamedNode:
        if not local:
            raise invalid(field, "is an empty name", hint="give at least one character")
        return _recent(start, local, field) if len(local) <= _SHORT else NamedNode(start + _encoded(local, field))


_BESIDE = frozenset(
    ("provenance", "index", "registry", "approvals", "trust", "artifacts", "artifact-bytes", "publishers", "queries")
)


def kept_beside(iri: str, base: str) -> bool:
    """Return whether a graph is kept beside that of a namespace: records, index, registry, approvals, artifacts."""
    segment, _, kind = iri.removeprefix(base).partition("/")
    of_memories = kind.startswith("memories/") and kind.endswith(("/provenance", "/index"))
    is_beside = of_memories or kind in _BESIDE
    return is_beside and iri.startswith(base) and namespace_of(segment) is not None


def absolute(iri: Any, field: str) -> NamedNode:
    """Return an absolute IRI unchanged.

    Raises:
        InvalidArguments: it is not an absolute IRI of RFC 3987.
    """
    try:
        return NamedNode(iri)
    except (TypeError, ValueError) as error:
        raise invalid(
            field, f"is {iri!r}, which is not an absolute IRI: {error}", hint="percent-encode it, or use a name"
        ) from None


@lru_cache(1024)
def _recent(start: str, local: str, field: str) -> NamedNode:
    """The node of a short name: the same predicates, agents and skills are used again and again."""
    return NamedNode(start + _encoded(local, field))


def _encoded(text: str, field: str) -> str:
    if _ALL_KEPT.fullmatch(text):
        return text
    try:
        return re.sub(_NOT_KEPT, lambda found: quote(found[0], safe=""), text)
    except UnicodeEncodeError:
        raise invalid(field, f"is {text!r}, which holds a lone surrogate", hint="names are Unicode text") from None


def _decoded(local: str) -> str | None:
    """Return the text that `local` encodes; None when that text is encoded differently (`%41`, `%zz`, a bare `?`)."""
    try:
        text = unquote(local, errors="strict")
    except UnicodeDecodeError:
        return None
    return text if _encoded(text, "name") == local else None


def _check_base(base: Any) -> str:
    try:
        if isinstance(base, str) and base.endswith((":", "/", "#")) and not base.endswith("://"):
            return NamedNode(f"{base}a:b").value and base
    except ValueError:
        pass
    raise invalid(
        "base", f"is {base!r}, which cannot begin an IRI", hint="for instance `urn:cortex:` or `https://example.org/`"
    )


def _check_vocabulary(prefix: Any, start: Any) -> bool:
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        hint = "a letter, then letters, digits, `_` or `-`: `schema`"
        raise invalid("vocabularies", f"holds the prefix {prefix!r}", hint=hint)
    absolute(f"{start}a", "vocabularies")
    return True
