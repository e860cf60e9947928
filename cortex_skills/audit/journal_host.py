"""Which host a journal belongs to: the file `host` in its folder, with the id of the host, a space, and its name.

Rules kept here:
- only in `audit.folder`, which can be on a disk that several hosts have: two hosts would make one chain, whose records
  have the keys of both, and which a lock of the network may not protect;
- the first writer that has an id that lasts makes the file, under the lock of the journal; every other host is refused;
- the owner of a host that was moved, or has a new data folder, adopts the journal: its chain continues.
"""

from __future__ import annotations

import errno
from pathlib import Path

from cortex_skills.config.host_identity import ID, HostIdentity
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.private_files import NotPrivateError, read_private, write_whole

_FILE = "host"
_MAX_BYTES = 200


def other_host(folder: Path, host: HostIdentity) -> str:
    """The name and id of the host that a journal belongs to, if that is another one; else empty.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        words = read_private(folder / _FILE, _MAX_BYTES).decode("ascii", "replace").split()
    except FileNotFoundError:
        return ""
    except NotPrivateError:
        words = []
    id_, name = (*words, "", "")[:2]
    return "" if id_ == host.id else f"{name} ({id_})" if ID.fullmatch(id_) else "an unknown host"


def claim(folder: Path, host: HostIdentity) -> None:
    """Take a journal for a host, while holding its lock.

    Raises:
        OSError: it belongs to another host, or the file cannot be written.
    """
    if other := other_host(folder, host):
        raise PermissionError(errno.EPERM, f"it is the journal of {other}")
    if host.lasts and not (folder / _FILE).exists():
        write_whole(folder / _FILE, f"{host.id} {host.name}\n".encode(), 0o600)


def adopt(folder: Path, host: HostIdentity) -> None:
    """Continue the journal of another host as that of this one.

    Raises:
        OSError: the file cannot be written.
    """
    write_whole(folder / _FILE, f"{host.id} {host.name}\n".encode(), 0o600)


def check(folder: Path, host: HostIdentity) -> None:
    """Refuse a journal of another host; one that cannot be read is reported when it is written.

    Raises:
        CortexError: `config_invalid`.
    """
    try:
        other = other_host(folder, host)
    except OSError:
        return
    if other:
        raise CortexError(
            "config_invalid",
            f"audit.folder: the journal in {folder} is that of {other}, and each host has one of its own",
            hint="name another folder; or, where this host has replaced that one, run `cortex-skills doctor --adopt`",
            details={"folder": str(folder), "host": other},
        )
