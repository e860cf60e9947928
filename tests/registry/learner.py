"""A process that learns skills until it is killed: `learner.py STORE NAME`. It prints each one that was learned."""

from __future__ import annotations

import sys

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.features.registry.learning import as_they_ran, register_learned
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.session_calls import SessionCall
from cortex_skills.features.registry.skill_finder import SkillFinder
from cortex_skills.keys import Key
from tests.registry.writer import say


def main(folder: str, writer: str) -> None:
    """Learn the same skill with other steps again and again: it is registered, and merged into the first one."""
    registry = SkillRegistry(open_store(folder), Names("mayros"), lambda: Key("local", b"\1" * 32))
    finder = SkillFinder(registry)
    for number in range(1000):
        calls = [SessionCall(f"tool_{writer}_{number}", {}, "ok"), SessionCall("fs_write", {}, "ok")]
        document = as_they_ran(calls, "mayros", "refresh-the-report", "Refreshes the report of the week.")
        say(f"learned {register_learned(registry, finder, document, actor=writer).version.digest}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
