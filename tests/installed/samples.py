"""Artifacts that can be installed, and a place to install them in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_graph.store import GraphStore
from cortex_skills import Plugin
from cortex_skills.features.artifacts import artifact_operations
from cortex_skills.features.artifacts.artifact_operations import AskedGrants
from cortex_skills.features.artifacts.installed import InstalledArtifact, InstalledArtifacts
from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers
from cortex_skills.features.artifacts.installed.installation import InstallOptions, finish, prepare
from cortex_skills.features.artifacts.installed.installed_audit import Judge, audit_installed
from cortex_skills.features.artifacts.package import write_archive
from tests.artifacts.samples import BILL, KEY, MANIFEST, payload, signed
from tests.configs import config
from tests.wasm.modules import core

ALL = GrantAnswers(rest=True)
MODULE = core("(i32.const 0)")
NETWORK = """
[capabilities]
http_egress_allowlist = ["api.example.org", "cdn.example.org"]
secrets = [{ scope = "global", key_names = ["api_token"] }]
graph = { read = true, write = true, predicates = ["hasStatus"] }
"""


def manifest(version: str = "1.2.0", more: str = "", name: str = "echo_http") -> str:
    """A `skill.toml`."""
    return MANIFEST.replace("1.2.0", version).replace("acme.echo_http", f"acme.{name}") + more


def artifact(
    version: str = "1.2.0",
    more: str = "",
    name: str = "echo_http",
    content: Mapping[str, bytes] | None = None,
    bill: object = BILL,
    key: Any = KEY,
) -> bytes:
    """The bytes of a valid artifact of `acme`."""
    content = {"modules/echo.wasm": MODULE, "assets/prompt.txt": b"hello"} if content is None else content
    return write_archive(signed(payload(manifest(version, more, name), content, bill), key=key))


def place(
    folder: Path, store: GraphStore | None = None, namespace: str = "mayros", **settings: Any
) -> InstalledArtifacts:
    """Where artifacts are installed."""
    settings.setdefault("artifacts", {"folder": str(folder)})
    return InstalledArtifacts(config(**settings), store or open_store("memory:"), Names(namespace))


def install_with(plugin: Plugin, data: bytes, answers: GrantAnswers = ALL, **options: Any) -> InstalledArtifact:
    """Install an artifact with a plugin, as the owner does."""
    done = plugin.operate(
        artifact_operations.install,
        by="ada",
        data=data,
        options=InstallOptions(**options),
        answers=AskedGrants(answers),
    )
    return plugin.installed.find(done["skillId"], done["version"])


def judge(installed: InstalledArtifacts) -> Judge:
    """Audits a version and stores what it finds, as a server does."""
    return lambda key: audit_installed(installed, key.skill_id, key.version, actor="serve")


def install(
    installed: InstalledArtifacts, data: bytes, answers: GrantAnswers = ALL, **options: Any
) -> InstalledArtifact:
    """Install an artifact."""
    return finish(installed, prepare(installed, data, InstallOptions(**options)), answers, actor="ada")
