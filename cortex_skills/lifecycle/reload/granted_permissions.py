"""Permissions that skills ask for while a host runs, and those that the user has granted.

A host that rejects a skill for a permission writes down what it asked for; `cortex-skills approve` grants it, and the
hosts that watch the folder load the skill.

Rules kept here:
- what a skill asks for no more is taken back when the skill is accepted: nobody grants it later by mistake;
- a grant is for the folder of one skill and for the permissions that were asked for, by name;
- only a private file of this user grants anything: one that others may write to counts as absent;
- a host that cannot write the file still rejects the skill.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from cortex_skills.safe_io.private_files import NotPrivateError, read_private, write_private
from cortex_skills.safe_io.strict_json import read_json

log = logging.getLogger(__name__)

_MAX_BYTES = 64 << 10
_MAX_FILES = 1_000
_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """What one skill's folder has asked for.

    Attributes:
        name: of the skill.
        folder: the skill's, absolute.
        asked: the permissions that wait for an approval, such as `graph:write`, sorted.
        granted: those that were approved, sorted.
        at: the time of the last change, RFC 3339, UTC.
    """

    name: str
    folder: str
    asked: tuple[str, ...]
    granted: tuple[str, ...]
    at: str


class GrantedPermissions:
    """The requests and grants in one private folder."""

    def __init__(self, place: Path) -> None:
        self.place = place

    @classmethod
    def of_user(cls) -> GrantedPermissions:
        """Those in the data folder of this user."""
        from platformdirs import user_data_path

        return cls(user_data_path("cortex-skills", appauthor=False) / "permissions")

    def granted(self, folder: Path) -> frozenset[str]:
        """The permissions that the user has granted to the skill in a folder."""
        request = self._read(self._file(folder))
        same = request is not None and request.folder == str(folder.resolve())
        return frozenset(request.granted) if request is not None and same else frozenset()

    def ask(self, name: str, folder: Path, permissions: Iterable[str]) -> None:
        """Write down what a skill asks for, beyond what is granted."""
        known = self._read(self._file(folder))
        granted = known.granted if known is not None else ()
        asked = tuple(sorted(set(permissions) - set(granted)))
        if known is None or known.asked != asked:
            try:
                self._write(PermissionRequest(name, str(folder.resolve()), asked, granted, _now()))
            except OSError as error:
                log.warning("what %s asks for could not be written down: %s", name, error)

    def withdraw(self, folder: Path, permissions: Iterable[str]) -> None:
        """Take back what a skill asked for and its manifest, with these permissions, names no more."""
        known = self._read(self._file(folder))
        if known is None or set(known.asked) <= (still := set(permissions)):
            return
        asked = tuple(each for each in known.asked if each in still)
        try:
            self._write(replace(known, asked=asked, at=_now()))
        except OSError as error:
            log.warning("that %s asks for less could not be written down: %s", known.name, error)

    def requests(self) -> list[PermissionRequest]:
        """The requests that wait for an approval, by name."""
        try:
            files = sorted(self.place.glob(f"*{_SUFFIX}"))[:_MAX_FILES]
        except OSError:
            return []
        found = [request for request in map(self._read, files) if request is not None and request.asked]
        return sorted(found, key=lambda request: (request.name, request.folder))

    def approve(self, request: PermissionRequest) -> None:
        """Grant what a request asks for.

        Raises:
            OSError: it could not be written.
        """
        granted = tuple(sorted({*request.granted, *request.asked}))
        self._write(PermissionRequest(request.name, request.folder, (), granted, _now()))

    def _file(self, folder: Path) -> Path:
        return self.place / f"{sha256(os.fsencode(folder.resolve())).hexdigest()}{_SUFFIX}"

    def _write(self, request: PermissionRequest) -> None:
        write_private(self._file(Path(request.folder)), json.dumps(asdict(request), indent=1).encode() + b"\n")

    def _read(self, path: Path) -> PermissionRequest | None:
        """The request in a file; None when there is none, or none that this user has written."""
        try:
            document = read_json(read_private(path, _MAX_BYTES))
            name, folder, at = (document[key] for key in ("name", "folder", "at"))
            asked, granted = (tuple(document[key]) for key in ("asked", "granted"))
        except FileNotFoundError:
            return None
        except (NotPrivateError, OSError, ValueError, TypeError, KeyError) as error:
            log.warning("%s is ignored: %s", path, error)
            return None
        if not all(isinstance(text, str) for text in (name, folder, at, *asked, *granted)):
            return None
        return PermissionRequest(name, folder, asked, granted, at)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
