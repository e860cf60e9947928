"""Skills from installed artifacts: their signature is that of the artifact, and what is loaded are its verified texts.

Rules kept here:
- a folder below that of the installed artifacts is one of an artifact, or is refused;
- only an active version is loaded; each text that was read is compared with the entries, which were verified from the
  bytes of the artifact just now, and no text is missing or added;
- a version that was quarantined, disabled, removed or installed again since takes no further call, in any process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from cortex_skills.errors import CortexError
from cortex_skills.host import Host
from cortex_skills.skill_folder.snapshot import SkillSnapshot

if TYPE_CHECKING:
    from cortex_skills.features.artifacts.installed import ArtifactKey, InstalledArtifact, InstalledArtifacts

_FOLDER = "skill"  # of the extracted skill, below that of the version
_BOM = "\ufeff".encode()


@dataclass(frozen=True)
class InstalledSkills:
    """The skills of artifacts that are loaded in one host: a `SkillSigner`."""

    host: Host
    _keys: dict[Path, ArtifactKey] = field(default_factory=dict)

    def hashes_of(self, snapshot: SkillSnapshot) -> Mapping[str, str] | None:
        """The signed hash of each file of a skill in the folder of an artifact; None for a folder elsewhere.

        Raises:
            CortexError: `artifact_not_found`, `artifact_quarantined`, `artifact_disabled`; `signature_invalid`: a text
                differs from the signed one; the errors of a verification.
        """
        folder = snapshot.folder.absolute()
        if folder.parent.name != _FOLDER:
            return None
        from cortex_skills.features.artifacts.package.entry_paths import skill_files

        place, installed = folder.parents[1], self._installed
        if not place.is_relative_to(installed.files.folder):
            return None
        found = self._at(place)
        installed.check_runs(found)
        opened = installed.verified(found)
        entries = skill_files(opened.entries)
        _compare(snapshot, entries)
        self._keys[folder] = found.key
        return {path: sha256(data).hexdigest() for path, data in entries.items()}

    def stopped(self, folders: Mapping[str, Path]) -> dict[str, CortexError]:
        """The skills by name that may not run any more, and the error for a call of each."""
        if not self._keys:
            return {}
        found: dict[str, CortexError] = {}
        for name, folder in folders.items():
            if (key := self._keys.get(folder)) is not None:
                try:
                    self._installed.check_active(key)
                except CortexError as error:
                    found[name] = error
        return found

    @property
    def _installed(self) -> InstalledArtifacts:
        from cortex_skills.features.artifacts.installed import installed_in

        return self.host.part(installed_in)

    def _at(self, place: Path) -> InstalledArtifact:
        for each in self._installed.list():
            if self._installed.files.place(each.key) == place:
                return each
        raise CortexError(
            "artifact_not_found",
            f"{place} is no folder of an installed artifact",
            hint="cortex-skills installed list shows what is installed",
        )


def _compare(snapshot: SkillSnapshot, entries: Mapping[str, bytes]) -> None:
    for path, text in snapshot.texts().items():
        if text.encode("utf-8", "surrogatepass") != entries.get(path, b"").removeprefix(_BOM):
            raise CortexError(
                "signature_invalid",
                f"{path} of {snapshot.name} differs from the signed file of its artifact",
                hint="find out who changed it, remove the artifact, and install it again",
            )
