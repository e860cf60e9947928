"""Skills for the tests, written as real folders, and the sandboxes that are still running."""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cortex_sandbox import Sandbox

_TEXTS = (
    *("agentId", "code", "create", "data", "delete", "got", "id", "list", "namespace", "note", "other", "pattern"),
    *("predicate", "said", "scope", "sealed", "seen", "sessionId", "skill", "tags", "text", "told"),
)
SEMANTIC: Mapping[str, Any] = {
    "version": 1,
    "permissions": {"graph": ["read", "write"], "proofs": ["request"]},
    "assertions": [{"predicate": "note"}, {"predicate": "sealed", "requireProof": True}],
    # What the skills of the tests add to answers; none of them is signed.
    "enrichment": {"fields": {name: {"text": True} for name in _TEXTS}},
    "skillVersion": "1.2.3",
}


def manifest_text(name: str, **semantic: Any) -> str:
    """A SKILL.md; the arguments replace parts of `SEMANTIC`."""
    block = json.dumps({**SEMANTIC, **semantic})  # JSON is YAML
    return f"---\nname: {name}\ndescription: For the tests.\ntype: semantic\nsemantic: {block}\n---\n"


def write_skill(
    folder: Path, code: str | None = None, *, files: Mapping[str, str] | None = None, **semantic: Any
) -> Path:
    """A skill's folder, named like the skill; `code` is its skill.ts, `files` its other files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(manifest_text(folder.name, **semantic), encoding="utf-8")
    for name, text in {**({} if code is None else {"skill.ts": code}), **(files or {})}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def living_sandboxes() -> int:
    """How many sandboxes of this process are alive and referenced."""
    gc.collect()
    return sum(1 for thing in gc.get_objects() if type(thing) is Sandbox and thing.alive)
