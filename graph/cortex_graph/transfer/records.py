"""What a file says about who asserted what, checked before it is believed to be about these triples.

Rules kept here:
- a record's id is the hash of its triple in this namespace's graph; one that does not match is refused, and with it the
  whole import: somebody changed the triple, the record, or the namespace;
- a record is what `provenance.record_of` writes, with links to proofs; anything else in the graph is refused, but for
  what describes the namespace's own agents, skills and proofs; a proof and a rule set are named by their content;
- what a record says of agents and times cannot be checked: it is as true as the file;
- memory stays flat, but for one record at a time, which has a bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple, parse

from cortex_graph.errors import InvalidArguments, invalid
from cortex_graph.index import hash_line
from cortex_graph.names import Names
from cortex_graph.proofs import content_id, proof_quads, read_proof
from cortex_graph.provenance import recorded_triple
from cortex_graph.transfer.sorting import sorted_lines
from cortex_graph.vocabulary import (
    AGENT,
    ATTRIBUTED_TO,
    CONTENT,
    DATE_TIME,
    ENTITY,
    GENERATED_AT,
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
    STATEMENT,
    STRING,
    SUBJECT,
    TYPE,
)

MAX_LINES = 1000  # of one record, or one description
_ONCE = (SUBJECT, PREDICATE, OBJECT, GENERATED_AT)
_OF_RECORDS = frozenset({TYPE, *_ONCE, ATTRIBUTED_TO, PROOF})
_OF_PROOFS = frozenset({TYPE, PROOF_KIND, CONTENT, GENERATED_AT, PROVES, PREMISE, RULES})
_OF_RULES = frozenset({TYPE, CONTENT})
_OF_AGENTS = frozenset({TYPE, LABEL, SOFTWARE_VERSION})
_HASH = re.compile(r"[0-9a-f]{64}")


def check_records(found: Path, folder: Path, names: Names, step: Callable[[], None]) -> int:
    """Check the lines of a provenance graph and write them out.

    Makes `records.nt`, sorted, of all that is in order, and `recorded.nt`: for each record whose triple is not in
    `data.nt` the line of that triple, and the record's IRI behind a tab.

    Args:
        found: the N-Triples lines of the graph.
        folder: where `data.nt` is, and the others are made.
        names: of the namespace.
        step: called now and then.

    Returns:
        How many records there are.

    Raises:
        InvalidArguments: something is not what it must be.

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
    """The triple that a record is about, when all that is said of its node is in order; None for other nodes.

    Raises:
        InvalidArguments: it is not.

    """
    node = subject[1:-1]
    records = names.record("").value
    if node.startswith(records):
        return _check_record(node, node.removeprefix(records), triples, names)
    own = names.graph.value
    if node.startswith((f"{own}:agent:", f"{own}:skill:")):
        _check_agent(node, triples)
    elif node.startswith((f"{own}/proof/", f"{own}/rules/")):
        _check_evidence(node, triples, names)
    else:
        raise _refused(node, "is no record, agent, skill or proof of this namespace")
    return None


def _check_record(node: str, triple_hash: str, triples: list[Triple], names: Names) -> Triple:
    known = {triple.predicate for triple in triples}
    if not _HASH.fullmatch(triple_hash):
        raise _refused(node, "does not end in a hash")
    if strange := known - _OF_RECORDS:
        raise _refused(node, f"has {min(map(str, strange))}, which no record has")
    for predicate in _ONCE:
        if sum(triple.predicate == predicate for triple in triples) != 1:
            raise _refused(node, f"must have {predicate} exactly once")
    quads = [Quad(t.subject, t.predicate, t.object, names.provenance_graph) for t in triples]
    about = recorded_triple(quads, names.graph)
    if about is None or hash_line(str(about)) != triple_hash:
        raise _refused(node, f"is not about the triple that it names: {about}")
    if {triple.object for triple in triples if triple.predicate == TYPE} != {STATEMENT, ENTITY}:
        raise _refused(node, "must be an rdf:Statement and a prov:Entity")
    for triple in triples:
        if triple.predicate == GENERATED_AT:
            if not isinstance(triple.object, Literal) or triple.object.datatype != DATE_TIME:
                raise _refused(node, "must have an xsd:dateTime as its time")
        elif triple.predicate in (ATTRIBUTED_TO, PROOF):
            own = (f"{names.graph.value}:", f"{names.graph.value}/proof/")
            if not isinstance(triple.object, NamedNode) or not triple.object.value.startswith(own):
                raise _refused(node, f"leads out of the namespace, to {triple.object}")
    return about.triple


def _check_evidence(node: str, triples: list[Triple], names: Names) -> None:
    """A proof or a rule set is what `proofs.py` writes, under the name that its content gives it."""
    kind = PROOF_CLASS if "/proof/" in node.removeprefix(names.graph.value) else RULE_SET
    if strange := {triple.predicate for triple in triples} - (_OF_PROOFS if kind == PROOF_CLASS else _OF_RULES):
        raise _refused(node, f"has {min(map(str, strange))}, which is not for it")
    if [triple.object for triple in triples if triple.predicate == TYPE] != [kind]:
        raise _refused(node, f"must be a {kind}, and nothing else")
    content = [triple.object for triple in triples if triple.predicate == CONTENT]
    texts = [text.value for text in content if isinstance(text, Literal) and text.datatype == STRING]
    if len(content) != 1 or [content_id(text) for text in texts] != [node.rpartition("/")[2]]:
        raise _refused(node, "is not named by what it holds")
    if kind == PROOF_CLASS:
        quads = [Quad(t.subject, t.predicate, t.object, names.provenance_graph) for t in triples]
        proof = read_proof(quads, names)
        if proof is None or set(quads) != set(proof_quads(proof, names)):
            raise _refused(node, "is no proof of triples of this namespace")


def _check_agent(node: str, triples: list[Triple]) -> None:
    for triple in triples:
        if triple.predicate not in _OF_AGENTS:
            raise _refused(node, f"has {triple.predicate}, which no agent or skill has")
        if triple.predicate == TYPE and triple.object not in (AGENT, SOFTWARE_AGENT):
            raise _refused(node, f"is said to be a {triple.object}")
        if triple.predicate != TYPE and not isinstance(triple.object, Literal):
            raise _refused(node, f"has {triple.object} for a text")


def grouped(lines: Iterable[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """Sorted N-Triples lines by their subjects.

    Raises:
        InvalidArguments: one subject has more than `MAX_LINES`.

    """
    for subject, group in groupby(lines, key=lambda line: line.partition(b" ")[0]):
        together = []
        for line in group:
            together.append(line)
            if len(together) > MAX_LINES:
                raise _refused(subject.decode(), f"has more than {MAX_LINES} statements")
        yield subject.decode(), together


def parsed(lines: list[bytes]) -> list[Triple]:
    """The triples of N-Triples lines."""
    return [quad.triple for quad in parse(b"".join(lines), RdfFormat.N_TRIPLES)]


def _absent(asked: Iterable[bytes], present: Iterator[bytes], step: Callable[[], None]) -> Iterator[bytes]:
    """Those of the sorted `asked` whose triple is not among the sorted `present`."""
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
        f"holds provenance that cannot be trusted: {node} {problem}",
        hint="nothing was imported; import without the provenance to take the triples alone",
    )
