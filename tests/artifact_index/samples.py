"""Indexes for the tests: entries, and the files of signed indexes."""

from __future__ import annotations

from datetime import UTC, datetime

from cortex_skills.features.artifacts.index import IndexEntry, write_pages
from cortex_skills.keys import Key

KEY = Key("registry", bytes([3]) * 32)
OTHER_KEY = Key("mallory", bytes([4]) * 32)
MADE_AT = 1_790_000_000_000
DAY_MS = 86_400_000
NOW = datetime.fromtimestamp(MADE_AT / 1000 + 60, UTC)
URL = "https://registry.example/index.json"


def entry(number: int = 0, **changes: object) -> IndexEntry:
    """An entry; each number has another id."""
    given = {
        "skill_id": f"acme.tool_{number:05d}",
        "version": "1.0.0",
        "publisher": "acme",
        "key_id": "ed25519:34750f98bd59fcfc",
        "payload_sha256": f"{number:064x}",
        "artifact": f"artifacts/{number}.palyra-skill",
        "artifact_sha256": f"{number:064x}",
        "artifact_bytes": 100,
        "summary": f"Tool {number}",
        "categories": ("demo",),
        "capabilities": ("graph.read",),
    }
    return IndexEntry(**{**given, **changes})


def files(entries: list[IndexEntry] | None = None, *, key: Key = KEY, **changes: object) -> dict[str, bytes]:
    """The files of an index by address."""
    given = {
        "snapshot": 7,
        "publisher": "registry",
        "generated_at_unix_ms": MADE_AT,
        "expires_at_unix_ms": MADE_AT + DAY_MS,
    }
    return write_pages([entry()] if entries is None else entries, key=key, **{**given, **changes})
