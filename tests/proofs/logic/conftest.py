"""What the tests of Proofs of Logic share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_skills import Config
from cortex_skills.features.proofs.logic.prover import Prover
from cortex_skills.features.proofs.logic.shacl_engine import ENGINE
from cortex_skills.skill_folder.rule_set import RuleSet, read_rules

PREFIXES = """@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <urn:cortex:mayros:> .
"""
ORIGIN = Provenance(skill="probe", skill_version="1.2.3", agent="bob")


def config_with_time(**proofs: Any) -> Config:
    """A configuration with a long time limit for shapes: the process that evaluates them has to start."""
    return Config(proofs=proofs, skill_sandbox={"proofTimeoutMs": 60_000})


def shapes(text: str, name: str = "skill:probe") -> RuleSet:
    return read_rules(PREFIXES + text, name, "1.2.3")


@pytest.fixture(scope="session", autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    ENGINE.close()


@pytest.fixture(params=["memory", "disk"])
def graph(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NamespacedGraph]:
    store = open_store("memory:" if request.param == "memory" else str(tmp_path / "store"))
    yield NamespacedGraph(store, "mayros")
    store.close()


@pytest.fixture
def plain() -> Iterator[NamespacedGraph]:
    """A graph in memory, for what no store makes different."""
    store = open_store("memory:")
    yield NamespacedGraph(store, "mayros")
    store.close()


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return config_with_time(keys=str(tmp_path / "keys"))


@pytest.fixture
def prover(graph: NamespacedGraph, config: Config) -> Prover:
    return Prover(config, graph)
