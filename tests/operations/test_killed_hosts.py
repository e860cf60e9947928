"""A host that is killed in the middle of a command leaves to the other hosts of its store what was there, or all of it.

Steps of installing and getting artifacts are in `tests/installed/test_processes_of_a_fleet.py`, those of approving and
running actions in `tests/approvals/test_two_hosts.py`, those of copying a store in `test_copied_stores.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cortex_graph import GraphStore, open_store
from cortex_graph.naming.names import Names
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.keys import Key
from cortex_skills.signatures import RevokedKey, TrustFile
from cortex_skills.signatures.fleet_trust import FleetTrust
from tests.plugin.skills import write_skill
from tests.services.oxigraph import oxigraph

pytestmark = [pytest.mark.extended, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
OWNER = Key("owner", bytes(range(2, 34)))
LOST = RevokedKey(Key("lost", b"l" * 32).did, "stolen", "2026-01-01T00:00:00Z")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with oxigraph() as running:
        yield running.url


@pytest.fixture
def store(server: str) -> Iterator[GraphStore]:
    with closing(open_store(server)) as opened:
        yield opened


def killed_after(step: str, home: Path, server: str, namespace: str, *words: object) -> None:
    """Run a command as a host with a home, and kill it after a step."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    variables = kept | {
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "CORTEX_STORE": server,
        "CORTEX_AGENT_NAMESPACE": namespace,
        "CORTEX_VERIFICATION__OWNER": OWNER.did,
        "CORTEX_PROOFS__KEYS": str(home / "keys"),
    }
    command = [sys.executable, "-m", "tests.operations.killed_command", step, *map(str, words)]
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == step
        process.kill()


def test_a_skill_whose_registration_was_killed_is_registered_once_and_the_chain_is_whole(
    server: str, store: GraphStore, tmp_path: Path
) -> None:
    folder = write_skill(tmp_path / "killed-skill", assertions=[])
    killed_after("registered", tmp_path, server, "registered", "registry", "add", folder)
    second = SkillRegistry(store, Names("registered"), lambda: Key("second", b"2" * 32))
    assert second.verify_events() is None
    (record,) = [record for record in second.all_records() if record.key.name == "killed-skill"]
    assert [version.number for version in second.versions(record.key)] == [1]
    document = second.document(second.current(record.key))
    second.register(replace(document, body="More.\n"), actor="ada", origin="human")
    assert [version.number for version in second.versions(record.key)] == [1, 2]
    assert second.verify_events() is None


@pytest.mark.parametrize("step", ["revoked", "shared", "accepted"])
def test_a_key_whose_revocation_was_killed_is_revoked_on_every_host_once_it_is_shared_again(
    server: str, store: GraphStore, tmp_path: Path, step: str
) -> None:
    names = Names(f"revoked-{step}")
    (tmp_path / "keys").mkdir(mode=0o700)
    seed = tmp_path / "keys" / "owner.seed"
    seed.write_bytes(bytes(range(2, 34)))
    seed.chmod(0o600)

    def host(home: Path) -> FleetTrust:
        data, config = home / "data/cortex-skills", home / "config/cortex-skills"
        return FleetTrust(store, names, TrustFile(data / "trust.json", config / "trust.key", owner=OWNER.did))

    first, second = host(tmp_path), host(tmp_path / "other")
    first.share(OWNER)
    second.look()
    if step == "revoked":
        killed_after(step, tmp_path, server, names.namespace, "trust", "revoke", LOST.key)
    else:
        first.file.change(lambda state: state.with_revoked(LOST))
        killed_after(step, tmp_path, server, names.namespace, "trust", "share", "--key", "owner")
    first = host(tmp_path)
    for each in (second, first):
        each.look()
    assert list(second.file.trust().revoked) == ([] if step == "revoked" else [LOST.key])
    first.file.change(lambda state: state.with_revoked(LOST))
    assert first.share(OWNER).number == (2 if step == "revoked" else 3)
    second.look()
    assert list(second.file.trust().revoked) == [LOST.key]
