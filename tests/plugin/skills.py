"""Skills for the tests, written as real folders, and what is still running of them."""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cortex_sandbox import Sandbox

SEMANTIC: Mapping[str, Any] = {
    "version": 1,
    "permissions": {"graph": ["read", "write"], "proofs": ["request"]},
    "assertions": [{"predicate": "note"}, {"predicate": "sealed", "requireProof": True}],
    "skillVersion": "1.2.3",
}


def manifest_text(name: str, **semantic: Any) -> str:
    """A SKILL.md; what is named replaces that part of `SEMANTIC`."""
    block = json.dumps({**SEMANTIC, **semantic})  # JSON is YAML
    return f"---\nname: {name}\ndescription: For the tests.\ntype: semantic\nsemantic: {block}\n---\n"


def write_skill(
    folder: Path, code: str | None = None, *, files: Mapping[str, str] | None = None, **semantic: Any
) -> Path:
    """A skill's folder, named like the skill; `code` is its skill.ts, `files` whatever else lies there."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(manifest_text(folder.name, **semantic), encoding="utf-8")
    for name, text in {**({} if code is None else {"skill.ts": code}), **(files or {})}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def living_sandboxes() -> int:
    """How many sandboxes are alive in this process, but for those that nobody has any more."""
    gc.collect()
    return sum(1 for thing in gc.get_objects() if type(thing) is Sandbox and thing.alive)
