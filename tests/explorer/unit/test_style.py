"""The tokens of the style sheet: contrast of text on each ground, in both themes (WCAG 2.2, 1.4.3)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cortex_skills.doors.explorer import rendering
from cortex_skills.doors.explorer.pictures.svg import STYLE

SOURCES = Path(rendering.__file__).parent / "src"
SHEETS = {path.name: re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL) for path in SOURCES.glob("*.css")}
SHEET = "".join(SHEETS.values())
TOKENS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", SHEET)
}
RULES = [(rule.strip(), body) for rule, body in re.findall(r"([^{}]+)\{([^{}]*)\}", SHEET)]
GROUNDS = ("ground", "surface", "sunk")
INKS = ("ink", "soft", "faint", "accent", "plum", "ok", "warn", "bad")
WASHED = ("accent", "plum", "ok", "warn", "bad")
CLASSES = tuple(f"k{number}" for number in range(1, 8))
THEMES = pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
TO_CONES = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
TO_OKLAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
FROM_OKLAB = ((0.3963377774, 0.2158037573), (-0.1055613458, -0.0638541728), (-0.0894841775, -1.2914855480))
FROM_CONES = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)
TEXT, GRAPHICS = 4.5, 3.0  # WCAG 2.2, 1.4.3 and 1.4.11


def luminance(colour: str) -> float:
    """The relative luminance of a colour (WCAG 2.2, definitions)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def oklab(colour: str) -> list[float]:
    """A colour in Oklab (CSS Color 4)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    cones = [sum(a * b for a, b in zip(row, linear, strict=True)) ** (1 / 3) for row in TO_CONES]
    return [sum(a * b for a, b in zip(row, cones, strict=True)) for row in TO_OKLAB]


def from_oklab(lab: list[float]) -> str:
    """The colour of sRGB."""
    cones = [(lab[0] + a * lab[1] + b * lab[2]) ** 3 for a, b in FROM_OKLAB]
    linear = [min(1.0, max(0.0, sum(a * b for a, b in zip(row, cones, strict=True)))) for row in FROM_CONES]
    parts = [12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055 for part in linear]
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


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


def colour(value: str, theme: int) -> str | None:
    """The colour of a property that is a token or a mixture of two tokens; None for any other."""
    if mixed := re.fullmatch(r"color-mix\(in oklab, var\(--([a-z-]+)\), var\(--([a-z-]+)\) (\d+)%\)", value):
        one, other = (oklab(TOKENS[name][theme]) for name in mixed.groups()[:2])
        share = int(mixed[3]) / 100
        return from_oklab([(1 - share) * a + share * b for a, b in zip(one, other, strict=True)])
    named = re.fullmatch(r"var\(--([a-z0-9-]+)\)", value)
    return None if named is None or named[1] not in TOKENS else TOKENS[named[1]][theme]


def properties(body: str) -> dict[str, str]:
    """The properties of a rule."""
    return {
        name.strip(): value.strip() for name, _, value in (part.partition(":") for part in body.split(";")) if value
    }


@THEMES
def test_every_rule_that_sets_text_and_ground_is_readable(theme: int) -> None:
    checked = {}
    for rule, body in RULES:
        given = properties(body)
        text, ground = (colour(given.get(name, ""), theme) for name in ("color", "background"))
        if text and ground:
            checked[rule] = round(contrast(text, ground), 2)
    assert len(checked) > 20
    assert {rule: ratio for rule, ratio in checked.items() if ratio < TEXT} == {}


@THEMES
def test_text_is_readable_on_a_button_that_is_pointed_at(theme: int) -> None:
    filled = {rule: properties(body)["background"] for rule, body in RULES if "color-mix" in body}
    assert sorted(filled) == [".danger.final:hover", ".primary:hover"]
    for mixed in filled.values():
        assert contrast(TOKENS["surface"][theme], colour(mixed, theme) or "") >= TEXT


@THEMES
def test_every_ink_is_readable_where_words_are_marked_and_where_a_row_is_chosen(theme: int) -> None:
    pairs = [(ink, ground) for ink in INKS for ground in ("hit", "accent-wash")]
    weak = {
        pair: round(ratio, 2)
        for pair in pairs
        if (ratio := contrast(TOKENS[pair[0]][theme], TOKENS[pair[1]][theme])) < TEXT
    }
    assert weak == {}


@THEMES
def test_borders_marks_of_classes_and_the_focus_can_be_seen(theme: int) -> None:
    seen = [(name, ground) for name in ("strong", *CLASSES, *WASHED) for ground in (*GROUNDS, "accent-wash")]
    weak = {
        pair: round(ratio, 2)
        for pair in seen
        if (ratio := contrast(TOKENS[pair[0]][theme], TOKENS[pair[1]][theme])) < GRAPHICS
    }
    assert weak == {}


def test_an_underscore_in_a_link_is_above_the_line_below_it() -> None:
    assert {int(size) for size in re.findall(r"text-underline-offset: (\d+)px", SHEET)} == {5}


def test_a_picture_alone_has_the_colours_of_the_light_theme() -> None:
    light = {one for one, _ in TOKENS.values()} | {"#fff"}
    assert set(re.findall(r"#[0-9a-f]{3,6}", STYLE)) - light == set()


def test_the_sheet_loads_nothing() -> None:
    assert not re.search(r"url\(|@import|@font-face|expression", SHEET)
