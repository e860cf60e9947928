"""A user who trusts one publisher."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_skills.features.artifacts.installed import InstalledArtifacts
from cortex_skills.signatures import Publisher, TrustFile
from tests.artifacts.samples import KEY
from tests.installed.samples import place


@pytest.fixture(autouse=True)
def trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrustFile:
    """The user's trust store, with `acme` in it."""
    home = tmp_path / "home"
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    file = TrustFile(home / "data/cortex-skills/trust.json", home / "config/cortex-skills/trust.key")
    file.change(lambda known: known.with_publisher(Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")))
    return file


@pytest.fixture
def installed(tmp_path: Path) -> InstalledArtifacts:
    """An empty place for artifacts."""
    return place(tmp_path / "artifacts")
