"""Checks the provenance of a file before it is imported.

Rules kept here:
- the id of a record is the hash of its triple in the graph of this namespace; a mismatch refuses the whole import,
  since the triple, the record or the namespace was changed;
- a record has the form of `provenance.record_of`, with links to proofs, and a withdrawn one that of `withdrawals.py`;
  anything else in the graph is refused, except descriptions of the namespace's own agents, skills and proofs; the ids
  of proofs and rule sets are verified;
- the agents and times of a record cannot be verified: they are as trustworthy as the file;
- memory use is constant, except for one record at a time, which is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple, parse

from cortex_graph.assertion_records.proofs import content_id, proof_quads, read_proof
from cortex_graph.assertion_records.provenance import recorded_triple
from cortex_graph.exceptions import InvalidArguments, invalid
from cortex_graph.index.triple_index import hash_line
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import (
    AGENT,
    ATTRIBUTED_TO,
    CONTENT,
    DATE_TIME,
    ENTITY,
    GENERATED_AT,
    INVALIDATED_AT,
    LABEL,
    OBJECT,
    PREDICATE,
    PREMISE,
    PROOF,
    PROOF_CLASS,
    PROOF_KIND,
    PROVES,
    RULE_SET,
    RULES,
    SOFTWARE_AGENT,
    SOFTWARE_VERSION,
    SPECIALIZATION_OF,
    STATEMENT,
    STRING,
    SUBJECT,
    TYPE,
    WITHDRAWN_BY,
)
from cortex_graph.transfer.sorting import sorted_lines

MAX_LINES = 1000  # of one record, or one description
_ONCE = (SUBJECT, PREDICATE, OBJECT, GENERATED_AT)
_OF_RECORDS = frozenset({TYPE, *_ONCE, ATTRIBUTED_TO, PROOF})
_ONCE_WITHDRAWN = (SUBJECT, PREDICATE, OBJECT, INVALIDATED_AT, SPECIALIZATION_OF)
_OF_WITHDRAWN = frozenset({*_OF_RECORDS, *_ONCE_WITHDRAWN, WITHDRAWN_BY})
_OF_PROOFS = frozenset({TYPE, PROOF_KIND, CONTENT, GENERATED_AT, PROVES, PREMISE, RULES})
_OF_RULES = frozenset({TYPE, CONTENT})
_OF_AGENTS = frozenset({TYPE, LABEL, SOFTWARE_VERSION})
_HASH = re.compile(r"[0-9a-f]{64}")


def check_records(found: Path, folder: Path, names: Names, step: Callable[[], None]) -> int:
    """Check the lines of a provenance graph and write them.

    Writes `records.nt`, sorted, with all valid lines, and `recorded.nt`: for each record whose triple is not in
    `data.nt` the line of that triple, and the IRI of the record after a tab.

    Args:
        found: the N-Triples lines of the graph.
        folder: contains `data.nt`, and receives the others.
        names: of the namespace.
        step: called regularly.

    Returns:
        The number of records.
    """
    count = 0
    with found.open("rb") as unsorted, (folder / "records.nt").open("wb") as output:

        def about() -> Iterator[bytes]:
            nonlocal count
            for subject, lines in grouped(sorted_lines(unsorted, folder, unique=True)):
                step()
                triple = check_group(subject, parsed(lines), names)
                output.writelines(lines)
                if triple is not None:
                    count += 1
                    yield f"{triple} .\t{subject}\n".encode()

        triples = _to_file(sorted_lines(about(), _folder(folder, "about")), folder / "about.nt")
    with (folder / "data.nt").open("rb") as data, triples.open("rb") as asked:
        present = sorted_lines(data, _folder(folder, "present"), unique=True)
        _to_file(_absent(asked, present, step), folder / "recorded.nt")
    return count


def check_group(subject: str, triples: list[Triple], names: Names) -> Triple | None:
    """Check all triples of a node; returns the triple of a record, None for other nodes."""
    node = subject[1:-1]
    records = names.record("").value
    if node.startswith(records):
        return _check_record(node, node.removeprefix(records), triples, names)
    own = names.graph.value
    if node.startswith(f"{own}/withdrawn/"):
        _check_withdrawn(node, triples, names)
        return None
    if node.startswith((f"{own}:agent:", f"{own}:skill:")):
        _check_agent(node, triples)
    elif node.startswith((f"{own}/proof/", f"{own}/rules/")):
        _check_evidence(node, triples, names)
    else:
        raise _refused(node, "is not a record, agent, skill or proof of this namespace")
    return None


def _check_record(node: str, triple_hash: str, triples: list[Triple], names: Names) -> Triple:
    if not _HASH.fullmatch(triple_hash):
        raise _refused(node, "does not end in a hash")
    return _check_form(node, triple_hash, triples, names, (_OF_RECORDS, _ONCE))


def _check_withdrawn(node: str, triples: list[Triple], names: Names) -> None:
    if not _HASH.fullmatch(node.rpartition("/")[2]):
        raise _refused(node, "does not end in a hash")
    links = [str(triple.object)[1:-1] for triple in triples if triple.predicate == SPECIALIZATION_OF]
    triple_hash = links[0].removeprefix(names.record("").value) if links else ""
    _check_form(node, triple_hash, triples, names, (_OF_WITHDRAWN, _ONCE_WITHDRAWN))
    if sum(triple.predicate == GENERATED_AT for triple in triples) > 1:
        raise _refused(node, f"must have {GENERATED_AT} at most once")


def _check_form(
    node: str,
    triple_hash: str,
    triples: list[Triple],
    names: Names,
    form: tuple[frozenset[NamedNode], tuple[NamedNode, ...]],
) -> Triple:
    """Check the predicates of a record and what they lead to; returns the triple that it records."""
    known = {triple.predicate for triple in triples}
    permitted, once = form
    if strange := known - permitted:
        raise _refused(node, f"has {min(map(str, strange))}, which no record has")
    for predicate in once:
        if sum(triple.predicate == predicate for triple in triples) != 1:
            raise _refused(node, f"must have {predicate} exactly once")
    quads = [Quad(t.subject, t.predicate, t.object, names.provenance_graph) for t in triples]
    about = recorded_triple(quads, names.graph)
    if about is None or hash_line(str(about)) != triple_hash:
        raise _refused(node, f"is not the record of its triple: {about}")
    if {triple.object for triple in triples if triple.predicate == TYPE} != {STATEMENT, ENTITY}:
        raise _refused(node, "must be an rdf:Statement and a prov:Entity")
    for triple in triples:
        if triple.predicate in (GENERATED_AT, INVALIDATED_AT):
            if not isinstance(triple.object, Literal) or triple.object.datatype != DATE_TIME:
                raise _refused(node, "must have an xsd:dateTime as its time")
        elif triple.predicate in (ATTRIBUTED_TO, WITHDRAWN_BY, PROOF):
            own = (f"{names.graph.value}:", f"{names.graph.value}/proof/")
            if not isinstance(triple.object, NamedNode) or not triple.object.value.startswith(own):
                raise _refused(node, f"links to another namespace: {triple.object}")
    return about.triple


def _check_evidence(node: str, triples: list[Triple], names: Names) -> None:
    """Check that a proof or a rule set has the form of `proofs.py` and the id of its content."""
    kind = PROOF_CLASS if "/proof/" in node.removeprefix(names.graph.value) else RULE_SET
    if strange := {triple.predicate for triple in triples} - (_OF_PROOFS if kind == PROOF_CLASS else _OF_RULES):
        raise _refused(node, f"has {min(map(str, strange))}, which it cannot have")
    if [triple.object for triple in triples if triple.predicate == TYPE] != [kind]:
        raise _refused(node, f"must be a {kind}, and nothing else")
    content = [triple.object for triple in triples if triple.predicate == CONTENT]
    texts = [text.value for text in content if isinstance(text, Literal) and text.datatype == STRING]
    if len(content) != 1 or [content_id(text) for text in texts] != [node.rpartition("/")[2]]:
        raise _refused(node, "has an id that is not that of its content")
    if kind == PROOF_CLASS:
        quads = [Quad(t.subject, t.predicate, t.object, names.provenance_graph) for t in triples]
        proof = read_proof(quads, names)
        if proof is None or set(quads) != set(proof_quads(proof, names)):
            raise _refused(node, "is not a proof of triples of this namespace")


def _check_agent(node: str, triples: list[Triple]) -> None:
    for triple in triples:
        if triple.predicate not in _OF_AGENTS:
            raise _refused(node, f"has {triple.predicate}, which no agent or skill has")
        if triple.predicate == TYPE and triple.object not in (AGENT, SOFTWARE_AGENT):
            raise _refused(node, f"has the type {triple.object}")
        if triple.predicate != TYPE and not isinstance(triple.object, Literal):
            raise _refused(node, f"has {triple.object} instead of a text")


def grouped(lines: Iterable[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """Group sorted N-Triples lines by their subjects."""
    for subject, group in groupby(lines, key=lambda line: line.partition(b" ")[0]):
        together = []
        for line in group:
            together.append(line)
            if len(together) > MAX_LINES:
                raise _refused(subject.decode(), f"has more than {MAX_LINES} statements")
        yield subject.decode(), together


def parsed(lines: list[bytes]) -> list[Triple]:
    """Parse N-Triples lines."""
    return [quad.triple for quad in parse(b"".join(lines), RdfFormat.N_TRIPLES)]


def _absent(asked: Iterable[bytes], present: Iterator[bytes], step: Callable[[], None]) -> Iterator[bytes]:
    """Yield the sorted lines of `asked` whose triple is not in the sorted `present`."""
    here = next(present, None)
    for line in asked:
        step()
        triple = line.rpartition(b"\t")[0] + b"\n"
        while here is not None and here < triple:
            here = next(present, None)
        if here != triple:
            yield line


def _to_file(lines: Iterable[bytes], file: Path) -> Path:
    with file.open("wb", buffering=1 << 20) as output:
        output.writelines(lines)
    return file


def _folder(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir(exist_ok=True)
    return made


def _refused(node: str, problem: str) -> InvalidArguments:
    return invalid(
        "source",
        f"has provenance that cannot be trusted: {node} {problem}",
        hint="nothing was imported; import the triples without the provenance",
    )
