"""What writes statements as they were elsewhere: `graph.import` of a file, `graph.change` of a store on another server.

Rules kept here:
- both are for those who may state who asserted what: a file and a change may have records;
- all of it is written, or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cortex_graph.namespace.replication import QuadSet, change
from cortex_graph.transfer import ImportResult, import_file
from cortex_skills.errors import CortexError
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.namespace_operations import state_of_namespace
from cortex_skills.operations.operation import OperationCall, operation


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """An RDF file, as a path or a binary stream; see `cortex_graph.transfer.import_file`."""

    source: Any
    format: str | None = None
    with_provenance: bool = False
    progress: Any = None

    @property
    def namespace(self) -> str:
        """That of the call."""
        return ""


@operation("graph.import", effect="changes", permission=OWNER, object_="namespace", state=state_of_namespace)
def import_(call: OperationCall, given: ImportedFile) -> ImportResult:
    """Add the statements of an RDF file to the namespace."""
    more = {} if given.progress is None else {"progress": given.progress}
    done = import_file(call.host.graph, given.source, given.format, with_provenance=given.with_provenance, **more)
    call.facts |= {"statements": done.statements, "records": done.records}
    return done


@dataclass(frozen=True, slots=True)
class StatementChange:
    """What to remove, then what to write: each `triples` of the namespace and `records` of its provenance."""

    remove: dict[str, Any] = field(default_factory=dict)
    insert: dict[str, Any] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        """That of the call."""
        return ""


@operation("graph.change", effect="changes", permission="write", object_="namespace", state=state_of_namespace)
def change_statements(call: OperationCall, given: StatementChange) -> None:
    """Remove statements and records, then write others, for a store on another server; all or none."""
    if "provenance" not in call.caller.permissions:
        raise CortexError(
            "permission_denied",
            f"{call.caller.name} lacks the permission `provenance`, which a change of records needs",
            hint="ask for a token that has the permission `provenance`",
            details={"missing": ["provenance"]},
        )
    change(call.host.graph, _quads(given.insert), _quads(given.remove))
    call.facts |= {"inserted": len(given.insert.get("triples", ())), "removed": len(given.remove.get("triples", ()))}


def _quads(given: dict[str, Any]) -> QuadSet:
    return QuadSet(given.get("triples", ()), given.get("records", ()))
