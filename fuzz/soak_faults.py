"""The faults of the soak: full disks and flipped bytes.

Rules kept here:
- a full disk is a small file system in memory, filled by another file, where this process may mount one; elsewhere the
  processes get a limit of the size of a file, which fails in the same calls with another error;
- bytes are flipped in one file of the store, of each kind equally often, while no process has it open. Lock files and
  the text log of RocksDB are left alone: they hold no data.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_BYTES = 384 << 20  # of the file system
_LEFT = (0, 64 << 10, 1 << 20)  # bytes that stay free on a full disk
_FILE_BYTES = 4 << 10  # the limit in place of a full disk
_NO_DATA = ("LOCK", "LOG", "IDENTITY", "OPTIONS-")


class Disk:
    """The disk of a store: `folder` is on it.

    Args:
        folder: the folder of the disk.
        is_mounted: whether it is a file system of its own.

    """

    def __init__(self, folder: Path, is_mounted: bool) -> None:
        self.folder = folder
        self.is_mounted = is_mounted
        self.can_fill = is_mounted or hasattr(resource, "prlimit")
        self._filler = folder / "filler"

    def fill(self, dice: random.Random, processes: Iterable[int]) -> None:
        """Leave almost no space to some processes."""
        left = dice.choice(_LEFT)
        if not self.is_mounted:
            self._limit(processes, _FILE_BYTES)
            return
        status = os.statvfs(self.folder)
        with self._filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            os.posix_fallocate(file.fileno(), 0, max(1, status.f_bavail * status.f_frsize - left))

    def free(self, processes: Iterable[int]) -> None:
        """Undo `fill`."""
        self._filler.unlink(missing_ok=True)
        if not self.is_mounted:
            self._limit(processes, resource.RLIM_INFINITY)

    def is_half_full(self) -> bool:
        """Return whether it is time for a new store."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file()) > _BYTES // 2

    @staticmethod
    def _limit(processes: Iterable[int], size: int) -> None:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(process, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@contextmanager
def disk_in(folder: Path) -> Iterator[Disk]:
    """Mount a small file system below a folder, if this process may."""
    place = folder / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_BYTES}", "none", str(place)]
    is_mounted = (
        bool(shutil.which("mount")) and not subprocess.run(command, capture_output=True, check=False).returncode
    )
    try:
        yield Disk(place, is_mounted)
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(place)], check=False)


def flip_bytes(store: Path, dice: random.Random) -> str:
    """Change some bytes of one file of a store; returns which ones."""
    kinds: dict[str, list[Path]] = {}
    for file in sorted(store.iterdir()):
        if file.is_file() and file.stat().st_size and not file.name.startswith(_NO_DATA):
            kinds.setdefault(file.suffix or file.name.partition("-")[0], []).append(file)
    file = dice.choice(dice.choice(list(kinds.values())))
    size = file.stat().st_size
    start = dice.randrange(size)
    count = min(dice.choice((1, 4, 32)), size - start)
    with file.open("r+b") as opened:
        opened.seek(start)
        old = opened.read(count)
        opened.seek(start)
        opened.write(bytes(byte ^ dice.randint(1, 255) for byte in old))
    return f"{count} bytes at {start} of {size} in {file.name}"
