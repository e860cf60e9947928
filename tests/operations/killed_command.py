"""A process that runs a command, prints a step after it was made, and waits to be killed: `… STEP WORDS…`."""

from __future__ import annotations

import sys

from cortex_skills.doors.cli.app import program
from cortex_skills.features.artifacts.installed.artifact_bytes import ArtifactBytes
from cortex_skills.features.graph import copied_parts, transfer_operations
from cortex_skills.features.registry.records import events
from cortex_skills.signatures import fleet_trust, trust_file
from tests.installed.installer import stop_after

STEPS = {
    "statements": (transfer_operations, "copy_store"),
    "bytes": (ArtifactBytes, "_put_piece"),
    "part": (copied_parts, "copy_whole"),
    "registered": (events, "apply_claimed"),
    "revoked": (trust_file, "write_private"),
    "shared": (fleet_trust, "apply_claimed"),
    "accepted": (trust_file.TrustFile, "accept"),
}


if __name__ == "__main__":
    stop_after(*STEPS[sys.argv[1]], sys.argv[1])
    program.main(sys.argv[2:])
