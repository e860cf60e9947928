"""The example in TypeScript: as a folder that is loaded, and as an artifact."""

from __future__ import annotations

import json
from pathlib import Path

from cortex_skills import Plugin
from cortex_skills.enrichment import read_block
from cortex_skills.features.artifacts.package.build import build_artifact
from cortex_skills.features.artifacts.package.project import read_project
from cortex_skills.keys import Key
from tests.configs import config

EXAMPLE = Path(__file__).parents[2] / "sdk" / "typescript" / "low-stock"


def test_the_example_lists_what_is_running_low() -> None:
    with Plugin.open(config(), developing=[EXAMPLE]) as plugin:
        plugin.load(EXAMPLE)
        for name, count in (("screws", 250), ("nails", 3)):
            plugin.graph.create_triple({"subject": name, "predicate": "inStock", "object": count})
        result = plugin.call("skill_graph_query", {"predicate": "inStock", "scope": "namespace"})
        assert not result.is_error, result.text
        assert read_block(result.text) == {"low": ["mayros:nails"]}


def test_the_example_is_packed_as_it_is() -> None:
    built = build_artifact(read_project(EXAMPLE, "acme"), Key("acme", bytes([1]) * 32), 1_760_000_000_000)
    manifest = built.report.manifest
    assert manifest is not None
    assert (manifest.skill_id, manifest.version, manifest.is_semantic) == ("acme.low-stock", "1.0.0", True)
    for name in ("SKILL.md", "skill.ts"):
        assert built.report.entries[f"assets/skill/{name}"] == (EXAMPLE / name).read_bytes()
    assert json.loads(built.report.entries["provenance.json"])["subject"][0]["name"] == "assets/skill/SKILL.md"
