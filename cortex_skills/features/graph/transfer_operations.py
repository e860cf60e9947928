"""What writes statements as they were elsewhere: a file, the store of another server, a backup, another store.

Rules kept here:
- all are for those who may state who asserted what: what is written may have records;
- a file and a change are written as a whole or not at all; whole stores are the owner's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cortex_graph.namespace.replication import QuadSet, change
from cortex_graph.naming.names import Names
from cortex_graph.transfer import Backup, CopyResult, ImportResult, copy_store, import_file
from cortex_graph.transfer import restore as restore_backup
from cortex_graph.transfer.copying import CopyPreview
from cortex_graph.transfer.progress import silent
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.copied_parts import (
    CopiedPart,
    check_no_conflict,
    compare_parts,
    copy_parts,
    namespaces_with_parts,
)
from cortex_skills.features.graph.statement_changes import graph_of
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.namespace_operations import state_of_namespace
from cortex_skills.operations.operation import ObjectState, OperationCall, operation


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """An RDF file, as a path or a binary stream; see `cortex_graph.transfer.import_file`."""

    source: Any
    format: str | None = None
    with_provenance: bool = False
    progress: Any = silent

    @property
    def namespace(self) -> str:
        """That of the call."""
        return ""


@operation("graph.import", effect="changes", permission=OWNER, object_="namespace", state=state_of_namespace)
def import_(call: OperationCall, given: ImportedFile) -> ImportResult:
    """Add the statements of an RDF file to the namespace."""
    done = import_file(
        call.host.graph,
        given.source,
        given.format,
        with_provenance=given.with_provenance,
        progress=given.progress,
    )
    call.facts |= {"statements": done.statements, "records": done.records}
    return done


@dataclass(frozen=True, slots=True)
class StatementChange:
    """What to remove, then what to write: each `triples` of the namespace and `records` of its provenance.

    `memories_of` is the agent whose memories are the graph.
    """

    remove: dict[str, Any] = field(default_factory=dict)
    insert: dict[str, Any] = field(default_factory=dict)
    memories_of: str = ""

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
    change(graph_of(call, given.memories_of), _quads(given.insert), _quads(given.remove))
    call.facts |= {"inserted": len(given.insert.get("triples", ())), "removed": len(given.remove.get("triples", ()))}


def store_named(call: OperationCall) -> ObjectState | None:
    """The name of the store that is written to: it is not open, or not by a plugin."""
    return (re.sub("//[^/@]*@", "//", call.about), "a whole store") if call.about else None  # without a password


@dataclass(frozen=True, slots=True)
class RestoredBackup:
    """The folder of a backup, and the store that gets its content, with its name for the audit."""

    folder: Any
    into: Any
    store: str
    replace: bool = False
    progress: Any = silent


@operation("graph.restore", effect="changes", permission=OWNER, object_="store", state=store_named)
def restore(call: OperationCall, given: RestoredBackup) -> Backup:
    """Restore a backup into a store, which is empty or replaced."""
    done = restore_backup(given.folder, given.into, replace=given.replace, progress=given.progress)
    call.facts |= {"triples": done.triples, "graphs": len(done.graphs)}
    if done.made_by:
        call.data["madeBy"] = done.made_by
    return done


@dataclass(frozen=True, slots=True)
class StoreCopy:
    """Two stores, the name of the target for the audit, and the namespaces to copy; all without any."""

    pair: Any  # a `StorePair`
    store: str
    namespaces: Sequence[str] | None = None
    replace: bool = False
    only_statements: bool = False


@dataclass(frozen=True, slots=True)
class CopiedStore:
    """What was copied, or would be: the graphs with statements, records and memories, and what is beside them."""

    graphs: Sequence[CopyResult | CopyPreview]
    parts: list[CopiedPart]


@operation("graph.copy", effect="changes", permission=OWNER, object_="store", state=store_named)
def copy(call: OperationCall, given: StoreCopy) -> CopiedStore:
    """Copy namespaces to another store, with all that the features keep there."""
    pair, base = given.pair, given.pair.source_config.base_iri
    parts = parts_of_copy(given)
    if not given.replace:
        check_no_conflict(parts)
    done = copy_store(pair.source, pair.target, given.namespaces, base=base, progress=pair.progress)
    for namespace in dict.fromkeys(each.namespace for each in parts):
        copy_parts(pair, Names(namespace, base), replace=given.replace)
    call.facts |= {"triples": sum(each.triples for each in done), "graphs": len(done)}
    for each in parts:
        call.facts[f"{each.namespace}: {each.name}"] = each.missing
    return CopiedStore(done, parts)


def parts_of_copy(given: StoreCopy) -> list[CopiedPart]:
    """What a copy would do with all that is beside the statements, which changes nothing.

    Raises:
        GraphError: a store cannot be read.
        CortexError: what a part has outside the store cannot be read.
    """
    if given.only_statements:
        return []
    base = given.pair.source_config.base_iri
    wanted = namespaces_with_parts(given.pair.source, base) if given.namespaces is None else set(given.namespaces)
    return [part for each in sorted(wanted) for part in compare_parts(given.pair, Names(each, base))]


def _quads(given: dict[str, Any]) -> QuadSet:
    return QuadSet(given.get("triples", ()), given.get("records", ()))
