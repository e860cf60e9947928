"""Four processes of two hosts register skills at once on one server: each version once, and one chain."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey
from tests.installed.test_processes_that_install import ROOT, go, line
from tests.services.oxigraph import oxigraph
from tests.services.virtuoso import Unavailable, virtuoso

pytestmark = pytest.mark.slow

WRITERS, ROUNDS = 4, 3


@pytest.fixture(
    params=[
        "oxigraph on a disk",
        pytest.param("oxigraph", marks=pytest.mark.extended),
        pytest.param("virtuoso", marks=pytest.mark.extended),
    ]
)
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    if request.param.startswith("oxigraph"):
        with oxigraph(*(["--location", str(tmp_path)] if "disk" in request.param else [])) as server:
            yield server.url
        return
    try:
        with virtuoso(tmp_path) as server:
            monkeypatch.setenv("TEST_VIRTUOSO_PASSWORD", "dba")
            auth = {"type": "digest", "user": "dba", "password": "${TEST_VIRTUOSO_PASSWORD}"}
            yield {"query": f"{server.url}/sparql-auth", "auth": auth}
    except Unavailable as reason:
        pytest.skip(str(reason))


def test_each_version_is_registered_once_and_the_chain_does_not_fork(store: Any) -> None:
    words = [sys.executable, "-m", "tests.registry.fleet_writer", json.dumps(store), "fleet", str(ROUNDS)]
    writers = [
        subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(WRITERS)
    ]
    try:
        assert [line(writer) for writer in writers] == ["ready"] * WRITERS
        numbers = []
        for number in range(ROUNDS):
            for writer in writers:
                go(writer)
            answers = [(line(writer), line(writer)) for writer in writers]
            numbers += [int(shared.split()[1]) for shared, _ in answers]
            assert {shared.split()[2] for shared, _ in answers} == {"True"}
            taken = sorted(own for _, own in answers)
            assert taken == [f"n{number} 1 True"] + [f"n{number} skill_exists"] * (WRITERS - 1)
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    assert sorted(numbers) == list(range(1, WRITERS * ROUNDS + 1))
    opened = open_store(store)
    registry = SkillRegistry(opened, Names("fleet"), lambda: None)
    assert registry.verify_events() is None
    assert registry.log.count() == WRITERS * ROUNDS + ROUNDS
    assert [each.number for each in registry.versions(SkillKey("fleet", "shared"))] == sorted(numbers)
    opened.close()
