"""A process of one of two hosts: `host_process.py ROLE STORE SKILL WORKSPACE FILE [STEP]`; the host is XDG_DATA_HOME.

As `serve` it looks for what was approved elsewhere, 20 times a second, until its standard input ends. As `approve` it
approves each id of a line, and prints the state or the code of the error. With a STEP it prints that step after it was
made, and waits to be killed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cortex_graph import GraphError
from cortex_skills import CortexError
from cortex_skills.features.actions.approvals.elsewhere import ApprovedElsewhere
from tests.approvals.approver import opened, say, stop_after

ApprovedElsewhere.__init__.__defaults__ = (0.05,)


def main(role: str, store: str, skill: str, workspace: str, file: str, step: str = "") -> None:
    """Serve, or approve."""
    settings = {"actions": {"workspace": workspace}, "host": {"name": Path(workspace).name}}
    with opened(json.loads(store), Path(skill), Path(file), serves=role == "serve", **settings) as plugin:
        if step == "run":
            stop_after(plugin.approvals, "_run", step)
        elif step:
            stop_after(plugin.approvals._queue, step, step)
        say("ready")
        for line in sys.stdin:
            try:
                say(plugin.approvals.state_of(plugin.approvals.approve(line.strip(), by="ada")))
            except (CortexError, GraphError) as error:
                say(error.code)


if __name__ == "__main__":
    main(*sys.argv[1:])
