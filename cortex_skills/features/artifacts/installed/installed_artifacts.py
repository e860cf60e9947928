"""`InstalledArtifacts`: what is installed in one namespace: listed, opened to be run, quarantined, enabled, removed.

    installed = host.part(installed_in)
    opened = installed.open("acme.echo")                # verified bytes: what is returned is what runs
    installed.check_active(opened.installed.key)        # before each call

Rules kept here:
- only an `active` version is opened, and only bytes that passed every step of the verification are returned; they are
  read and verified again when the file system records a change of the file or of the trust store, and not before;
- bytes that another host installed come from the store. They are written here after they passed every step of the
  verification, with the trust of this host: a publisher that the other host accepted without trust is refused;
- a quarantined version is enabled only with an override and a reason;
- the index lists the changes of an artifact; the record in the audit is that of the operation (`artifact_operations`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from cortex_graph.naming.names import Names
from cortex_graph.store import GraphStore
from cortex_graph.store_access.claims import Claiming
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_settings import ArtifactSettings
from cortex_skills.features.artifacts.artifact_trust import artifact_trust
from cortex_skills.features.artifacts.installed.artifact_bytes import ArtifactBytes
from cortex_skills.features.artifacts.installed.artifact_files import (
    SKILL,
    ArtifactFiles,
    artifacts_folder,
    not_on_this_host,
    skill_folder_of,
)
from cortex_skills.features.artifacts.installed.artifact_grants import effective
from cortex_skills.features.artifacts.installed.host_findings import ON_THIS_HOST, accepted_here, stopping
from cortex_skills.features.artifacts.installed.installed_artifact import (
    MAX_REASON,
    ArtifactKey,
    ArtifactVersions,
    InstalledArtifact,
    Status,
)
from cortex_skills.features.artifacts.installed.installed_index import InstalledIndex
from cortex_skills.features.artifacts.package import HOST_VERSIONS, ArtifactManifest, ExpectedArtifact, verify_artifact
from cortex_skills.features.artifacts.package.archive import read_archive
from cortex_skills.features.artifacts.package.artifact_manifest import ArtifactCapabilities
from cortex_skills.features.artifacts.package.artifact_verification import TrustCheck
from cortex_skills.features.artifacts.package.entry_paths import MANIFEST
from cortex_skills.features.artifacts.package.skill_toml import read_skill_toml
from cortex_skills.host import Host
from cortex_skills.safe_io.schemas import shown
from cortex_skills.signatures.fleet_trust import FleetTrust
from cortex_skills.signatures.named_keys import id_of
from cortex_skills.signatures.trust_file import TrustFile, trust_of

_KEPT = 64  # verified artifacts
_KEPT_BYTES = 128 << 20  # of their entries


@dataclass(frozen=True, slots=True)
class OpenArtifact:
    """A verified artifact that may run.

    Attributes:
        installed: which version.
        manifest: its manifest.
        entries: its entries by path: the bytes that were verified.
        capabilities: what it may do: the manifest's and the user's, whichever is less.
        skill_folder: where its TypeScript skill is extracted; its files are to be compared with `entries`.
    """

    installed: InstalledArtifact
    manifest: ArtifactManifest
    entries: Mapping[str, bytes]
    capabilities: ArtifactCapabilities
    skill_folder: Path


class InstalledArtifacts:
    """What is installed in one namespace. Safe to use from several threads and processes.

    Attributes:
        index: of what is installed.
        files: of what is installed.
        host: the id of this host, if several may use the store; else empty.
        shared: the bytes of what is installed, in the store.
        is_shared: whether several hosts may use the store.
    """

    def __init__(self, config: Config, store: GraphStore, names: Names, fleet: FleetTrust | None = None) -> None:
        self.config = config
        self.is_shared = isinstance(store, Claiming)
        self.host = HostIdentity.of(config).id if self.is_shared else ""
        self.index = InstalledIndex(store, names, host=self.host)
        self.files = ArtifactFiles(artifacts_folder(config), names.namespace)
        self.shared = ArtifactBytes(store, names)
        self.fleet = fleet or FleetTrust(store, names, trust_of(config))
        self._verified: dict[str, tuple[object, OpenArtifact, int]] = {}

    @property
    def trust_file(self) -> TrustFile:
        """The trust store of this installation."""
        return self.fleet.file

    def revision(self) -> str:
        """A text that differs after each change, in any process.

        Raises:
            GraphError: the store cannot be read.
        """
        return self.index.revision()

    def list(self) -> tuple[InstalledArtifact, ...]:
        """Every installed version, sorted by id and by the time of its installation.

        Raises:
            GraphError: the store cannot be read.
        """
        return tuple(each for artifact in self.index.everything().artifacts for each in artifact.versions)

    def find(self, skill_id: str, version: str | None = None) -> InstalledArtifact:
        """An installed version; the current one, if none is named.

        Raises:
            CortexError: `artifact_not_found`, `artifact_invalid`.
            GraphError: the store cannot be read.
        """
        return _found(self.index.versions(skill_id), version)

    def folder_of_skill(self, skill_id: str, version: str | None = None) -> Path:
        """The folder with the skill of an artifact, to be loaded as a folder of skills, which verifies it.

        Raises:
            CortexError: `artifact_not_found`; `artifact_invalid`: it has no skill.
            GraphError: the store cannot be read.
        """
        found = self.find(skill_id, version)
        if self.files.stamp(found.key) is None:
            self.read(found)
        folder = self.files.place(found.key) / SKILL
        if not folder.is_dir():
            hint = "call its tools: they need no loading"
            raise CortexError("artifact_invalid", f"{skill_id} has tools in WebAssembly, and no skill", hint=hint)
        return folder

    def check_active(self, key: ArtifactKey) -> InstalledArtifact:
        """The installed version with this hash, if it may run now; to be called before each call.

        Raises:
            CortexError: `artifact_not_found`, `artifact_quarantined`, `artifact_disabled`, `artifact_invalid`.
            GraphError: the store cannot be read.
        """
        self.fleet.look()
        found = self.find(key.skill_id, key.version)
        if found.key != key:
            raise CortexError(
                "artifact_not_found",
                f"{key} was installed again with other contents",
                hint="call it again: what is installed now runs then",
            )
        self.check_runs(found)
        return found

    def open(self, skill_id: str, version: str | None = None) -> OpenArtifact:
        """Read and verify a version that may run.

        Raises:
            CortexError: `artifact_not_found`, `artifact_quarantined`, `artifact_disabled`, `artifact_unavailable`,
                `artifact_invalid` and the other errors of a verification.
            GraphError: the store cannot be read.
        """
        found = self.find(skill_id, version)
        self.check_runs(found)
        return self.verified(found)

    def check_runs(self, installed: InstalledArtifact) -> None:
        """Refuse a version that may not run here.

        Raises:
            CortexError: `artifact_quarantined`, `artifact_disabled`.
        """
        command = f"cortex-skills enable {installed.key.skill_id} --version {installed.key.version}"
        override = f"a person looks at it; then: {command} --override --reason TEXT"
        reason = f": {shown(installed.reason)}" if installed.reason else ""
        if installed.status == "disabled":
            hint = f"to enable it: {command}"
            raise CortexError("artifact_disabled", f"{installed.key} is disabled{reason}", hint=hint)
        if installed.status != "active":
            raise CortexError("artifact_quarantined", f"{installed.key} is quarantined{reason}", hint=override)
        if found := stopping(installed, self.host):
            problem = f"{installed.key} is quarantined on this host: the security audit found {shown(', '.join(found))}"
            raise CortexError("artifact_quarantined", problem, hint=override)

    def runs(self, installed: InstalledArtifact) -> bool:
        """Whether a version may run here."""
        return self.as_here(installed).status == "active"

    def as_here(self, installed: InstalledArtifact) -> InstalledArtifact:
        """A version with the status that holds on this host, and why: a finding here stops what runs elsewhere."""
        found = stopping(installed, self.host) if installed.status == "active" else ()
        if not found:
            return installed
        reason = f"{ON_THIS_HOST}the security audit found {', '.join(found)}"[:MAX_REASON]
        return replace(installed, status="quarantined", reason=reason)

    def verified(self, found: InstalledArtifact) -> OpenArtifact:
        """Read and verify a version as the index has it, whatever its status is.

        What was verified before is read and verified again only if its file or the trust store changed.

        Raises:
            CortexError: `artifact_unavailable`, `artifact_invalid` and the other errors of a verification.
        """
        self.fleet.look()
        stamp = self.files.stamp(found.key), self.trust_file.stamp()
        before = self._verified.get(found.file_sha256)
        if before is not None and before[0] == stamp and before[1].installed == found:
            return before[1]
        data = self.read(found)
        opened = self._verify(found, data)
        size = sum(map(len, opened.entries.values()))
        if len(self._verified) >= _KEPT or size + sum(each[2] for each in self._verified.values()) > _KEPT_BYTES:
            self._verified = {}
        self._verified[found.file_sha256] = (stamp, opened, size)
        return opened

    def as_installed(self, found: InstalledArtifact) -> OpenArtifact:
        """A version as it was verified when it was installed, to be listed: only what `verified` returns may run.

        The bytes have the hash of the index, and the key of the publisher is trusted; else it is verified again.

        Raises:
            CortexError: as for `verified`.
        """
        trust = self.trust_file.trust()
        publisher = trust.publishers.get(found.publisher)
        keys = () if publisher is None else publisher.keys
        if not any(id_of(key) == found.key_id and key not in trust.revoked for key in keys):
            return self.verified(found)
        entries = read_archive(self.read(found))
        manifest = read_skill_toml(entries[MANIFEST])
        folder = self.files.place(found.key) / SKILL
        return OpenArtifact(found, manifest, entries, effective(manifest, found.grants), folder)

    def read(self, found: InstalledArtifact) -> bytes:
        """The bytes of a version, with the hash of the index; from the store where this host does not have them.

        Raises:
            CortexError: `not_on_this_host`, `artifact_unavailable`, `artifact_invalid`; the errors of a verification
                of bytes from the store.
            GraphError: the store cannot be read.
        """
        try:
            data = self.files.read(found.key)
        except CortexError as error:
            if error.code != "not_on_this_host":
                raise
            return self._fetched(found)
        if sha256(data).hexdigest() != found.file_sha256:
            raise CortexError(
                "artifact_invalid",
                f"the installed file of {found.key} was changed",
                hint="find out who changed it, remove the artifact, and install it again",
            )
        return data

    def _fetched(self, found: InstalledArtifact) -> bytes:
        """The bytes of a version from the store, verified and then written here."""
        data = self.shared.get(found.file_sha256)
        if data is None:
            raise not_on_this_host(found.key)
        trust = artifact_trust(self.trust_file, allow_downgrade=True, now=self.index.now())
        report = verify_artifact(data, HOST_VERSIONS, trust, _expected(found.key))
        if report.error is not None:
            raise report.error
        with self.files.locked():
            if self.find(found.key.skill_id, found.key.version).key != found.key:
                raise not_found(found.key.skill_id, found.key.version)
            if self.files.stamp(found.key) is None:
                self.files.write(found.key, data, report.entries)
        return data

    @property
    def keeps_bytes(self) -> bool:
        """Whether the bytes of what is installed are kept in the store, for other hosts."""
        return self.is_shared and self.config.section(ArtifactSettings).in_store

    def share(self) -> None:
        """Write bytes that this host has and a store on a server lacks; remove what nothing names, here and there.

        Raises:
            CortexError: `artifact_unavailable`, `artifact_invalid`.
            GraphError: the store cannot be used.
        """
        if not self.keeps_bytes:
            return
        with self.files.locked():
            places = {self.files.place(each.key) for each in self.list()}
            for place in self.files.listed():
                if place not in places:
                    self.files.remove_place(place)
        there, wanted = self.shared.listed(), {each.file_sha256: each for each in self.list()}
        for digest in there - wanted.keys():
            self.shared.remove(digest)
        for digest in wanted.keys() - there:
            if self.files.stamp(wanted[digest].key) is not None:
                self.shared.put(self.read(wanted[digest]))

    def entries_of(self, found: InstalledArtifact, data: bytes) -> Mapping[str, bytes]:
        """The entries of the bytes of a version, verified with the trust of this host.

        Raises:
            CortexError: `artifact_invalid` and the other errors of a verification.
        """
        return self._verify(found, data).entries

    def _verify(self, found: InstalledArtifact, data: bytes) -> OpenArtifact:
        key = found.key
        report = verify_artifact(
            data,
            HOST_VERSIONS,
            self.trust_check(found),
            _expected(key),
        )
        if report.error is not None:
            raise report.error
        manifest = report.manifest
        assert manifest is not None  # noqa: S101 - a valid artifact has one
        return OpenArtifact(
            found,
            manifest,
            report.entries,
            effective(manifest, found.grants),
            self.files.place(key) / skill_folder_of(report.entries),
        )

    def trust_check(self, found: InstalledArtifact) -> TrustCheck:
        """The check of the publisher of a version that was accepted before: its key must be trusted still.

        That a version was accepted without trust is known from the index only where this host alone writes it.
        """
        is_untrusted = found.trust == "untrusted" and (not self.is_shared or self.files.is_noted_untrusted(found.key))
        return artifact_trust(self.trust_file, allow_untrusted=is_untrusted, allow_downgrade=True, now=self.index.now())

    def quarantine(self, skill_id: str, version: str, *, actor: str, reason: str) -> InstalledArtifact:
        """Stop a version, until a person enables it with an override.

        Args:
            skill_id: of the artifact.
            version: which version.
            actor: who does it.
            reason: why; needed.

        Raises:
            CortexError: `artifact_not_found`, `artifact_invalid`; `invalid_arguments`: without a reason.
            GraphError: the store cannot be written.
        """
        _check_reason(reason, "a version is quarantined with a reason")
        return self._set(skill_id, version, "quarantined", actor, reason)

    def disable(self, skill_id: str, version: str, *, actor: str, reason: str = "") -> InstalledArtifact:
        """Stop a version until it is enabled; one that is quarantined stays quarantined."""
        return self._set(skill_id, version, "disabled", actor, reason)

    def enable(
        self, skill_id: str, version: str, *, actor: str, override: bool = False, reason: str = ""
    ) -> InstalledArtifact:
        """Let a version run.

        Args:
            skill_id: of the artifact.
            version: which version.
            actor: who does it.
            override: needed for a quarantined one, with a reason.
            reason: why.

        Raises:
            CortexError: `artifact_not_found`, `artifact_invalid`; `state_conflict`: it is quarantined, and the
                override or the reason is missing.
            GraphError: the store cannot be written.
        """
        return self._set(skill_id, version, "active", actor, reason, override=override)

    def remove(self, skill_id: str, version: str | None = None, *, actor: str) -> tuple[InstalledArtifact, ...]:
        """Remove a version, or all; a call that runs ends as it would have.

        Args:
            skill_id: of the artifact.
            version: which version; None for all.
            actor: who does it.

        Returns:
            What was removed.

        Raises:
            CortexError: `artifact_not_found`, `artifact_invalid`; `artifact_unavailable`: the files could not be
                removed, and the index does not name them any more.
            GraphError: the store cannot be written.
        """
        removed: tuple[InstalledArtifact, ...] = ()

        def change(before: ArtifactVersions) -> ArtifactVersions:
            nonlocal removed
            removed = tuple(each for each in before.versions if version in (None, each.key.version))
            if not removed:
                raise not_found(skill_id, version)
            kept = tuple(replace(each, current=False) for each in removed if each.status != "active")
            keys = {each.key for each in kept}
            return replace(
                before,
                versions=tuple(each for each in before.versions if each not in removed),
                removed=(*(each for each in before.removed if each.key not in keys), *kept),
            )

        with self.files.locked():
            self.index.change(skill_id, change, {"what": "removed", "version": version, "by": actor})
            for each in removed:
                self.files.remove(each.key)
                self.shared.remove(each.file_sha256)
        return removed

    def _set(
        self, skill_id: str, version: str, status: Status, actor: str, reason: str, *, override: bool = False
    ) -> InstalledArtifact:
        if len(reason) > MAX_REASON:
            raise CortexError("invalid_arguments", f"a reason has at most {MAX_REASON} characters")

        def change(versions: ArtifactVersions) -> ArtifactVersions:
            before = _found(versions, version)
            stopped = stopping(before, self.host)
            is_stopped = before.status == "quarantined" or bool(stopped)
            if is_stopped and status == "active" and not (override and reason.strip()):
                raise CortexError(
                    "state_conflict",
                    f"{before.key} is quarantined: {shown(before.reason or ', '.join(stopped))}",
                    hint="to enable it nevertheless give an override and a reason",
                )
            is_same = before.status == status and not (is_stopped and status == "active")
            if is_same or (before.status, status) == ("quarantined", "disabled"):
                return versions
            accepted = before.accepted if status != "active" else accepted_here(before, self.host)
            after = replace(before, status=status, reason=reason, accepted=accepted)
            return replace(versions, versions=tuple(after if each is before else each for each in versions.versions))

        about: dict[str, object] = {"what": status, "version": version, "by": actor, "reason": reason}
        return _found(self.index.change(skill_id, change, about), version)


def installed_in(host: Host) -> InstalledArtifacts:
    """The installed artifacts of the namespace of a host, of today: a part of it."""
    from cortex_graph.as_of import today_of

    graph = today_of(host.graph)
    return InstalledArtifacts(host.config, graph.store, graph.names, host.fleet)


def not_found(skill_id: str, version: str | None = None) -> CortexError:
    """The error for an artifact that is not installed."""
    what = f"{shown(skill_id)} {shown(version)}" if version else shown(skill_id)
    return CortexError(
        "artifact_not_found", f"{what} is not installed", hint="cortex-skills installed list shows what is installed"
    )


def _expected(key: ArtifactKey) -> ExpectedArtifact:
    return ExpectedArtifact(key.skill_id, key.version, key.payload_sha256)


def _found(versions: ArtifactVersions, version: str | None) -> InstalledArtifact:
    found = versions.find(version)
    if found is None:
        raise not_found(versions.skill_id, version)
    return found


def _check_reason(reason: str, needed: str) -> None:
    if not reason.strip():
        raise CortexError("invalid_arguments", needed, hint="give a reason")
