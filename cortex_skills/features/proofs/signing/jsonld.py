"""JSON-LD 1.1 documents as RDF, offline and without loss.

Rules kept here:
- the `@context` of a document is a list of pinned addresses (`contexts`), at its top level only: a document can neither
  define a context nor change one in a nested object, so every term has the meaning that its standard gives it;
- nothing is fetched;
- everything that JSON-LD would drop silently is an error: a term that no context maps, a relative IRI, an unknown
  keyword, a blank node as a predicate. So the signature covers everything in a signed document;
- keywords that change the interpretation of a document (`@base`, `@vocab`, `@reverse`, `@nest`, `@graph`, …) are
  refused;
- so is an `xsd:double` in text that is not canonical: some readers rewrite it, and the signature would be valid only
  for the others.

The standards: JSON-LD 1.1 and its API (expansion, and deserialization to RDF, §8); the expansion itself is PyLD's.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from pyoxigraph import BlankNode, Dataset, Literal, NamedNode, Quad

from cortex_graph.naming.vocabulary import RDF, TYPE, XSD
from cortex_skills.config.extras import check_extra
from cortex_skills.features.proofs.signing.contexts import pinned
from cortex_skills.features.proofs.signing.documents import MalformedError, UnsupportedError, check_document

_KEYWORDS = frozenset({"@id", "@type", "@value", "@language", "@list", "@set"})
_COLLECTIONS = frozenset({"@list", "@set"})
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LABEL = re.compile(r"_:[A-Za-z0-9]{1,64}")
_FIRST, _REST, _NIL = (NamedNode(f"{RDF}{name}") for name in ("first", "rest", "nil"))
_BOOLEAN, _INTEGER, _DOUBLE = (NamedNode(f"{XSD}{name}") for name in ("boolean", "integer", "double"))
_INTEGERS_END = 1e21  # a number from here on is a double (JSON-LD API, §8.6)

_expanding = threading.Lock()  # PyLD's caches are not thread-safe
_resolved: dict[str, Any] = {}

Node = NamedNode | BlankNode
Contexts = Mapping[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RdfDocument:
    """A document as RDF.

    Attributes:
        root: the node of the document's top-level object.
        dataset: all quads of the document.
    """

    root: Node
    dataset: Dataset


def to_rdf(document: dict[str, Any], contexts: Contexts | None = None) -> RdfDocument:
    """Convert a document to RDF.

    Args:
        document: a JSON object with its `@context`.
        contexts: the contexts that it may name, by address; by default the pinned ones.

    Raises:
        MalformedError: a part of the document would be lost, or is not RDF.
        UnsupportedError: it names an unknown context.
    """
    root = _expanded(document, pinned() if contexts is None else contexts)
    reader = _Reader()
    subject = reader.subject(root)
    return RdfDocument(subject, Dataset(reader.node(root, subject)))


def _expanded(document: dict[str, Any], contexts: Contexts) -> dict[str, Any]:
    check_extra("credentials", "signing or verifying a credential")
    from pyld.context_resolver import ContextResolver
    from pyld.jsonld import JsonLdError, JsonLdProcessor

    check_document(document)
    _check_contexts(document.get("@context"), contexts)
    _check_keys({key: value for key, value in document.items() if key != "@context"})

    def load(address: str, _: Any) -> dict[str, Any]:
        if address not in contexts:
            raise JsonLdError("not fetched", "jsonld.LoadDocumentError", code="loading document failed")
        return {
            "contextUrl": None,
            "documentUrl": address,
            "document": contexts[address],
            "contentType": "application/ld+json",
        }

    with _expanding:
        cache = _resolved if contexts is pinned() else {}
        options = {"base": None, "documentLoader": load, "contextResolver": ContextResolver(cache, load)}
        try:
            expanded = JsonLdProcessor(on_property_dropped=_dropped).expand(document, options)
        except JsonLdError as error:
            raise MalformedError(f"the document is not JSON-LD: {_reason(error)}") from None
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, RecursionError) as error:
            raise MalformedError(f"the document is not JSON-LD: {type(error).__name__}") from error
    if len(expanded) != 1 or not isinstance(expanded[0], dict):
        raise MalformedError("the document is not one object")
    found: dict[str, Any] = expanded[0]
    return found


def _check_contexts(given: Any, contexts: Contexts) -> None:
    addresses = given if isinstance(given, list) else [given]
    if not addresses or not all(isinstance(address, str) for address in addresses):
        raise UnsupportedError("its @context is not a list of addresses: an embedded context could redefine every term")
    if len(set(addresses)) < len(addresses):
        raise MalformedError("its @context names an address twice")
    for address in addresses:
        if address not in contexts:
            raise UnsupportedError(f"the context {address[:200]!r} is not known, and contexts are not fetched")


def _check_keys(value: Any) -> None:
    if isinstance(value, dict):
        for key, part in value.items():
            if key.startswith("@") and key not in _KEYWORDS:
                raise MalformedError(f"the keyword {key[:40]!r} is not allowed here")
            if key == "@language" and "@value" not in value:
                raise MalformedError("an object has @language without @value: the signature would not cover it")
            if key == "@list" and any(isinstance(item, list) or _COLLECTIONS & set(item) for item in _items(part)):
                raise UnsupportedError("it has a list or a set within a list, which readers interpret differently")
            _check_keys(part)
    elif isinstance(value, list):
        for part in value:
            _check_keys(part)


def _items(listed: Any) -> list[Any]:
    """The items of a list that may be collections."""
    return [item for item in (listed if isinstance(listed, list) else [listed]) if isinstance(item, list | dict)]


def _dropped(term: Any) -> NoReturn:
    raise MalformedError(f"{str(term)[:100]!r} is not in a context: the signature would not cover it")


def _reason(error: Any) -> str:
    cause = error
    while getattr(cause, "cause", None) is not None:
        cause = cause.cause
    return str(getattr(cause, "code", None) or type(cause).__name__)[:200]


class _Reader:
    """Converts an expanded document to quads; an unknown form is an error."""

    def __init__(self) -> None:
        self._labels: dict[str, BlankNode] = {}

    def subject(self, node: dict[str, Any]) -> Node:
        """The node of a node object."""
        given = node.get("@id")
        return BlankNode() if given is None else self._reference(given)

    def node(self, node: dict[str, Any], subject: Node) -> Iterator[Quad]:
        """The quads of a node object and of the nested node objects."""
        for key, values in node.items():
            if key == "@id":
                continue
            if not isinstance(values, list):
                raise MalformedError(f"{key[:100]!r} has a value of an unknown form")
            if key == "@type":
                yield from (Quad(subject, TYPE, self._reference(value)) for value in values)
                continue
            predicate = _iri(key)
            for value in values:
                object_, more = self._object(value)
                yield Quad(subject, predicate, object_)
                yield from more

    def _object(self, value: Any) -> tuple[Node | Literal, Iterator[Quad]]:
        if not isinstance(value, dict):
            raise MalformedError("a value is of an unknown form")
        if "@value" in value:
            return _literal(value), iter(())
        if "@list" in value:
            return self._list(value)
        subject = self.subject(value)
        return subject, self.node(value, subject)

    def _list(self, value: dict[str, Any]) -> tuple[Node, Iterator[Quad]]:
        items = value["@list"]
        if set(value) != {"@list"} or not isinstance(items, list):
            raise MalformedError("a list is of an unknown form")
        cells: list[Node] = [*(BlankNode() for _ in items), _NIL]

        def quads() -> Iterator[Quad]:
            for cell, rest, item in zip(cells, cells[1:], items, strict=False):
                object_, more = self._object(item)
                yield Quad(cell, _FIRST, object_)
                yield Quad(cell, _REST, rest)
                yield from more

        return cells[0], quads()

    def _reference(self, given: Any) -> Node:
        if isinstance(given, str) and _LABEL.fullmatch(given):
            return self._labels.setdefault(given, BlankNode())
        return _iri(given)


def _iri(given: Any) -> NamedNode:
    try:
        if isinstance(given, str) and not given.startswith(("_:", "@")):
            return NamedNode(given)
    except ValueError:
        pass
    raise MalformedError(f"{str(given)[:100]!r} is not an absolute IRI: the signature would not cover it")


def _literal(value: dict[str, Any]) -> Literal:
    """The literal of a value object (JSON-LD API, §8.6)."""
    unknown = set(value) - {"@value", "@type", "@language"}
    if unknown or {"@type", "@language"} <= set(value):
        raise MalformedError(f"a value has {', '.join(sorted(unknown)) or 'both @type and @language'}")
    content, given = value["@value"], value.get("@type")
    datatype = None if given is None else _iri(given)
    if isinstance(content, bool):
        return Literal("true" if content else "false", datatype=datatype or _BOOLEAN)
    if isinstance(content, int | float):
        if float(content).is_integer() and abs(content) < _INTEGERS_END and datatype != _DOUBLE:
            return Literal(str(int(content)), datatype=datatype or _INTEGER)
        return Literal(_double_text(float(content)), datatype=datatype or _DOUBLE)
    if not isinstance(content, str):
        raise MalformedError("a value is of an unknown form")
    if datatype == _DOUBLE and content != canonical_double(content):
        raise UnsupportedError(f"{content[:40]!r} is an xsd:double that some readers rewrite before it is signed")
    try:
        language = value.get("@language")
        return Literal(content, language=language) if language is not None else Literal(content, datatype=datatype)
    except (TypeError, ValueError):
        raise MalformedError("a value has an invalid language tag or datatype") from None


def canonical_double(text: str) -> str | None:
    """The text of an `xsd:double` as JSON-LD writes numbers (JSON-LD API, §8.6): 16 digits, and no negative zero.

    Returns None when the text is not a finite number.
    """
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    written = _double_text(number) if math.isfinite(number) else "INF"
    return written if math.isfinite(float(written)) else None


def _double_text(number: float) -> str:
    mantissa, _, exponent = f"{number + 0.0:.15E}".partition("E")
    whole, _, fraction = mantissa.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}E{int(exponent)}"
