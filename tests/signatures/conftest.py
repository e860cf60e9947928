"""A user with separate folders, publishers with keys, and skills to sign."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Config, Plugin
from cortex_skills.keys import Key
from cortex_skills.manifest import load_manifest
from cortex_skills.signatures import Publisher, TrustFile, sign_for_others
from tests.plugin.skills import write_skill
from tests.time_limits import long_limits

__all__ = ["long_limits"]

NOW = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
CODE = "export default { name: 'probe', onQuery: () => ({ additionalContext: 'hello' }) };"
ACME = Key("acme", bytes(range(32)))
OTHER = Key("other", bytes(range(1, 33)))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folders, all of them new."""
    place = tmp_path / "home"
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "config"))
    return place


@pytest.fixture
def trust(home: Path) -> TrustFile:
    """The user's empty trust store."""
    return TrustFile(home / "data/cortex-skills/trust.json", home / "config/cortex-skills/trust.key")


@pytest.fixture
def trusted(trust: TrustFile) -> TrustFile:
    """The same, with `acme` in it."""
    trust.change(lambda known: known.with_publisher(Publisher("acme", ACME.did, "listed", "2026-01-01T00:00:00Z")))
    return trust


@pytest.fixture
def skill(tmp_path: Path) -> Callable[..., Path]:
    """Writes a skill's folder; see `write_skill`."""

    def write(name: str = "probe", code: str | None = CODE, **given: Any) -> Path:
        return write_skill(tmp_path / "skills" / name, code, **given)

    return write


@pytest.fixture
def signed(skill: Callable[..., Path]) -> Callable[..., Path]:
    """Writes a skill's folder, and signs it as a publisher."""

    def write(name: str = "probe", *, key: Key = ACME, by: str = "acme", at: datetime = NOW, **given: Any) -> Path:
        folder = skill(name, **given)
        sign_for_others(folder, load_manifest(folder), key, by, at)
        return folder

    return write


@pytest.fixture
def opened() -> Iterator[Callable[..., Plugin]]:
    """Opens plugins that require signatures."""
    plugins: list[Plugin] = []

    def open_plugin(*, developing: Any = (), **verification: Any) -> Plugin:
        config = Config(verification={"requireSignature": True, **verification})
        plugins.append(Plugin.open(config, developing=developing))
        return plugins[-1]

    yield open_plugin
    for plugin in plugins:
        plugin.close()
