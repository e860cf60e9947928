"""Skills that report their version, and helpers to save and query them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cortex_skills import Plugin
from cortex_skills.lifecycle.reload.report import ReloadReport
from tests.plugin.skills import manifest_text, write_skill

Opened = Callable[..., Plugin]

RECALL = {"permissions": {"graph": ["read", "write"], "proofs": ["request"], "memory": ["recall"]}}
READ = {"permissions": {"graph": ["read"]}, "assertions": []}
NOTHING: dict[str, list[str]] = {"reloaded": [], "loaded": [], "rejected": [], "restored": []}


def code(name: str, version: object, more: str = "") -> str:
    """A skill that reports its version in every answer, and when it is activated."""
    return f"""export default {{
  name: {name!r},
  onQuery() {{ return {{ additionalContext: {{ version: {version} }} }}; }},
  {more}
}};
"""


def write(folder: Path, version: object = 1, more: str = "", **semantic: Any) -> Path:
    """Write a version of a skill."""
    return write_skill(folder, code(folder.name, version, more), **semantic)


def save(file: Path, text: str) -> None:
    """Save a file as most editors do, with one rename, so that no reader sees half of it."""
    beside = file.with_name(f".{file.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)


def save_code(folder: Path, version: object, more: str = "") -> None:
    """Save the code."""
    save(folder / "skill.ts", code(folder.name, version, more))


def save_manifest(folder: Path, **semantic: Any) -> None:
    """Save the manifest alone."""
    save(folder / "SKILL.md", manifest_text(folder.name, **semantic))


def answer(plugin: Plugin, name: str) -> str:
    """The current answer of the skill."""
    result = plugin.call("skill_graph_query", {"predicate": "p", "scope": "namespace"}, skill=name)
    assert not result.is_error, result
    return result.text


def version_of(plugin: Plugin, name: str) -> str:
    """The active version."""
    return answer(plugin, name).partition('"version":')[2].partition("}")[0]


def needs(slug: str, version: str = "^1.0.0") -> dict[str, object]:
    """The semantic fields of a skill that depends on another."""
    return {"dependencies": [{"slug": slug, "version": version}]}


def names(report: ReloadReport) -> dict[str, list[str]]:
    """The names of the skills in a report."""
    return {
        "reloaded": [item.name for item in report.reloaded],
        "loaded": [item.name for item in report.loaded],
        "rejected": [item.name for item in report.rejected],
        "restored": list(report.restored),
    }
