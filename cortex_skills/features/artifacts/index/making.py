"""Making an index: from artifacts to a folder that any web server can serve.

Rules kept here:
- each artifact is verified first, as on a host that it was made for; whether its publisher is trusted, readers decide;
- the folder contains `index.json`, `pages/` and `artifacts/`. Artifacts and pages are named by their hashes and written
  first, `index.json` replaces the old one last: a reader gets one of two snapshots, each complete. The files of the
  snapshot before stay until the next one;
- the next snapshot has the next number. What was listed keeps its contents: another artifact with the same id and
  version is refused. What was yanked stays yanked;
- the same artifacts, time and key give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from semantic_version import Version

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index.index_document import (
    FIRST_PAGE,
    MAX_PAGE,
    FirstPage,
    read_first_page,
    read_page,
    write_pages,
)
from cortex_skills.features.artifacts.index.index_entry import SUFFIX, IndexEntry, entry_of
from cortex_skills.features.artifacts.index.index_error import invalid
from cortex_skills.features.artifacts.package import (
    ArtifactError,
    RuntimeVersions,
    read_artifact_file,
    read_skill_toml,
    verify_artifact,
)
from cortex_skills.features.artifacts.package.archive import read_archive
from cortex_skills.features.artifacts.package.entry_paths import MANIFEST
from cortex_skills.keys import Key
from cortex_skills.safe_io.private_files import locked, write_whole

MAX_DAYS = 366

_ARTIFACT = re.compile(r".+-[0-9a-f]{16}\.palyra-skill", re.DOTALL)
_PAGE = re.compile(r"[0-9a-f]{64}\.json")


@dataclass(frozen=True, slots=True)
class MadeIndex:
    """An index that was made: its first page, and all its entries."""

    page: FirstPage
    entries: tuple[IndexEntry, ...]


def artifact_files(folder: Path) -> list[Path]:
    """The artifacts in a folder and in those below it, sorted; symbolic links are not followed.

    Raises:
        OSError: the folder cannot be read.
    """
    return sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file() and not path.is_symlink())


def verified_entry(data: bytes) -> IndexEntry:
    """The entry of an artifact, which is verified.

    Args:
        data: the bytes of its file.

    Raises:
        CortexError: the error of the step that failed.
    """
    entries = read_archive(data)
    if MANIFEST not in entries:
        raise ArtifactError(f"the artifact contains no {MANIFEST}", hint="build the artifact again")
    compat = read_skill_toml(entries[MANIFEST]).compat
    its_host = RuntimeVersions(compat.required_protocol_major, compat.min_palyra_version)
    report = verify_artifact(data, its_host, lambda *_: "listed")
    if report.error is not None:
        raise report.error
    if report.manifest is None or report.signature is None:
        raise ArtifactError("the artifact was not read")
    return entry_of(data, report.manifest, report.signature, yanked=False)


def build_index(
    artifacts: Iterable[bytes],
    folder: Path,
    *,
    key: Key,
    publisher: str,
    now: datetime,
    lasts: timedelta,
    yank: Collection[tuple[str, str]] = (),
) -> MadeIndex:
    """Make the next snapshot of an index in a folder.

    Args:
        artifacts: the bytes of the artifacts.
        folder: where the files are written; created if needed.
        key: signs the index.
        publisher: who signs it.
        now: the time, with its zone.
        lasts: how long it is valid: up to 366 days.
        yank: ids and versions that are withdrawn from now on.

    Raises:
        CortexError: an artifact is not valid, or differs from the one that was listed; `index_invalid`: the index that
            is there cannot be read, or was signed with another key; `invalid_arguments`.
        OSError: the folder cannot be written.
    """
    if not timedelta(0) < lasts <= timedelta(days=MAX_DAYS):
        raise CortexError("invalid_arguments", f"an index is valid for 1 to {MAX_DAYS} days", hint="name fewer days")
    for each in (folder / "artifacts", folder / "pages"):
        each.mkdir(mode=0o755, parents=True, exist_ok=True)
    with locked(folder / ".index"):
        before = read_folder(folder)
        if before is not None and before.page.signature.public_key != key.public:
            raise invalid(
                f"the index in {folder} was signed with another key",
                hint="sign with that key; or make a new index in an empty folder, and announce its key",
            )
        listed = {(each.skill_id, each.version): each for each in before.entries} if before else {}
        entries = _entries(artifacts, folder, listed, frozenset(yank))
        made_at = int(now.timestamp() * 1000)
        files = write_pages(
            entries,
            snapshot=before.page.snapshot + 1 if before else 1,
            publisher=publisher,
            key=key,
            generated_at_unix_ms=made_at,
            expires_at_unix_ms=made_at + int(lasts.total_seconds() * 1000),
        )
        for address, data in files.items():  # index.json is the last
            write_whole(folder / address, data, 0o644)
        made = MadeIndex(read_first_page(files[FIRST_PAGE]), tuple(entries))
        _remove_others(folder, [made, *([before] if before else [])])
    return made


def read_folder(folder: Path) -> MadeIndex | None:
    """The index in a folder; None if there is none.

    Raises:
        CortexError: `index_invalid`, `signature_invalid`: it is damaged.
        OSError: it cannot be read.
    """
    try:
        page = read_first_page(_read(folder / FIRST_PAGE))
    except FileNotFoundError:
        return None
    try:
        others = [read_page(_read(folder / each.address), each, page.snapshot) for each in page.pages]
    except FileNotFoundError as error:
        raise invalid(f"the page {error.filename} of the index is missing", hint="restore it from a copy") from None
    return MadeIndex(page, (*page.entries, *(entry for entries in others for entry in entries)))


def _entries(
    artifacts: Iterable[bytes],
    folder: Path,
    listed: dict[tuple[str, str], IndexEntry],
    yank: frozenset[tuple[str, str]],
) -> list[IndexEntry]:
    """The entries of artifacts, whose files are written."""
    found: dict[tuple[str, str], IndexEntry] = {}
    for data in artifacts:
        entry = verified_entry(data)
        what = (entry.skill_id, entry.version)
        name = " ".join(what)
        other = found.get(what) or listed.get(what)
        if other is not None and other.payload_sha256 != entry.payload_sha256:
            raise invalid(f"{name} is listed with other contents", hint="give the changed artifact a new version")
        if what in found:
            raise invalid(f"{name} is there twice", hint="remove one of the two files")
        found[what] = replace(entry, yanked=what in yank or (what in listed and listed[what].yanked))
        _write_artifact(folder / entry.artifact, data, entry.artifact_sha256)
    if unknown := yank - found.keys():
        name = " ".join(min(unknown))
        raise CortexError("invalid_arguments", f"{name} is not in the index", hint="name an artifact of the folder")
    return sorted(
        found.values(), key=lambda entry: (entry.skill_id, Version(entry.version).precedence_key, entry.version)
    )


def _write_artifact(path: Path, data: bytes, expected: str) -> None:
    with suppress(ArtifactError):
        if sha256(read_artifact_file(path)).hexdigest() == expected:
            return
    write_whole(path, data, 0o644)


def _remove_others(folder: Path, kept: list[MadeIndex]) -> None:
    """Remove artifacts and pages of earlier snapshots; other files stay."""
    names = {entry.artifact for index in kept for entry in index.entries}
    names |= {page.address for index in kept for page in index.page.pages}
    for part, pattern in (("artifacts", _ARTIFACT), ("pages", _PAGE)):
        for path in (folder / part).iterdir():
            if pattern.fullmatch(path.name) and f"{part}/{path.name}" not in names:
                path.unlink(missing_ok=True)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_PAGE + 1)
