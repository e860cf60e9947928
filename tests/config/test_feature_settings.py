"""Settings that features declare: read, checked, printed and kept private as those of the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_type_hints

import pytest

from cortex_skills.config.core_settings import KeySettings
from cortex_skills.config.private_paths import private_paths
from cortex_skills.config.sections import declared
from cortex_skills.config.setting import PRIVATE, FormerName, setting
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.feature import Feature, features, named
from cortex_skills.features.with_features import ConfigWithFeatures


@dataclass(frozen=True, slots=True)
class Invoices:
    """How invoices are kept."""

    folder: str = setting("", "The folder of the invoices.", path=PRIVATE, maxLength=40)
    most_lines: int = setting(10, "The lines of an invoice.", minimum=1, maximum=99)
    currencies: tuple[str, ...] = setting((), "The currencies.", items={"pattern": "^[A-Z]{3}$"})
    rates: Mapping[str, str] = setting({}, "A rate for each currency.", additionalProperties={"type": "string"})
    token: str | None = setting(None, "A secret.", writeOnly=True, shown=False)
    numbered: bool = setting(
        False, "Whether they have numbers.", former=FormerName("tools", "number", "bills"), loaded=lambda: True
    )


@dataclass(frozen=True, slots=True)
class MoreKeys(KeySettings):
    """The signing key, and one for invoices."""

    invoice_key: str = setting("bill", "The name of the key of invoices.")


@dataclass(frozen=True, slots=True)
class NoKeys:
    """Another section of that name."""


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"invoice_book": f"{__name__}:Invoices", "proofs": f"{__name__}:MoreKeys", "audit": f"{__name__}:NoKeys"}
    monkeypatch.setattr("cortex_skills.config.sections.features", lambda: (Feature("invoices", settings=settings),))


def test_they_are_read_from_each_source(installed: None, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "invoiceBook: {mostLines: 3, currencies: [SEK]}\nproofs: {key: a, invoiceKey: b}\n"
    )
    env = {"CORTEX_INVOICE_BOOK__MOST_LINES": "4", "CORTEX_INVOICE_BOOK__CURRENCIES": "EUR, SEK", "HOME": "/home/ada"}
    given = {"invoice_book": {"folder": "~/bills", "rates": {"EUR": "11"}, "token": "hush"}}
    config = Config.load(tmp_path / "c.yaml", env=env, overrides=given)
    book = config.section(Invoices)
    assert (book.most_lines, book.currencies, book.folder) == (4, ("EUR", "SEK"), "/home/ada/bills")
    assert (book.rates, book.token, book.numbered) == ({"EUR": "11"}, "hush", True)
    assert config.invoice_book is book  # type: ignore[attr-defined]
    assert (config.proofs.key, config.section(MoreKeys).invoice_key) == ("a", "b")
    assert config.section(KeySettings) is config.proofs
    assert Path("/home/ada/bills").resolve() in set(private_paths(config))
    assert "hush" not in repr(config) + str(config.to_json())
    assert config.to_json()["invoiceBook"]["currencies"] == ["EUR", "SEK"]


def test_they_are_checked_as_strictly(installed: None) -> None:
    with pytest.raises(CortexError) as caught:
        Config(invoiceBook={"mostLine": 1, "currencies": ["sek"], "folder": "x" * 41, "rates": {"EUR": 11}})
    fields = {fault["field"]: fault["hint"] for fault in caught.value.details["errors"]}
    assert set(fields) == {
        "invoiceBook.mostLine",
        "invoiceBook.currencies[0]",
        "invoiceBook.folder",
        "invoiceBook.rates.EUR",
    }
    assert fields["invoiceBook.mostLine"] == "did you mean mostLines?"
    assert Config(invoiceBook={"mostLines": 100}).section(Invoices).most_lines == 99
    assert Config(tools={"number": True}).section(Invoices).numbered is True
    assert Config.load(env={"CORTEX_TOOLS__NUMBER": "no"}).section(Invoices).numbered is False


def test_the_schema_has_the_settings_of_installed_features_only(installed: None) -> None:
    properties = declared().schema.rules["properties"]
    assert properties["invoiceBook"]["description"] == "How invoices are kept."
    assert properties["invoiceBook"]["properties"]["currencies"] == {
        "description": "The currencies.",
        "type": "array",
        "items": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "default": [],
    }
    assert "registry" not in properties
    with pytest.raises(CortexError, match="registry"):
        Config(registry={"folders": []})
    with pytest.raises(AttributeError, match="no installed feature has settings 'registry'"):
        Config().registry  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(LookupError, match="NoKeys"):
        Config().section(NoKeys)


def test_a_section_of_the_core_is_not_replaced(installed: None, caplog: pytest.LogCaptureFixture) -> None:
    assert Config().audit.journal == "auto"
    assert "the settings audit of the feature invoices are skipped" in caplog.text


def test_the_settings_of_all_features_have_types() -> None:
    added = {name: named(place) for each in features() for name, place in each.settings.items()}
    types = get_type_hints(ConfigWithFeatures)
    assert {name: types[name] for name in vars(ConfigWithFeatures)["__annotations__"]} == added
