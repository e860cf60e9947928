"""The table of addresses in `docs/explorer.md` names every page, and the forms that it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cortex_skills.doors.explorer.page import ExplorerPage, pages

PAGE_OF_DOCS = Path(__file__).parents[3] / "docs" / "explorer.md"
ROWS = [row.split("|") for row in PAGE_OF_DOCS.read_text().splitlines() if row.startswith("| `/explore")]
WITHOUT_TABLE = {"text"}  # the whole text of a literal or a source, which its page links to


def row_of(page: ExplorerPage) -> list[str]:
    """The row with the address of a page."""
    address = page.path.format(namespace="NS", id="ID", name="NAME")
    short = "…/" + "/".join(address.split("/")[-2:])
    named = re.compile(rf"`(?:{re.escape(address)}|{re.escape(short)})(?:[?`]|$)")
    (row,) = (each for each in ROWS if named.search(each[1]) and "removed=" not in each[1])
    return row


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_page_is_in_the_table_with_its_forms(page: ExplorerPage) -> None:
    forms = set(re.findall(r"`([a-z-]+)`", re.sub(r"\\[.*?\\]\\(.*?\\)", "", row_of(page)[3])))
    if forms:  # other rows refer to another one
        assert forms == set(page.forms) - WITHOUT_TABLE


def test_each_page_of_the_navigation_has_a_shortcut_of_its_own() -> None:
    keys = [page.keys for page in pages() if page.label]
    assert sorted(set(keys)) == sorted(keys)
