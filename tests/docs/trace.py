"""Count the files that a call enters: `python -m tests.docs.trace`.

Rules kept here:
- a call is traced when everything is loaded: a similar call ran before;
- a file counts when one of its functions is called; a change of file is a call in another file than the call before;
- only files of the three packages count.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType

from cortex_graph import import_rdf
from cortex_skills import Config, Plugin

EXAMPLE = Path("examples", "verify-kyc")
PLAIN = """\
---
name: plain
description: A skill without code.
type: semantic
semantic: {version: 1, permissions: {graph: [read]}, queries: [{predicate: hasStatus, scope: namespace}]}
---
"""
_PACKAGES = {"cortex_skills", "cortex_graph", "cortex_sandbox"}


def traced(work: Callable[[], object]) -> tuple[int, int]:
    """The number of files that `work` enters, and of changes of file."""
    entered: list[str] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and not _PACKAGES.isdisjoint(Path(frame.f_code.co_filename).parts):
            entered.append(frame.f_code.co_filename)

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return len(set(entered)), sum(one != other for one, other in pairwise(entered))


def main() -> None:
    """Print the figures of three calls."""
    with Plugin.open(Config(store="memory:", verification={"requireSignature": False})) as plugin:
        import_rdf(plugin.graph, EXAMPLE / "customers.ttl")
        plugin.load(EXAMPLE)
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder, "plain")
            plain.mkdir()
            (plain / "SKILL.md").write_text(PLAIN)
            plugin.load(plain)

        def query(skill: str) -> Callable[[], object]:
            arguments = {"predicate": "hasStatus", "scope": "namespace"}
            return lambda: plugin.call("skill_graph_query", arguments, skill=skill)

        def assertion(name: str) -> Callable[[], object]:
            plugin.graph.create_triple({"subject": name, "predicate": "hasStatus", "object": "approved"})
            arguments = {"subject": name, "predicate": "isVerified", "object": True}
            return lambda: plugin.call("skill_assert", arguments, skill="verify-kyc")

        calls = {
            "skill_graph_query, a skill without code": (query("plain"), query("plain")),
            "skill_graph_query with enrichment": (query("verify-kyc"), query("verify-kyc")),
            "skill_assert with a proof": (assertion("customer:eve"), assertion("customer:fay")),
        }
        for name, (first, second) in calls.items():
            first()
            files, changes = traced(second)
            sys.stdout.write(f"{name}: {files} files, {changes} changes of file\n")


if __name__ == "__main__":
    main()
