"""A process of one host of a fleet: `fleet_host.py STORE_AS_JSON FOLDER NAMESPACE STEP WHAT…`.

It waits for a line, then installs (`WHAT` is a file) or opens (an id) each, and prints the status or the code of its
error. With a STEP (see `STEPS`) it prints that step after it was made, and waits to be killed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cortex_graph import open_store
from cortex_skills import CortexError
from cortex_skills.features.artifacts.installed import artifact_files, installed_artifacts
from cortex_skills.features.artifacts.installed.artifact_bytes import ArtifactBytes
from cortex_skills.features.artifacts.installed.artifact_files import ArtifactFiles
from cortex_skills.features.artifacts.installed.installed_index import InstalledIndex
from tests.installed.installer import say, stop_after
from tests.installed.samples import install, place

STEPS = {
    "piece": (ArtifactBytes, "_put_piece"),
    "size": (ArtifactBytes, "put"),
    "get": (ArtifactBytes, "get"),
    "verified": (installed_artifacts, "verify_artifact"),
    "stage": (artifact_files, "_write_tree"),
    "rename": (ArtifactFiles, "write"),
    "index": (InstalledIndex, "change"),
}


def main(store: str, folder: str, namespace: str, step: str, *given: str) -> None:
    """Install and open."""
    installed = place(Path(folder), open_store(json.loads(store)), namespace)
    if step:
        stop_after(*STEPS[step], step)
    say("ready")
    sys.stdin.readline()
    for each in given:
        try:
            if each.endswith(".palyra-skill"):
                say(install(installed, Path(each).read_bytes(), allow_downgrade=True).status)
            else:
                say(installed.open(each).installed.status)
        except CortexError as error:
            say(error.code)


if __name__ == "__main__":
    main(*sys.argv[1:])
