"""Decision pages are short and have the same parts; their list is complete."""

from __future__ import annotations

import re
from pathlib import Path

from tests.every_case import check_every

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
PAGES = sorted(DECISIONS.glob("0*.md"))
MAX_LINES = 40
PARTS = ["Context", "Decision", "Alternatives", "Consequences"]
_PART = re.compile(r"^(?:\*\*|#+ )(Context|Decision|Alternatives|Consequences)\b", re.MULTILINE)


def title(page: Path) -> tuple[int, str]:
    number, _, text = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").partition(". ")
    return int(number), text


def test_a_decision_is_half_a_page_with_four_parts() -> None:
    def check(page: Path) -> None:
        text = page.read_text(encoding="utf-8")
        assert _PART.findall(text) == PARTS
        assert len(text.splitlines()) <= MAX_LINES
        assert title(page)[0] == int(page.name[:4])

    check_every({page.stem: page for page in PAGES}, check)


def test_the_list_names_every_decision_by_its_title() -> None:
    text = (DECISIONS / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^(\d+)\. \[(.+)\]\((.+)\)$", text, re.MULTILINE)
    assert listed == [(str(title(page)[0]), title(page)[1], page.name) for page in PAGES]
