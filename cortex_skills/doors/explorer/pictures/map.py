"""The map: resources and the triples between them, as data for a script and as a picture.

Rules kept here:
- at most `MAX_NODES` nodes and `MAX_LINKS` links, whatever the graph: when there are more, the values that one resource
  has with one predicate, and that have no other link, become one node with their number; then the last ones are
  dropped, and `left_out` has their number;
- the same triples give the same map; the picture is a tree of rings around the first node, so that it needs no script;
- a picture has at most `MAX_DRAWN` nodes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from cortex_graph.namespace.labels import cut
from cortex_skills.doors.explorer.pictures.svg import Svg

VERSION = 1
MAX_NODES = 2000
MAX_LINKS = 6000
MAX_DRAWN = 150

_TOGETHER = 4  # values from which a group is made
_RING = 190.0
_ARC = 24.0  # between two nodes of a ring, at least
_MARGIN = 150.0
_LABEL = 26
_LINK_LABELS = 60

Kind = Literal["resource", "literal", "more"]


@dataclass(frozen=True, slots=True)
class MapNode:
    """A node.

    Attributes:
        id: unique in its map.
        label: as shown.
        kind: `more` for several values together.
        href: where it leads; None for nowhere.
    """

    id: str
    label: str
    kind: Kind = "resource"
    href: str | None = None


@dataclass(frozen=True, slots=True)
class MapLink:
    """A triple between two nodes, by their ids, with the name of its predicate."""

    source: str
    target: str
    label: str


@dataclass(frozen=True, slots=True)
class MapData:
    """A map; its first node is in the middle.

    Attributes:
        title: what it shows, one sentence that is read aloud.
        nodes, links: the graph.
        left_out: how many nodes were dropped.
    """

    title: str
    nodes: tuple[MapNode, ...]
    links: tuple[MapLink, ...]
    left_out: int = 0

    def to_json(self) -> dict[str, Any]:
        """The map for a script or another program; a change that breaks readers raises `version`."""
        nodes = [
            {"id": node.id, "label": node.label, "kind": node.kind} | ({"href": node.href} if node.href else {})
            for node in self.nodes
        ]
        links = [{"source": link.source, "target": link.target, "label": link.label} for link in self.links]
        return {"version": VERSION, "title": self.title, "nodes": nodes, "links": links, "leftOut": self.left_out}


def bounded(data: MapData, nodes: int = MAX_NODES, links: int = MAX_LINKS) -> MapData:
    """A map within its limits."""
    if len(data.nodes) <= nodes and len(data.links) <= links:
        return data
    grouped = _grouped(data)
    kept = grouped.nodes[:nodes]
    known = {node.id for node in kept}
    joined = [link for link in grouped.links if link.source in known and link.target in known]
    left_out = data.left_out + len(grouped.nodes) - len(kept)
    return replace(grouped, nodes=kept, links=tuple(joined[:links]), left_out=left_out)


def _grouped(data: MapData) -> MapData:
    """The map with the leaves of a node that have the same predicate joined."""
    degree: dict[str, int] = defaultdict(int)
    for link in data.links:
        degree[link.source] += 1
        degree[link.target] += 1
    leaves: dict[tuple[str, str, bool], list[str]] = defaultdict(list)
    first = data.nodes[0].id if data.nodes else ""
    for link in data.links:
        if degree[link.target] == 1 and link.target != first:
            leaves[link.source, link.label, True].append(link.target)
        elif degree[link.source] == 1 and link.source != first:
            leaves[link.target, link.label, False].append(link.source)
    joined = {key: members for key, members in leaves.items() if len(members) >= _TOGETHER}
    gone = {member for members in joined.values() for member in members}
    groups, links = [], [link for link in data.links if link.source not in gone and link.target not in gone]
    for place, ((node, label, outgoing), members) in enumerate(joined.items()):
        group = f"more {place}"
        groups.append(MapNode(group, f"{len(members):,} × {label}", "more"))
        links.append(MapLink(node, group, label) if outgoing else MapLink(group, node, label))
    kept = [node for node in data.nodes if node.id not in gone]
    return replace(data, nodes=(*kept, *groups), links=tuple(links))


def picture(data: MapData) -> Svg:
    """Draw a map in rings around its first node."""
    data = bounded(data, MAX_DRAWN, 3 * MAX_DRAWN)
    places = _places([node.id for node in data.nodes], data.links)
    left, right = (bound(x for x, _ in places.values()) for bound in (min, max))
    top, bottom = (bound(y for _, y in places.values()) for bound in (min, max))
    drawn = Svg(right - left + 2 * _MARGIN, bottom - top + 80, data.title, "graph", has_links=True)
    at = {node: (x - left + _MARGIN, y - top + 30) for node, (x, y) in places.items()}
    lines = drawn.add("g", aria_hidden="true")
    for link in data.links:
        (x, y), (to_x, to_y) = at[link.source], at[link.target]
        drawn.add("line", lines, class_="g-edge", x1=x, y1=y, x2=to_x, y2=to_y)
    for link in data.links if len(data.links) <= _LINK_LABELS else ():
        (x, y), (to_x, to_y) = at[link.source], at[link.target]
        drawn.add("text", lines, cut(link.label, _LABEL - 1), class_="g-label", x=(x + to_x) / 2, y=(y + to_y) / 2 - 3)
    for place, node in enumerate(data.nodes):
        _draw(drawn, node, *at[node.id], is_focus=place == 0)
    return drawn


def _draw(drawn: Svg, node: MapNode, x: float, y: float, *, is_focus: bool) -> None:
    kind = f"g-node {node.kind}{' focus' if is_focus else ''}"
    part = drawn.add("a" if node.href else "g", class_=kind, href=node.href)
    label = cut(node.label, _LABEL - 1)
    if node.kind == "resource":
        drawn.add("circle", part, cx=x, cy=y, r=9 if is_focus else 6)
        drawn.add("text", part, label, x=x, y=y + (24 if is_focus else 19))
        return
    width = len(label) * 6.8 + 12
    drawn.add("rect", part, x=x - width / 2, y=y - 10, width=width, height=20, rx=3 if node.kind == "literal" else 10)
    drawn.add("text", part, label, x=x, y=y + 4)


def _places(nodes: Sequence[str], links: Sequence[MapLink]) -> dict[str, tuple[float, float]]:
    """Where the nodes are: each ring holds those that are one link further from the middle, beside their parents."""
    near: dict[str, list[str]] = defaultdict(list)
    for link in links:
        near[link.source].append(link.target)
        near[link.target].append(link.source)
    places: dict[str, tuple[float, float]] = {}
    ring, radius, seen = list(nodes[:1]), 0.0, set(nodes[:1])
    rest = iter(nodes)
    while ring:
        radius = max(radius, len(ring) * _ARC / math.tau) if radius else 0.0
        for place, node in enumerate(ring):
            angle = math.tau * (place + 0.5) / len(ring) - math.pi / 2
            places[node] = (radius * math.cos(angle) * 1.25, radius * math.sin(angle))
        following = dict.fromkeys(other for node in ring for other in near[node] if other not in seen)
        ring = list(following) or [node for node in [next((each for each in rest if each not in seen), "")] if node]
        seen.update(ring)
        radius += _RING
    return places
