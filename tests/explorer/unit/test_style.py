"""The tokens of the style sheet: contrast of text on each ground, in both themes (WCAG 2.2, 1.4.3)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cortex_skills.doors.explorer import rendering

SOURCES = Path(rendering.__file__).parent / "src"
SHEET = "".join((SOURCES / name).read_text() for name in ("explorer.css", "pictures.css"))
TOKENS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", SHEET)
}
GROUNDS = ("ground", "surface", "sunk")
INKS = ("ink", "soft", "faint", "accent", "plum", "ok", "warn", "bad")
WASHED = ("accent", "plum", "ok", "warn", "bad")


def luminance(colour: str) -> float:
    """The relative luminance of a colour (WCAG 2.2, definitions)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("theme", "least"), [(0, 5.2), (1, 5.9)], ids=["light", "dark"])
def test_text_is_readable_on_every_ground(theme: int, least: float) -> None:
    pairs = [(ink, ground) for ink in INKS for ground in GROUNDS] + [(ink, f"{ink}-wash") for ink in WASHED]
    pairs.append(("surface", "accent"))  # the text of the chosen button
    weak = {
        pair: round(ratio, 2)
        for pair in pairs
        if (ratio := contrast(TOKENS[pair[0]][theme], TOKENS[pair[1]][theme])) < least
    }
    assert weak == {}


def test_borders_of_controls_can_be_seen() -> None:
    for theme in (0, 1):
        assert contrast(TOKENS["strong"][theme], TOKENS["surface"][theme]) >= 3


def test_the_sheet_loads_nothing() -> None:
    assert not re.search(r"url\(|@import|@font-face|expression", SHEET)
