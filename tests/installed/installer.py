"""A process that installs files: `installer.py STORE FOLDER STEP FILE…`.

It waits for a line, installs the files, and prints the status of each, or the code of its error. With a STEP (`stage`,
`rename`, `index`, `trust`) it prints that step after it was made, and waits to be killed; with `disk` its disk is full.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cortex_graph import open_store
from cortex_skills import CortexError
from cortex_skills.features.artifacts.installed import artifact_files, installation
from cortex_skills.features.artifacts.installed.installed_index import InstalledIndex
from tests.installed.samples import install, place


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def stop_after(owner: Any, name: str, step: str) -> None:
    """Print a step after a function was called, and wait to be killed."""
    function: Callable[..., Any] = getattr(owner, name)

    def call(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        say(step)
        time.sleep(60)
        return result

    setattr(owner, name, call)


def full(*_: Any) -> None:
    """Fail as a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def main(store: str, folder: str, step: str, *files: str) -> None:
    """Install the files."""
    installed = place(Path(folder), open_store(store))
    match step:
        case "stage":
            stop_after(artifact_files, "_write_tree", step)
        case "rename":
            stop_after(artifact_files.ArtifactFiles, "write", step)
        case "index":
            stop_after(InstalledIndex, "change", step)
        case "trust":
            stop_after(installation, "remember", step)
        case "disk":
            artifact_files.os.fsync = full  # type: ignore[assignment]
    say("ready")
    sys.stdin.readline()
    for file in files:
        try:
            say(install(installed, Path(file).read_bytes(), allow_downgrade=True).status)
        except CortexError as error:
            say(error.code)


if __name__ == "__main__":
    main(*sys.argv[1:])
