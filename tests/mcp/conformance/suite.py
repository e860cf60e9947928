"""Runs the conformance suite against a server, and reads what it found.

Rules kept here:
- a scenario passes if each of its checks does; the suite's warnings and skipped checks count as failures;
- the suite waits a second or less for some events, so a scenario that does not pass is run again, `ATTEMPTS` times at
  most.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = HERE / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
ATTEMPTS = 3
_RUN_S = 250
_GOOD = {"SUCCESS", "INFO"}
_FOLDER = re.compile(r"server-(?P<scenario>.+?)-\d{4}-\d{2}-\d{2}T.*")

Bad = dict[str, str]


def run(url: str, out: Path, words: Sequence[str], refused: Callable[[str], bool]) -> dict[str, Bad]:
    """By scenario, the checks that did not pass, with their reasons.

    Args:
        url: the server's.
        out: a folder for the results.
        words: which scenarios, as options of the suite; the last is the revision of the protocol.
        refused: whether a scenario is expected not to pass, and not run again.

    """
    found = _once(url, out / "all", *words)
    for attempt in range(1, ATTEMPTS):
        for scenario in [name for name, bad in found.items() if bad and not refused(name)]:
            again = ["--scenario", scenario, "--spec-version", words[-1]]
            found[scenario] = _once(url, out / f"{scenario}-{attempt}", *again)[scenario]
    return found


def _once(url: str, out: Path, *words: str) -> dict[str, Bad]:
    command = ["node", "--import", str(HERE / "node20.mjs"), str(PROGRAM), "server", "--url", f"{url}/mcp", *words]
    done = subprocess.run(
        [*command, "--output-dir", str(out)], capture_output=True, text=True, timeout=_RUN_S, cwd=HERE, check=False
    )
    found: dict[str, Bad] = {}
    for file in sorted(out.rglob("checks.json")):
        name = _FOLDER.fullmatch(file.parent.name)
        assert name is not None, file
        checks = json.loads(file.read_text(encoding="utf-8"))
        found[name["scenario"]] = {
            check["id"]: f"{check['status']}: {check.get('errorMessage', '')}"
            for check in checks
            if check["status"] not in _GOOD
        }
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    return found
