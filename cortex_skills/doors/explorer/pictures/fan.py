"""The fan: one resource, who points to it on the left, what it states on the right, grouped by predicate.

Rules kept here:
- at most `PREDICATES` predicates on each side and `VALUES` values of each; the others are a number that is a link. So
  the picture has at most 192 rows, and less than 90 KB, for every resource;
- its order is that of the groups: the same groups give the same picture;
- on both sides an arrow behind the name of a predicate points to the objects of its triples;
- a name is cut to the room that there is, in the widest font: no pill is over another one, no row leaves the picture;
- each node is a link, in the order of reading; the table beside the picture has the same content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cortex_graph.namespace.labels import cut
from cortex_graph.naming.counted import Count
from cortex_skills.doors.explorer.display import ShownName, ShownTerm
from cortex_skills.doors.explorer.pictures.svg import Element, Svg
from cortex_skills.doors.explorer.pictures.text_width import BOLD, fitted, text_width

PREDICATES = 12
VALUES = 7

_WIDTH = 1120.0
_MIDDLE = _WIDTH / 2
_ROW = 24.0  # also the height of a target that a finger can hit
_GAP = 8.0
_TO_PREDICATE = 189.0
_TO_NODE = 298.0
_TO_LABEL = 310.0
_LABEL = _WIDTH / 2 - _TO_LABEL - 6  # pixels
_LABEL_TEXT, _PREDICATE_TEXT, _FOCUS_TEXT = 12.5, 12.5, 14.0
_PREDICATE, _FOCUS = 184.0, 170.0  # so that 4 pixels are left between two pills with an arrow, and before a node
_ENDS = 18.0  # of a pill, beside its label
_ONE_SIDE = 225.0  # how far the picture moves to the middle when one side is empty
_ARROW = 7  # pixels, behind the name of a predicate, in the direction in which its triples are read
_HREF = 150  # characters: a longer address is in the table beside the picture only


@dataclass(frozen=True, slots=True)
class FanGroup:
    """The values of one predicate on one side.

    Attributes:
        predicate: the predicate.
        terms: the first values.
        total: how many values there are.
        href: the list of all values.
    """

    predicate: ShownName
    terms: tuple[ShownTerm, ...]
    total: Count
    href: str


@dataclass(frozen=True, slots=True)
class FanSide:
    """One side: its groups, and how many predicates more there are, with the list of them."""

    groups: tuple[FanGroup, ...] = ()
    more: Count = Count(0)  # noqa: RUF009 - it does not change
    href: str = ""


def fan(focus: ShownName, incoming: FanSide, outgoing: FanSide) -> Svg:
    """Draw a resource.

    Args:
        focus: the resource.
        incoming: who points to it.
        outgoing: what it states.
    """
    sides = [_rows(incoming), _rows(outgoing)]
    heights = [sum(len(rows) * _ROW + _GAP for _, rows in side) for side in sides]
    height = max(*heights, 3 * _ROW) + 2 * _GAP
    left = _ONE_SIDE * (bool(sides[1]) - bool(sides[0]))
    picture = Svg(_WIDTH, height, _summary(focus, incoming, outgoing), "fan", has_links=True, left=left)
    edges = picture.add("g", aria_hidden="true")
    for side, direction, tall in zip(sides, (-1.0, 1.0), heights, strict=True):
        y = (height - tall) / 2
        for group, rows in side:
            _draw_group(picture, edges, direction, y, height / 2, group, rows)
            y += len(rows) * _ROW + _GAP
    node = picture.add("g", class_="f-focus")
    _pill(picture, node, _MIDDLE, height / 2, _label(focus), _FOCUS, _FOCUS_TEXT, 30)
    return picture


_Row = tuple[str, str, str, str | None]  # class, prefix, label, address


def _rows(side: FanSide) -> list[tuple[FanGroup | None, list[_Row]]]:
    drawn: list[tuple[FanGroup | None, list[_Row]]] = []
    for group in side.groups[:PREDICATES]:
        rows = [_row(term) for term in group.terms[:VALUES]]
        left = group.total.without(len(rows))
        if left:
            rows.append(("f-more", "", f"{left.text} more", group.href))
        drawn.append((group, rows or [("f-more", "", "no value", None)]))
    more = Count(side.more.value + max(0, len(side.groups) - PREDICATES), side.more.is_exact)
    if more:
        drawn.append((None, [("f-more", "", f"{more.text} other predicates", side.href)]))
    return drawn


def _row(term: ShownTerm) -> _Row:
    if isinstance(term, ShownName):
        if term.called != term.plain:
            return "f-node", "", _row_text(term.called), term.href
        prefix, local = term.prefix.plain, term.local.plain or term.prefix.plain
        whole = f"{prefix}{local}"
        is_whole = local != prefix and _row_text(whole) == whole
        return "f-node", prefix if is_whole else "", local if is_whole else _row_text(local), term.href
    return "f-lit", "", _row_text(f"“{term.plain}”"), None


def _row_text(text: str) -> str:
    return fitted(text, _LABEL, _LABEL_TEXT, mono=True)


def _draw_group(
    picture: Svg,
    edges: Element,
    direction: float,
    top: float,
    middle: float,
    group: FanGroup | None,
    rows: Sequence[_Row],
) -> None:
    centre = top + len(rows) * _ROW / 2
    x, node_x = (_MIDDLE + direction * far for far in (_TO_PREDICATE, _TO_NODE))
    picture.add("path", edges, class_="f-edge", d=_curve(_MIDDLE, middle, x, centre))
    if group is None:
        _draw_row(picture, direction, centre, rows[0])
        picture.add("path", edges, class_="f-thin", d=_curve(x, centre, node_x, centre))
        return
    href = group.predicate.href
    node = picture.add("a" if _is_short(href) else "g", class_="f-pred", href=href if _is_short(href) else None)
    for place, row in enumerate(rows):
        y = top + (place + 0.5) * _ROW
        picture.add("path", edges, class_="f-thin", d=_curve(x, centre, node_x, y))
        _draw_row(picture, direction, y, row)
    width = _pill(picture, node, x, centre, _label(group.predicate), _PREDICATE, _PREDICATE_TEXT, 24)
    tip = x + width / 2 + _ARROW + 1
    picture.add("path", edges, class_="f-arrow", d=f"M{tip:.0f} {centre:.0f}l-{_ARROW} -4v8z")


def _draw_row(picture: Svg, direction: float, y: float, row: _Row) -> None:
    kind, prefix, label, href = row
    link = href if _is_short(href) else None
    node = picture.add("g" if link is None else "a", class_=kind, href=link)
    x = _MIDDLE + direction * _TO_NODE
    if kind == "f-node":
        picture.add("circle", node, cx=x, cy=y, r=4.5)
    elif kind == "f-lit":
        picture.add("rect", node, x=x - 4, y=y - 4, width=8, height=8)
    anchor = "end" if direction < 0 else None
    text = picture.add("text", node, x=_MIDDLE + direction * _TO_LABEL, y=y + 4, text_anchor=anchor)
    if prefix:
        picture.add("tspan", text, prefix, class_="f-pre").tail = label
    else:
        text.text = label


def _pill(picture: Svg, node: Element, x: float, y: float, text: str, most: float, size: float, tall: float) -> float:
    """Draw a label in a box that is at most so wide; returns the width of the box."""
    label = fitted(text, (most - _ENDS) / BOLD, size)
    width = text_width(label, size) * BOLD + _ENDS
    picture.add("rect", node, x=x - width / 2, y=y - tall / 2, width=width, height=tall, rx=tall / 2)
    picture.add("text", node, label, x=x, y=y + 4.5, text_anchor="middle")
    return width


def _curve(x: float, y: float, to_x: float, to_y: float) -> str:
    half = (x + to_x) / 2
    return f"M{x:.0f} {y:.0f}C{half:.0f} {y:.0f} {half:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}"


def _is_short(href: str | None) -> bool:
    return href is not None and 0 < len(href) <= _HREF


def _label(name: ShownName) -> str:
    return name.called if name.called != name.plain else name.local.plain or name.prefix.plain


def _summary(focus: ShownName, incoming: FanSide, outgoing: FanSide) -> str:
    counts = [sum(group.total.value for group in side.groups) for side in (outgoing, incoming)]
    return f"{cut(focus.called, 80)}: {counts[0]:,} triples about it, {counts[1]:,} that point to it"
