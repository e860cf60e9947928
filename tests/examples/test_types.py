"""The type declarations for skill authors, checked with the compiler and against the runtime."""

import logging
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import EXAMPLES, enrichment

TYPECHECK = Path(__file__).parent / "typecheck"
COMPILER = TYPECHECK / "node_modules" / "typescript" / "bin" / "tsc"

MANIFEST = """\
---
name: use
description: Uses every function of the API.
type: semantic
semantic:
  version: 1
  permissions: {graph: [read, write], memory: [recall, remember]}
  assertions: [{predicate: p}]
  enrichment: {fields: {predicate: {text: true}, scope: {enum: [agent, namespace, global]}}}
---
"""


@pytest.mark.skipif(shutil.which("node") is None or shutil.which("npm") is None, reason="Node.js is not installed")
def test_the_compiler_accepts_the_examples_and_rejects_misuse():
    if not COMPILER.is_file():
        subprocess.run(["npm", "ci", "--silent"], cwd=TYPECHECK, check=True, timeout=100)

    for project in (EXAMPLES, TYPECHECK):
        command = ["node", str(COMPILER), "--noEmit", "--strict", "--project", str(project)]
        checked = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert (checked.stdout, checked.returncode) == ("", 0)


def test_the_declared_types_match_the_runtime(plugin, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    (tmp_path / "use").mkdir()
    (tmp_path / "use" / "SKILL.md").write_text(MANIFEST)
    shutil.copy(TYPECHECK / "use.ts", tmp_path / "use" / "skill.ts")
    for object_ in ("text", {"node": "b"}):
        plugin.graph.create_triple({"subject": "x", "predicate": "q", "object": object_})
    plugin.load(tmp_path / "use")

    result = plugin.call("skill_graph_query", {"predicate": "q", "scope": "namespace"})
    assert result.details["enrichment"]["status"] == "ok"
    assert [triple["object"] for triple in result.details["matches"]] == [{"node": "mayros:b"}]
    assert enrichment(result) == {
        "predicate": "mayros:q",
        "scope": "namespace",
        "total": 0,
        "totalIsExact": True,
        "seen": 2,
    }
    assert "[skill:use] as info" in [record.getMessage() for record in caplog.records]
    assert plugin.graph.list_triples({"predicate": "p"})["triples"] == []
