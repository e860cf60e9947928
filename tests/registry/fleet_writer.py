"""A process that registers skills at once with those of other hosts: `fleet_writer.py STORE_AS_JSON NAMESPACE COUNT`.

It waits for a line before each, and prints the number of the version that it registered, or the code of its error.
"""

from __future__ import annotations

import json
import os
import sys

from cortex_graph import GraphError, open_store
from cortex_graph.naming.names import Names
from cortex_skills import CortexError
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.keys import Key


def main(store: str, namespace: str, count: str) -> None:
    """Register the next version of one skill with another body, and a name that all try to take."""
    key = Key("local", os.urandom(32))
    registry = SkillRegistry(open_store(json.loads(store)), Names(namespace), lambda: key)
    answer("ready")
    for number in range(int(count)):
        sys.stdin.readline()
        for name, body, create_only in (("shared", f"{os.getpid()} {number}", False), (f"n{number}", "one", True)):
            document = SkillDocument.checked(namespace=namespace, name=name, description="d", body=f"{body}\n")
            try:
                done = registry.register(document, actor="a1", origin="human", create_only=create_only)
                answer(f"{name} {done.version.number} {done.created}")
            except (CortexError, GraphError) as error:
                answer(f"{name} {error.code}")


def answer(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
