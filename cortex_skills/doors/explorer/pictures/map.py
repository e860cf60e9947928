"""The map: resources and the links between them, as data and as a picture that can be read.

Rules kept here:
- every label is at least 11 px high, and none is over another one, a mark or the name of a link (`layout.py`);
- links that leave one node with one predicate are one trunk with one name and their number, and fan out behind it;
- a class has a shape and a colour, the larger a mark the more links; the root has a ring;
- at most `MAX_DRAWN` nodes are drawn: of more, those of one class become one mark with their number;
- the same map gives the same picture, and one that grows in steps keeps the places of what was there.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from cortex_graph.namespace.labels import cut
from cortex_skills.doors.explorer.pictures.layout import Extent, apart, points
from cortex_skills.doors.explorer.pictures.svg import Element, Svg
from cortex_skills.doors.explorer.pictures.text_width import BOLD, text_width

VERSION = 2
MAX_DRAWN = 150

_NODE_TEXT, _ROOT_TEXT, _LINK_TEXT = 12.0, 13.5, 11.5  # pixels; the same in map.css
_LINE = 15.0
_LABEL, _LINK_LABEL, _SPLIT = 40, 26, 20  # characters
_SMALL, _LARGE = 6.0, 17.0  # the radius of a mark
_GAP, _PAD, _MARGIN = 5.0, 3.0, 16.0
_PLATE = 9.0  # half the height of the name of a link
_OTHERS = "others"
_NAMED = 110  # links that have names; of more, only the largest bundles have

Kind = Literal["resource", "cluster", "class"]
# By the number of a class: as `M`, `L` and arcs of a mark of radius 1. The last one is a ring, of all other classes.
_SHAPES: Mapping[int, tuple[tuple[float, float], ...]] = {
    2: ((-0.86, -0.86), (0.86, -0.86), (0.86, 0.86), (-0.86, 0.86)),
    3: ((-0.5, -0.87), (0.5, -0.87), (1, 0), (0.5, 0.87), (-0.5, 0.87), (-1, 0)),
    4: ((0, -1.1), (1.1, 0), (0, 1.1), (-1.1, 0)),
    5: ((0, -1.1), (1.05, 0.8), (-1.05, 0.8)),
    6: ((0, -1.05), (1, -0.3), (0.62, 0.9), (-0.62, 0.9), (-1, -0.3)),
    7: tuple(
        (x * sx, y * sy)
        for sx, sy, corners in (
            (1, 1, ((0.35, -1.05), (0.35, -0.35), (1.05, -0.35))),
            (1, 1, ((1.05, 0.35), (0.35, 0.35), (0.35, 1.05))),
            (1, 1, ((-0.35, 1.05), (-0.35, 0.35), (-1.05, 0.35))),
            (1, 1, ((-1.05, -0.35), (-0.35, -0.35), (-0.35, -1.05))),
        )
        for x, y in corners
    ),
}
MARKS = 7


@dataclass(frozen=True, slots=True)
class MapNode:
    """A node.

    Attributes:
        id: unique in its map, and the same in every map.
        label: as shown.
        class_: the id of its class; empty for none.
        mark: the number of the class among those with a shape and a colour, from 1; 0 for any other.
        href: where it leads; None for nowhere.
        hint: what is read aloud and shown beside the pointer, if that is more than the label.
        kind: `cluster` for several resources together.
    """

    id: str
    label: str
    class_: str = ""
    mark: int = 0
    href: str | None = None
    hint: str = ""
    kind: Kind = "resource"


@dataclass(frozen=True, slots=True)
class MapLink:
    """Triples between two nodes with one predicate: the ids of the nodes, and how many triples."""

    source: str
    target: str
    label: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class MapMore:
    """Triples that a node has with one predicate beyond those of the map: `1,204` or `1,000+`, and their list."""

    node: str
    label: str
    count: str
    href: str
    outgoing: bool


@dataclass(frozen=True, slots=True)
class MapData:
    """A map; its first node is in the middle.

    Attributes:
        title: what it shows, one sentence that is read aloud.
        nodes, links: the graph.
        more: what is not in it.
        root: the id of its root; empty for none.
        pinned: places that were chosen, by the ids of their nodes.
    """

    title: str
    nodes: tuple[MapNode, ...]
    links: tuple[MapLink, ...]
    more: tuple[MapMore, ...] = ()
    root: str = ""
    pinned: tuple[tuple[str, complex], ...] = ()

    def to_json(self, *before: MapData) -> dict[str, Any]:
        """The map for other programs, with places in pixels; a change that breaks readers raises `version`.

        Args:
            before: the states that it grew from, the first one first.
        """
        at = placed((*before, self)) if self.nodes else {}
        nodes = [
            {"id": node.id, "label": node.label, "kind": node.kind}
            | {"x": round(at[node.id].at.real, 1), "y": round(at[node.id].at.imag, 1)}
            | ({"class": node.class_} if node.class_ else {})
            | ({"href": node.href} if node.href else {})
            for node in self.nodes
        ]
        links = [
            {"source": link.source, "target": link.target, "label": link.label, "count": link.count}
            for link in self.links
        ]
        more = [{"node": each.node, "label": each.label, "count": each.count, "href": each.href} for each in self.more]
        return {
            "version": VERSION,
            "title": self.title,
            "root": self.root,
            "nodes": nodes,
            "links": links,
            "more": more,
        }


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Where a node or the name of a link is, and on which side of a node its label is."""

    at: complex
    side: str = ""


@dataclass(frozen=True, slots=True)
class LinkBundle:
    """Links of one node with one predicate in one direction, with one name.

    Attributes:
        hub: the node that they have in common.
        label: their name.
        outgoing: whether the hub is their subject.
        ends: the other nodes.
        words: what is written at the trunk; empty for a link whose name is not drawn.
        href: the list of those that are not in the map.
    """

    hub: str
    label: str
    outgoing: bool
    ends: tuple[str, ...]
    words: str
    href: str | None = None

    @property
    def key(self) -> str:
        """The same in every map that has the bundle."""
        return f"{self.hub} {'>' if self.outgoing else '<'} {self.label}"


def bundles(data: MapData) -> tuple[LinkBundle, ...]:
    """The links of a map, the largest bundles first; each link is in one."""
    groups: dict[tuple[str, str, bool], list[MapLink]] = defaultdict(list)
    for link in data.links:
        groups[link.source, link.label, True].append(link)
        groups[link.target, link.label, False].append(link)
    more = {(each.node, each.label, each.outgoing): each for each in data.more}
    for key in more:
        groups.setdefault(key, [])
    taken: set[MapLink] = set()
    found: list[LinkBundle] = []
    are_all_named = len(data.links) <= _NAMED
    for key in sorted(groups, key=lambda each: (each not in more, -len(groups[each]), each)):
        hub, label, outgoing = key
        links = [link for link in dict.fromkeys(groups[key]) if link not in taken]
        rest = more.get(key)
        if not links and rest is None:
            continue
        taken.update(links)
        total = sum(link.count for link in links)
        words = cut(label, _LINK_LABEL - 1)
        if rest is not None:
            words += f" {total:,} + {rest.count}"
        elif total > 1:
            words += f" × {total:,}"
        ends = tuple(link.target if outgoing else link.source for link in links)
        is_named = len(found) < _NAMED and (are_all_named or len(links) > 1 or rest is not None)
        found.append(
            LinkBundle(hub, label, outgoing, ends, words if is_named else "", None if rest is None else rest.href)
        )
    return tuple(found)


def clustered(
    data: MapData, names: Mapping[str, str], opened: frozenset[str] = frozenset(), most: int = MAX_DRAWN
) -> MapData:
    """A map of at most so many nodes: the nodes of a class become one, the largest classes first.

    Args:
        data: the map.
        names: of the classes, by their ids.
        opened: the ids of classes whose nodes are drawn one by one as long as they fit, the most linked first.
        most: the number of nodes.
    """
    if len(data.nodes) <= most:
        return data
    degree = _degrees(data)
    kept = {data.root} if data.root else set()
    classes = Counter(node.class_ for node in data.nodes if node.id not in kept)
    room = most - len(kept) - len(classes)
    wanted = sorted(data.nodes, key=lambda node: (node.class_ not in opened, -degree[node.id]))
    for node in wanted:
        if room <= 0 or node.class_ not in opened:
            break
        kept.add(node.id)
        room -= 1
    for class_, count in sorted(classes.items(), key=lambda each: (each[1], each[0])):
        if class_ in opened or count > min(room, 3):
            continue
        kept.update(node.id for node in data.nodes if node.class_ == class_)
        room -= count
    ranked = [class_ for class_, _ in sorted(classes.items(), key=lambda each: (-each[1], each[0]))]
    own = set(ranked if len(ranked) <= most // 2 else ranked[: most // 2 - 1])
    members: dict[str, list[MapNode]] = defaultdict(list)
    for node in data.nodes:
        if node.id not in kept:
            members[node.class_ if node.class_ in own else _OTHERS].append(node)
    to = {node.id: f"all-{class_}" for class_, nodes in members.items() for node in nodes} | {
        each: each for each in kept
    }
    labels = {"": "without a class", _OTHERS: "other classes", **names}
    groups = [
        MapNode(
            f"all-{class_}",
            f"{labels.get(class_, class_)} × {len(nodes):,}",
            class_,
            0 if class_ == _OTHERS else nodes[0].mark,
            kind="cluster",
        )
        for class_, nodes in sorted(members.items(), key=lambda each: (-len(each[1]), each[0]))
    ]
    joined: Counter[tuple[str, str, str]] = Counter()
    for link in data.links:
        joined[to[link.source], to[link.target], link.label] += link.count
    links = tuple(MapLink(source, target, label, count) for (source, target, label), count in joined.items())
    nodes = (*(node for node in data.nodes if node.id in kept), *groups)
    return replace(data, nodes=nodes, links=links, more=tuple(each for each in data.more if each.node in kept))


@lru_cache(maxsize=64)
def placed(steps: tuple[MapData, ...]) -> dict[str, NodePlace]:
    """Where the nodes and the names of links of a map are, by their ids and keys.

    Args:
        steps: the map as it grew, its last state at the end: what is in a state keeps the place of the state before.
    """
    data = steps[-1]
    chosen = dict(data.pinned)
    earlier = tuple(replace(each, pinned=()) for each in steps) if chosen else steps[:-1]
    before = placed(earlier) if earlier else {}
    found = bundles(data)
    named = [each for each in found if each.words]
    names = [*(node.id for node in data.nodes), *(each.key for each in named)]
    number = {name: place for place, name in enumerate(names)}
    links = [(number[each.hub], number[each.key]) for each in named]
    links += [(number[each.key if each.words else each.hub], number[end]) for each in found for end in each.ends]
    pinned = {number[name]: at for name, at in chosen.items() if name in number}
    moved = {each.key for each in named if not chosen.keys().isdisjoint((each.hub, *each.ends))}
    kept = {number[name]: place.at for name, place in before.items() if name in number and name not in moved}
    at = points(len(number), links, kept | pinned)
    sides = _sides(data.nodes, at, links) | {name: place.side for name, place in before.items()}
    degree = _degrees(data)
    boxes = [_covered(node, degree[node.id], sides[node.id], is_root=node.id == data.root) for node in data.nodes]
    boxes += map(_plate, named)
    at = apart(at, boxes, kept | pinned)
    if pinned:  # it pushes what it is over aside
        at = apart(at, boxes, pinned)
    return {name: NodePlace(where, sides.get(name, "")) for name, where in zip(number, at, strict=True)}


def picture(data: MapData, *before: MapData, chosen: str = "") -> Svg:
    """Draw a map.

    Args:
        data: the map.
        before: the states that it grew from, the first one first.
        chosen: the id of the node whose card is open.
    """
    return _Drawing(data, placed((*before, data)), chosen).drawn()


def class_mark(number: int) -> Svg:
    """The mark of a class alone, for lists and legends."""
    drawn = Svg(14, 14, "", f"k k{number}")
    draw_mark(drawn, None, number, 7 + 7j, 5.5)
    return drawn


def draw_mark(drawn: Svg, within: Element | None, number: int, at: complex, radius: float) -> None:
    """Draw the mark of a class, or of a series."""
    corners = _SHAPES.get(number)
    if corners is None:
        drawn.add("circle", within, class_="mark", cx=at.real, cy=at.imag, r=radius)
        return
    places = (f"{at.real + x * radius:.1f} {at.imag + y * radius:.1f}" for x, y in corners)
    drawn.add("path", within, class_="mark", d=f"M{'L'.join(places)}Z")


def _degrees(data: MapData) -> Counter[str]:
    degree: Counter[str] = Counter()
    for link in data.links:
        degree[link.source] += 1
        degree[link.target] += 1
    return degree


def _radius(node: MapNode, degree: int, *, is_root: bool) -> float:
    if node.kind == "cluster":
        return _LARGE
    return min(_LARGE, _SMALL + 1.9 * math.sqrt(max(0, degree - 1)) + (3 if is_root else 0))


def _lines(label: str) -> tuple[str, ...]:
    """A label in one line or two."""
    label = cut(label, _LABEL - 1)
    blanks = [place for place, char in enumerate(label) if char == " "]
    if len(label) <= _SPLIT or not blanks:
        return (cut(label, _SPLIT + 9),)
    middle = min(blanks, key=lambda place: abs(place - len(label) / 2))
    return cut(label[:middle], _SPLIT + 9), cut(label[middle + 1 :], _SPLIT + 9)


def _covered(node: MapNode, degree: int, side: str, *, is_root: bool) -> Extent:
    """What a mark and its label cover."""
    radius = _radius(node, degree, is_root=is_root)
    lines, size = _lines(node.label), _ROOT_TEXT if is_root else _NODE_TEXT
    width = max(text_width(line, size) for line in lines) * (BOLD if is_root else 1) + _PAD
    tall, around = len(lines) * _LINE, radius + (6 if is_root else 2)
    high = max(around, tall / 2)
    if side == "right":
        return Extent(-around, -high - _PAD, around + _GAP + width, high + _PAD)
    if side == "left":
        return Extent(-around - _GAP - width, -high - _PAD, around, high + _PAD)
    wide = max(around, width / 2)
    if side == "below":
        return Extent(-wide - _PAD, -around, wide + _PAD, around + _GAP + tall)
    return Extent(-wide - _PAD, -around - _GAP - tall, wide + _PAD, around)


def _plate(bundle: LinkBundle) -> Extent:
    half = text_width(bundle.words, _LINK_TEXT) / 2 + 7
    return Extent(-half - _PAD, -_PLATE - _PAD, half + _PAD, _PLATE + _PAD)


_SIDES = {"right": 0.0, "left": math.pi, "below": math.pi / 2, "above": -math.pi / 2}


def _sides(nodes: Sequence[MapNode], at: Sequence[complex], links: Sequence[tuple[int, int]]) -> dict[str, str]:
    """On which side of each mark its label is: where its links are farthest."""
    ways: dict[int, list[float]] = defaultdict(list)
    for one, other in links:
        between = at[other] - at[one]
        ways[one].append(math.atan2(between.imag, between.real))
        ways[other].append(math.atan2(-between.imag, -between.real))

    def free(place: int, side: str) -> float:
        far = min((abs(math.remainder(_SIDES[side] - each, math.tau)) for each in ways[place]), default=math.pi)
        return min(far, 1.6) + (0.3 if side in ("right", "left") else 0)

    return {node.id: max(_SIDES, key=lambda side: free(place, side)) for place, node in enumerate(nodes)}


class _Drawing:
    """Draws a map at its places."""

    def __init__(self, data: MapData, places: Mapping[str, NodePlace], chosen: str) -> None:
        self._data, self._places, self._chosen = data, places, chosen
        self.at = {name: place.at for name, place in places.items()}
        degree = _degrees(data)
        self.radii, self._boxes = {}, {}
        for node in data.nodes:
            is_root = node.id == data.root
            self.radii[node.id] = _radius(node, degree[node.id], is_root=is_root)
            self._boxes[node.id] = _covered(node, degree[node.id], places[node.id].side, is_root=is_root)

    def drawn(self) -> Svg:
        """The picture."""
        data, found = self._data, bundles(self._data)
        named = [each for each in found if each.words]
        boxes = self._boxes | {each.key: _plate(each) for each in named}
        left = min(self.at[name].real + box.left for name, box in boxes.items()) - _MARGIN
        top = min(self.at[name].imag + box.top for name, box in boxes.items()) - _MARGIN
        right = max(self.at[name].real + box.right for name, box in boxes.items()) + _MARGIN
        bottom = max(self.at[name].imag + box.bottom for name, box in boxes.items()) + _MARGIN
        drawn = Svg(right - left, bottom - top, data.title, "graph", has_links=True, is_sized=True)
        self.at = {name: at - complex(left, top) for name, at in self.at.items()}
        lines = drawn.add("g", aria_hidden="true")
        for bundle in found:
            self._draw_links(drawn, lines, bundle)
        for bundle in named:
            self._draw_name(drawn, bundle)
        for node in data.nodes:
            self._draw_node(drawn, node, self._places[node.id].side, complex(left, top))
        return drawn

    def _draw_links(self, drawn: Svg, lines: Element, bundle: LinkBundle) -> None:
        hub, radius = self.at[bundle.hub], self.radii[bundle.hub]
        if not bundle.words:
            for end in bundle.ends:
                way = (hub, end) if bundle.outgoing else (self.at[end], bundle.hub)
                near = radius if bundle.outgoing else self.radii[end]
                line = drawn.add("g", lines)
                drawn.add("title", line, bundle.label)
                self._line(drawn, line, _beside(way[0], self.at[way[1]], near), None, way[1], is_end=True)
            return
        plate = self.at[bundle.key]
        trunk = "m-edge m-trunk" if len(bundle.ends) > 1 else "m-edge"
        start = _beside(hub, plate, radius + (2 if bundle.outgoing else 7))
        drawn.add("path", lines, class_=trunk, d=f"M{_text(start)}L{_text(plate)}")
        if not bundle.outgoing:
            _arrow(drawn, lines, _beside(hub, plate, radius + 2), hub)
        for end in bundle.ends:
            self._line(drawn, lines, plate, hub, end, is_end=bundle.outgoing)

    def _line(
        self, drawn: Svg, lines: Element, start: complex, behind: complex | None, end: str, *, is_end: bool
    ) -> None:
        """A line to a node, which goes on in the direction in which it came from `behind`."""
        target, radius = self.at[end], self.radii[end]
        bend = start
        if behind is not None and abs(target - start) > 1:
            ahead, way = _unit(start - behind), _unit(target - start)
            turn = (ahead * way.conjugate()).real  # the cosine of the angle between them
            if turn > -0.3:
                bend = start + ahead * min(46.0, abs(target - start) * 0.45)
        tip = _beside(target, bend, radius + 2)
        back = _beside(target, bend, radius + (7 if is_end else 2))
        curve = f"Q{_text(bend)} {_text(back)}" if bend != start else f"L{_text(back)}"
        drawn.add("path", lines, class_="m-edge", d=f"M{_text(start)}{curve}")
        if is_end:
            _arrow(drawn, lines, tip, target)

    def _draw_name(self, drawn: Svg, bundle: LinkBundle) -> None:
        at, half = self.at[bundle.key], text_width(bundle.words, _LINK_TEXT) / 2 + 7
        part = drawn.add("a" if bundle.href else "g", class_="m-name", href=bundle.href)
        drawn.add("rect", part, x=at.real - half, y=at.imag - _PLATE, width=2 * half, height=2 * _PLATE, rx=_PLATE)
        drawn.add("text", part, bundle.words, x=at.real, y=at.imag + 4, text_anchor="middle")

    def _draw_node(self, drawn: Svg, node: MapNode, side: str, corner: complex) -> None:
        at, radius, is_root = self.at[node.id], self.radii[node.id], node.id == self._data.root
        hint, lines = node.hint or node.label, _lines(node.label)
        seen = " ".join(lines)
        place = f"{at.real + corner.real:.0f},{at.imag + corner.imag:.0f}"
        part = drawn.add(
            "a" if node.href else "g",
            class_=f"m-node k{node.mark}{' root' if is_root else ''}{' here' if node.id == self._chosen else ''}",
            href=node.href,
            aria_label=f"{seen}, {hint}" if hint != seen and node.href else None,  # it has what is visible
            data_id=node.id,
            data_at=place,
        )
        drawn.add("title", part, hint)
        if is_root:
            drawn.add("circle", part, class_="ring", cx=at.real, cy=at.imag, r=radius + 4)
        draw_mark(drawn, part, node.mark, at, radius)
        far = radius + (6 if is_root else 2) + _GAP
        if side in ("right", "left"):
            x, anchor = (at.real + far, None) if side == "right" else (at.real - far, "end")
            y = at.imag + 4.3 - (len(lines) - 1) * _LINE / 2
        else:
            x, anchor = at.real, "middle"
            y = at.imag + far + 9 if side == "below" else at.imag - far - (len(lines) - 1) * _LINE
        text = drawn.add("text", part, None if len(lines) > 1 else lines[0], x=x, y=y, text_anchor=anchor)
        for row, line in enumerate(lines if len(lines) > 1 else ()):
            # The blank is between the words of the lines, where these are read.
            drawn.add("tspan", text, line, x=x, dy="1.2em" if row else None).tail = "" if row else " "


def _unit(way: complex) -> complex:
    return way / abs(way) if way else 1 + 0j


def _beside(at: complex, towards: complex, radius: float) -> complex:
    """The point at the edge of a mark, in the direction of another point."""
    return at + _unit(towards - at) * radius


def _arrow(drawn: Svg, lines: Element, tip: complex, target: complex) -> None:
    way = _unit(target - tip)
    base, aside = tip - way * 8, way * 3.6j
    drawn.add("path", lines, class_="m-arrow", d=f"M{_text(tip)}L{_text(base + aside)} {_text(base - aside)}Z")


def _text(at: complex) -> str:
    return f"{at.real:.1f} {at.imag:.1f}"
