"""Which installation this is: a random id and a name, in every record that another host may read.

    identity = HostIdentity.of(config)
    identity.id, identity.name      # ("5c2f…", "desk.example.org")

Rules kept here:
- the id is in `host.json` in the user's data folder, a private file, which appears complete at its first use and is
  not replaced: a damaged file is an error;
- the file states where it was made, by the folder and the id of the machine: a copy of it is noticed (`copied`);
- where the folder cannot be written, the id lasts as long as the process, with a warning in the log;
- the name is `host.name`, by default that of the machine, without the characters that a setting may not have.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from cortex_skills.config.core_settings import user_data_folder
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.private_files import NotPrivateError, locked, read_private, write_private
from cortex_skills.safe_io.strict_json import read_json

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config

log = logging.getLogger(__name__)

ID = re.compile(r"[0-9a-f]{32}")
MAX_NAME = 64

_FILE = "host.json"
_MEMBERS = ("id", "folder", "machine")
_MAX_BYTES = 8192
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_MACHINE_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_DOMAIN = b"cortex-host-machine/1\0"
_OF_PROCESS: set[str] = set()  # ids that could not be written


@dataclass(frozen=True, slots=True)
class HostIdentity:
    """An installation.

    Attributes:
        id: 32 hexadecimal digits.
        name: what people call it.
    """

    id: str
    name: str

    @classmethod
    def of(cls, config: Config) -> HostIdentity:
        """The identity of this installation; the first use creates it.

        Raises:
            CortexError: `config_invalid`: its file is damaged, or not private.
        """
        return cls(_kept_id(user_data_folder() / _FILE), config.host.name or machine_name())

    @property
    def lasts(self) -> bool:
        """Whether the next process has the same id."""
        return self.id not in _OF_PROCESS

    def to_json(self) -> dict[str, str]:
        """As a JSON object."""
        return {"id": self.id, "name": self.name}


def machine_name() -> str:
    """The name of this machine, as a setting may have it."""
    return _NO_NAME.sub("-", socket.gethostname())[:MAX_NAME].strip("-.") or "host"


def copied() -> str:
    """Why the identity is that of another installation; empty if it is not, or there is none yet.

    Raises:
        CortexError: as for `HostIdentity.of`.
    """
    path = user_data_folder() / _FILE
    stated = _read(path)
    if stated is None:
        return ""
    if stated["folder"] != str(path.parent):
        return f"it was made in {stated['folder']}"
    if stated["machine"] and (machine := _machine()) and stated["machine"] != machine:
        return "it was made on another machine"
    return ""


def adopt() -> str:
    """Make the identity one of this place: a new id, in place of one that was copied; the same one if it was moved.

    It was moved if the folder where it was made is not there any more, on the same machine.

    Returns:
        The id.

    Raises:
        CortexError: as for `HostIdentity.of`.
        OSError: it cannot be written.
    """
    path = user_data_folder() / _FILE
    with locked(path):
        stated = _read(path)
        is_moved = stated is not None and stated["machine"] == _machine() and not Path(stated["folder"]).exists()
        return _write(path, stated["id"] if stated is not None and is_moved else "")


def _kept_id(path: Path) -> str:
    stated = _read(path)
    if stated is not None:
        return stated["id"]
    try:
        with locked(path):
            stated = _read(path)
            return stated["id"] if stated is not None else _write(path)
    except OSError as error:
        return _id_of_process(path, error.strerror or "")


@cache
def _id_of_process(path: Path, problem: str) -> str:
    log.warning("%s cannot be written (%s): this host has another id after the next start", path, problem)
    new = secrets.token_hex(16)
    _OF_PROCESS.add(new)
    return new


def _write(path: Path, kept: str = "") -> str:
    new = kept or secrets.token_hex(16)
    stated = {"id": new, "folder": str(path.parent), "machine": _machine()}
    write_private(path, json.dumps(stated).encode())
    return new


def _read(path: Path) -> dict[str, str] | None:
    """What the file states; None if there is none.

    Raises:
        CortexError: `config_invalid`.
    """
    try:
        stated = read_json(read_private(path, _MAX_BYTES).decode())
        is_text = isinstance(stated, dict) and all(isinstance(stated.get(name), str) for name in _MEMBERS)
        if is_text and ID.fullmatch(stated["id"]):
            found: dict[str, str] = stated
            return found
    except FileNotFoundError:
        return None
    except NotPrivateError as error:
        raise CortexError("config_invalid", f"{path}, the id of this host, {error.problem}", hint=error.hint) from None
    except OSError as error:
        problem = f"{path}, the id of this host, cannot be read: {error.strerror}"
        raise CortexError("config_invalid", problem, hint="check its owner and its mode") from None
    except ValueError:
        pass
    hint = f"restore a copy, or remove {path} to make another one"
    raise CortexError("config_invalid", f"{path}, the id of this host, is damaged", hint=hint)


def _machine() -> str:
    """A digest of the id of this machine; empty where it has none, as in a container."""
    for path in _MACHINE_IDS:
        with suppress(OSError):
            if text := path.read_bytes()[:256].strip():
                return sha256(_DOMAIN + text).hexdigest()[:32]
    return ""
