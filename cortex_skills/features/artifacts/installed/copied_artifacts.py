"""How a copy of a store takes along what is installed: the index, and the bytes that it names.

Rules kept here:
- bytes are copied before the index, and have the hash that the index states. They are read from the files of the
  source, or from its store, and written to the store of a server, or to the files of a folder;
- before they are written to files they are verified with the trust of this host. What it accepted without trust is
  written to its files, and runs in the copy too; what another host accepted so stays in the source, and is named;
- whose turn it is to audit stays in the source; storage and channels of artifacts are files of the host.
"""

from __future__ import annotations

from hashlib import sha256

from pyoxigraph import NamedNode, Quad

from cortex_graph.naming.names import Names
from cortex_graph.store import GraphStore
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.installed.installed_artifact import InstalledArtifact
from cortex_skills.features.artifacts.installed.installed_artifacts import InstalledArtifacts
from cortex_skills.features.artifacts.installed.installed_index import AUDIT_BEGUN, AUDIT_ENDED
from cortex_skills.features.graph.copied_parts import CopiedFiles, LeftThere, StorePair, StorePart


def _left(_: GraphStore, names: Names) -> LeftThere:
    audits = names.beside("artifact-audit").value

    def is_left(quad: Quad) -> bool:
        of_audit = isinstance(quad.subject, NamedNode) and f"{quad.subject.value}/".startswith(f"{audits}/")
        return of_audit or quad.predicate in (AUDIT_BEGUN, AUDIT_ENDED)

    return LeftThere(is_left)


def _files(pair: StorePair, names: Names, writes: bool) -> CopiedFiles:
    source = InstalledArtifacts(pair.source_config, pair.source, names)
    target = InstalledArtifacts(pair.target_config, pair.target, names)
    missing, notes = 0, []
    there = target.shared.listed() if target.keeps_bytes else set()
    for each in source.list():
        if each.file_sha256 in there or (not target.keeps_bytes and target.files.stamp(each.key) is not None):
            continue
        try:
            data = _bytes_of(source, each)
            if data is None:
                notes.append(f"the bytes of {each.key} are neither here nor in the source")
                continue
            _put(source, target, each, data, writes)
            missing += 1
        except CortexError as error:
            if error.code in ("artifact_unavailable", "config_invalid"):
                raise
            notes.append(f"the bytes of {each.key} stay there: {error.message}")
    return CopiedFiles(missing, tuple(notes))


def _bytes_of(source: InstalledArtifacts, found: InstalledArtifact) -> bytes | None:
    """The bytes of a version, with the hash of the index; None where neither this host nor the source has them."""
    if source.files.stamp(found.key) is None:
        return source.shared.get(found.file_sha256) if source.is_shared else None
    data = source.files.read(found.key)
    if sha256(data).hexdigest() != found.file_sha256:
        raise CortexError("artifact_invalid", "the installed file was changed", hint="install the artifact again")
    return data


def _put(
    source: InstalledArtifacts, target: InstalledArtifacts, found: InstalledArtifact, data: bytes, writes: bool
) -> None:
    if target.keeps_bytes and writes:
        target.shared.put(data)
    is_untrusted = found.trust == "untrusted"
    if target.keeps_bytes and not is_untrusted:
        return
    entries = source.entries_of(found, data)
    if writes:
        with target.files.locked():
            if is_untrusted:
                target.files.note_untrusted(found.key)
            target.files.write(found.key, data, entries)


INSTALLED = StorePart("installed artifacts", lambda names: names.artifacts_graph, _left, _files)
