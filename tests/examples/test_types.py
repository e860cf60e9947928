"""The types that skill authors get: the real compiler, and the real runtime."""

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
description: Uses everything that there is.
type: semantic
semantic:
  version: 1
  permissions: {graph: [read, write], memory: [recall, remember]}
  assertions: [{predicate: p}]
---
"""


@pytest.mark.skipif(shutil.which("node") is None or shutil.which("npm") is None, reason="Node.js is not here")
def test_the_examples_and_the_types_pass_the_compiler_and_misuse_does_not():
    if not COMPILER.is_file():
        subprocess.run(["npm", "ci", "--silent"], cwd=TYPECHECK, check=True, timeout=100)

    for project in (EXAMPLES, TYPECHECK):
        command = ["node", str(COMPILER), "--noEmit", "--strict", "--project", str(project)]
        checked = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert (checked.stdout, checked.returncode) == ("", 0)


def test_what_the_types_promise_is_what_a_skill_finds(plugin, tmp_path, caplog):
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
