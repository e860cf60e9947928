"""`vectors.json`: texts, and what the parser of ai-memory returns for them."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Vector:
    """A text with files; the members and the digest that the original has for it, or none if it refuses it."""

    case: str
    text: str
    resources: dict[str, bytes] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    digest: str = ""

    def __str__(self) -> str:
        return self.case


def _read() -> list[Vector]:
    found = json.loads((Path(__file__).parent / "vectors.json").read_text())["vectors"]
    return [
        Vector(
            each["case"],
            each["text"],
            {path: b64decode(data) for path, data in each.get("resources", {}).items()},
            each.get("fields", {}),
            each.get("digest", ""),
        )
        for each in found
    ]


READ = [each for each in _read() if each.digest]
REFUSED = [each for each in _read() if not each.digest]
