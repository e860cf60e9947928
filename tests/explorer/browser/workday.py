"""A server after two days of work: verified customers, packages, memories, sessions, and requests that wait.

The graph has real data: the customers of `examples/verify-kyc`, and the metadata of the packages of this environment.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from cortex_graph import Provenance, import_rdf
from cortex_skills import Plugin
from cortex_skills.features.memory.requests import new_memory
from tests.configs import config
from tests.plugin.skills import write_skill
from tests.server.serving import Running, served

EXAMPLES = Path(__file__).parents[3] / "examples"
KYC = EXAMPLES / "verify-kyc"
PERSON = ("read", "write", "audit", "provenance", "registry", "approve", "memories")
NOTES = "# Notes\n\nalpha.md: the first\nbeta.md: the second\n"


def packages() -> Iterator[dict[str, Any]]:
    """What the metadata of the packages of this environment states."""
    for each in distributions():
        subject = f"package:{each.name}"
        yield {"subject": subject, "predicate": "hasVersion", "object": each.version}
        names = {
            re.split(r"[^\w.-]", needed, maxsplit=1)[0] for needed in each.requires or () if "extra ==" not in needed
        }
        for name in sorted(names):
            yield {"subject": subject, "predicate": "dependsOn", "object": {"node": f"package:{name}"}}


@contextmanager
def at_work(folder: Path) -> Iterator[Running]:
    """The server; its workspace has `docs/alpha.md`, `docs/beta.md` and `out/index.md`."""
    place = folder / "notes"
    for name, text in (("docs/alpha.md", "# Alpha\n"), ("docs/beta.md", "# Beta\n"), ("out/index.md", "# Notes\n")):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    settings = config(
        store=str(folder / "store"),
        proofs={"keys": str(folder / "keys")},
        cortex={"tokenFile": str(folder / "tokens.json")},
        audit={"folder": str(folder / "journal"), "journal": "on"},
        tools={"profiles": ["operator"]},
        actions={"trustLevel": "supervised_auto", "workspace": str(place)},
    )
    plugin = Plugin.open(settings)
    import_rdf(plugin.graph, KYC / "customers.ttl")
    manifest = shutil.copytree(KYC, folder / "verify-kyc") / "SKILL.md"
    text = manifest.read_text().replace("    - hub_search\n", "    - hub_search\n    - fs_read\n    - fs_write\n")
    manifest.write_text(text)
    plugin.load(manifest.parent)
    plugin.load(write_skill(folder / "tidy-notes", allowedTools=["*"]))
    with served(folder, plugin=plugin) as running:
        before = datetime.now(UTC) - timedelta(days=2)
        plugin.graph.create_triples(list(packages()), Provenance("inventory", "1.0.0", "librarian", before))
        day(plugin)
        yield running


def day(plugin: Plugin) -> None:
    """What two agents did today."""

    def call(
        tool: str, arguments: dict[str, Any], skill: str, agent: str, session: str, code: str | None = None
    ) -> None:
        assert plugin.call(tool, arguments, skill=skill, agent=agent, session=session).code == code, tool

    for customer, code in (("boris", None), ("ada", None), ("dolores", "proof_failed")):
        given = {"subject": f"customer:{customer}", "predicate": "isVerified", "object": True, "proofType": "pol"}
        call("skill_assert", given, "verify-kyc", "auditor", "morning", code)
    call("skill_graph_query", {"predicate": "hasStatus", "scope": "namespace"}, "verify-kyc", "auditor", "morning")
    for text in ("Chidi sends papers by courier", "Boris prefers to be called in the afternoon", "Ada moved to Oslo"):
        plugin.memories.remember(new_memory(text, {"tags": ["customer"]}), agent="auditor")
    call("fs_read", {"path": "docs/alpha.md"}, "tidy-notes", "librarian", "tidy")
    call("fs_write", {"path": "out/index.md", "content": NOTES, "overwrite": True}, "tidy-notes", "librarian", "tidy")
    call("fs_write", {"path": "out/todo.md", "content": "- read\n"}, "tidy-notes", "librarian", "tidy")
