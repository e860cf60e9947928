"""A process that changes a registry until it ends or is killed: `writer.py STORE NAME COUNT`.

It prints a line for each change that was acknowledged.
"""

from __future__ import annotations

import sys

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.features.registry.documents.document import SkillDocument, SkillResource
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.keys import Key


def main(folder: str, writer: str, count: int) -> None:
    """Register versions of one shared skill and of an own one, and merge the own one into the shared one."""
    store = open_store(folder)
    registry = SkillRegistry(store, Names("mayros"), lambda: Key("local", b"\1" * 32))
    for number in range(count):
        for name in ("shared", own := f"own-{writer}-{number}"):
            document = SkillDocument.checked(
                namespace="mayros",
                name=name,
                description="d",
                body=f"{writer} {number}\n",
                resources=(SkillResource(f"a{number}", bytes([number]) * 1000),),  # as in the other processes
            )
            version = registry.register(document, actor=writer, origin="learned").version
            say(f"registered {name} {version.digest}")
        registry.merge(SkillKey("mayros", "shared"), SkillKey("mayros", own), actor=writer)
        say(f"merged {own}")
    store.close()


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
