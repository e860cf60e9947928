"""The triples of a page in the formats of RDF, as CSV, and as a nanopublication.

Rules kept here:
- a form has exactly the triples that the store has: nothing is cleaned, clipped or escaped beyond its format; only
  `csv=sheet` changes cells, so that no spreadsheet takes one for a formula;
- RDF/XML that an XML parser would refuse, or that reads back as other triples, is refused;
- a form has at most `MAX_TRIPLES` triples: more are exported by `graph export`, or by SPARQL.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from xml.parsers.expat import ExpatError, ParserCreate

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse, serialize

from cortex_graph import NamespacedGraph
from cortex_graph.checks.datetimes import date_time, to_milliseconds
from cortex_graph.naming.vocabulary import AGENT, ATTRIBUTED_TO, DATE_TIME, GENERATED_AT, PROV, SOFTWARE_AGENT, TYPE
from cortex_graph.store import Pattern
from cortex_skills.doors.explorer.page import Form, PageCall
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.http.http_errors import HttpError

MAX_TRIPLES = 100_000
NANOPUB = "http://www.nanopub.org/nschema#"
_DCT = "http://purl.org/dc/terms/"

_COLUMNS = ("subject", "predicate", "object", "datatype", "language")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Quads = Callable[[PageCall], Iterable[Quad]]


def rdf_forms(quads: Quads, document: Callable[[PageCall], object]) -> dict[str, Form]:
    """The forms of a page of triples.

    Args:
        quads: of the page, in the graph of the namespace.
        document: the JSON of the page.
    """

    def written(media_type: str, file_type: str, form: RdfFormat) -> Form:
        return Form(media_type, lambda call: rdf(call.graph, quads(call), form), file_type)

    return {
        "turtle": written("text/turtle", "ttl", RdfFormat.TURTLE),
        "json-ld": written("application/ld+json", "jsonld", RdfFormat.JSON_LD),
        "n-quads": written("application/n-quads", "nq", RdfFormat.N_QUADS),
        "rdf-xml": written("application/rdf+xml", "rdf", RdfFormat.RDF_XML),
        "csv": Form("text/csv", lambda call: table(quads(call), sheet=call.query.get("csv") == "sheet"), "csv"),
        "json": Form("application/json", lambda call: to_json(document(call))),
    }


def rdf(graph: NamespacedGraph, quads: Iterable[Quad], form: RdfFormat) -> bytes:
    """Quads in a format; without their graph in formats without graphs.

    Raises:
        HttpError: `query_limit`: there are too many; `not_acceptable`: RDF/XML cannot represent them.
    """
    found = bounded(quads)
    prefixes = graph.names.prefixes
    if form.supports_datasets and form != RdfFormat.JSON_LD:
        return _bytes(serialize(found, format=form, prefixes=prefixes))
    triples = [quad.triple for quad in found]
    written = _bytes(serialize(triples, format=form, prefixes=prefixes))
    if form == RdfFormat.RDF_XML and not _reads_back(written, {str(triple) for triple in triples}):
        hint = "XML has no control characters, and a predicate must end in an XML name: use text/turtle"
        raise HttpError("not_acceptable", "RDF/XML cannot represent these triples", hint=hint)
    return written


def table(quads: Iterable[Quad], *, sheet: bool = False) -> bytes:
    """Quads as CSV (RFC 4180), a triple a line, with IRIs in full.

    Args:
        quads: the quads.
        sheet: whether a cell that a spreadsheet takes for a formula begins with a quote.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for quad in bounded(quads):
        cells = _cells(quad)
        writer.writerow([f"'{cell}" if sheet and cell.startswith(_FORMULA) else cell for cell in cells])
    return text.getvalue().encode()


def nanopublication(graph: NamespacedGraph, quads: Iterable[Quad], records: Sequence[NamedNode]) -> bytes:
    """Triples with their records as one nanopublication (nanopub.org guidelines), in TriG.

    Its name is made of its content, with the moment when it was made. Who asserted the triples is in its provenance;
    its creators are the agents among them, or the namespace where the records name none. It is not signed, and its name
    is no Trusty URI.

    Args:
        graph: the namespace.
        quads: the triples.
        records: the nodes of their provenance records.
    """
    found, names = bounded(quads), graph.names
    stated = [quad for record in records for quad in graph.store.quads(Pattern(names.provenance_graph, record))]
    objects = [quad.object for quad in stated if quad.predicate == ATTRIBUTED_TO]
    attributed = [agent for agent in dict.fromkeys(objects) if isinstance(agent, NamedNode)]
    for agent in attributed:
        stated += graph.store.quads(Pattern(names.provenance_graph, agent))
        stated.append(Quad(agent, TYPE, AGENT, names.provenance_graph))
    skills = {quad.subject for quad in stated if quad.object == SOFTWARE_AGENT}
    creators = [agent for agent in attributed if agent not in skills] or attributed or [names.graph]
    now = Literal(date_time(to_milliseconds(datetime.now(UTC))), datatype=DATE_TIME)
    lines = "\n".join(sorted({str(quad.triple) for quad in (*found, *stated)} | {str(now)}))
    name = f"{names.graph.value}/nanopub/{sha256(lines.encode()).hexdigest()}"
    parts = ("assertion", "provenance", "pubinfo")
    head, assertion, provenance, pubinfo = (NamedNode(f"{name}#{part}") for part in ("head", *parts))
    node = NamedNode(name)
    written = [Quad(node, TYPE, NamedNode(f"{NANOPUB}Nanopublication"), head)]
    links = ("hasAssertion", "hasProvenance", "hasPublicationInfo")
    for link, part in zip(links, (assertion, provenance, pubinfo), strict=True):
        written.append(Quad(node, NamedNode(f"{NANOPUB}{link}"), part, head))
    written += [Quad(quad.subject, quad.predicate, quad.object, assertion) for quad in found]
    derived = NamedNode(f"{PROV}wasDerivedFrom")
    written += [Quad(assertion, derived, record, provenance) for record in records or [names.graph]]
    written += [Quad(assertion, ATTRIBUTED_TO, agent, provenance) for agent in attributed]
    written += {Quad(quad.subject, quad.predicate, quad.object, provenance): None for quad in stated}
    written += [Quad(node, NamedNode(f"{_DCT}creator"), creator, pubinfo) for creator in creators]
    written += [Quad(node, term, now, pubinfo) for term in (NamedNode(f"{_DCT}created"), GENERATED_AT)]
    prefixes = {"np": NANOPUB, "dct": _DCT, **graph.names.prefixes}
    return _bytes(serialize(written, format=RdfFormat.TRIG, prefixes=prefixes))


def bounded(quads: Iterable[Quad]) -> list[Quad]:
    """All quads, if they are not too many.

    Raises:
        HttpError: `query_limit`.
    """
    found = list(islice(quads, MAX_TRIPLES + 1))
    if len(found) > MAX_TRIPLES:
        hint = "export the namespace with `cortex-skills graph export`, or ask for a part with SPARQL"
        raise HttpError("query_limit", f"there are more than {MAX_TRIPLES:,} triples", hint=hint)
    return found


def _cells(quad: Quad) -> list[str]:
    term = quad.object
    nodes = (quad.subject, quad.predicate)
    subject, predicate = (node.value if isinstance(node, NamedNode) else str(node) for node in nodes)
    if isinstance(term, Literal):
        return [subject, predicate, term.value, term.datatype.value, term.language or ""]
    return [subject, predicate, term.value if isinstance(term, NamedNode) else str(term), "", ""]


def _reads_back(written: bytes, triples: set[str]) -> bool:
    try:
        ParserCreate().Parse(written, True)
        read = {str(quad.triple) for quad in parse(written, RdfFormat.RDF_XML)}
    except (ExpatError, SyntaxError, ValueError):
        return False
    return read == triples


def _bytes(written: bytes | None) -> bytes:
    return written or b""
