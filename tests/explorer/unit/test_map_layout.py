"""Places of a map: nothing over another, kept where a map grows, and the same each time."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.doors.explorer.pictures.layout import Extent, apart, points
from cortex_skills.doors.explorer.pictures.map import MapData, MapLink, MapMore, MapNode, bundles, clustered, picture
from cortex_skills.doors.explorer.pictures.map import placed as places_of

sizes = st.floats(1, 120)
boxes = st.builds(lambda w, h, x, y: Extent(-w - x, -h - y, w, h), sizes, sizes, st.floats(0, 40), st.floats(0, 40))
at_most_30 = st.integers(2, 30)


def over(at: list[complex], of: list[Extent]) -> list[tuple[int, int]]:
    """The pairs of boxes that are over each other."""
    found = []
    for one, other in combinations(range(len(at)), 2):
        (a, b), (p, q) = (of[one], of[other]), (at[one], at[other])
        across = min(p.real + a.right, q.real + b.right) - max(p.real + a.left, q.real + b.left)
        down = min(p.imag + a.bottom, q.imag + b.bottom) - max(p.imag + a.top, q.imag + b.top)
        if across > 1e-6 and down > 1e-6:
            found.append((one, other))
    return found


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_box_is_over_another_and_what_is_fixed_stays(data: st.DataObject) -> None:
    count = data.draw(at_most_30)
    ends = st.integers(0, count - 1)
    links = data.draw(st.lists(st.tuples(ends, ends), max_size=60))
    of = data.draw(st.lists(boxes, min_size=count, max_size=count))
    fixed = {0: 3 + 4j} if data.draw(st.booleans()) else {}
    at = apart(points(count, links, fixed), of, fixed)
    assert over(at, of) == []
    assert at == apart(points(count, links, fixed), of, fixed)
    assert {place: at[place] for place in fixed} == fixed


def test_boxes_that_cannot_be_pushed_apart_find_a_free_place() -> None:
    of = [Extent(-50, -50, 50, 50)] * 9
    fixed = {place: complex(100 * (place % 3), 100 * (place // 3)) for place in range(8)}
    at = apart([*fixed.values(), 100 + 100j], of, fixed)
    assert over(at, of) == []
    assert at[:8] == list(fixed.values())


def star(count: int, classes: int = 1) -> MapData:
    nodes = [MapNode("hub", "The hub"), *(MapNode(f"n{n}", f"Node {n}", f"c{n % classes}", 1) for n in range(count))]
    links = [MapLink("hub", f"n{n}", "knows" if n % 3 else "owns") for n in range(count)]
    return MapData("A star", tuple(nodes), tuple(links), root="hub")


def test_links_of_one_node_with_one_predicate_are_one_bundle_with_their_number() -> None:
    links = (MapLink("a", "b", "p"), MapLink("a", "c", "p"), MapLink("d", "c", "p"), MapLink("a", "b", "q"))
    nodes = tuple(MapNode(name, name) for name in "abcd")
    more = (
        MapMore("b", "r", "1,204", "/explore/x", outgoing=False),
        MapMore("a", "q", "7", "/explore/y", outgoing=True),
    )
    found = {each.key: (each.words, each.ends, each.href) for each in bundles(MapData("t", nodes, links, more))}
    assert found == {
        "a > p": ("p × 2", ("b", "c"), None),
        "c < p": ("p", ("d",), None),
        "a > q": ("q 1 + 7", ("b",), "/explore/y"),
        "b < r": ("r 0 + 1,204", (), "/explore/x"),
    }


def test_of_very_many_links_only_the_largest_bundles_have_names() -> None:
    nodes = tuple(MapNode(f"n{n}", f"Node {n}") for n in range(60))
    links = tuple(MapLink(f"n{n % 60}", f"n{n * 7 % 59}", f"p{n % 400}") for n in range(1_500))
    named = [each for each in bundles(MapData("t", nodes, links)) if each.words]
    assert 60 < len(named) <= 110
    assert min(len(each.ends) for each in named) > 1


def test_a_map_that_grows_keeps_the_places_of_what_was_there() -> None:
    small, large = star(8), star(20)
    first, second = places_of((small,)), places_of((small, large))
    kept = [node.id for node in small.nodes]
    assert {name: first[name] for name in kept} == {name: second[name] for name in kept}
    pinned = MapData(large.title, large.nodes, large.links, root="hub", pinned=(("n3", 1500 - 20j),))
    found, plain = places_of((pinned,)), places_of((large,))
    assert found["n3"].at == 1500 - 20j
    assert [name for name in plain if found[name] != plain[name] and not name.startswith("hub")] == ["n3"]


def test_more_than_150_nodes_are_marks_of_classes_and_an_opened_class_is_drawn() -> None:
    whole = star(600, classes=5)
    joined = clustered(whole, {f"c{n}": f"Class {n}" for n in range(5)})
    assert [(node.label, node.kind) for node in joined.nodes[:2]] == [
        ("The hub", "resource"),
        ("Class 0 × 120", "cluster"),
    ]
    assert sum(link.count for link in joined.links) == 600
    opened = clustered(whole, {}, frozenset(["c2"]))
    assert (len(opened.nodes), sum(node.class_ == "c2" for node in opened.nodes)) == (125, 120)
    many = clustered(star(2000, 1900), {})
    assert len(many.nodes) <= 150
    assert sum(link.count for link in many.links) == 2000
    assert clustered(star(30), {}) == star(30)


def test_a_picture_has_each_node_once_with_its_class_and_links_that_end_in_arrows() -> None:
    root = ET.fromstring(picture(star(40, classes=3)).__html__())
    marks = [each for each in root.iter() if str(each.get("class", "")).startswith("m-node")]
    assert sorted(each.get("data-id", "") for each in marks) == sorted(["hub", *(f"n{n}" for n in range(40))])
    assert len([each for each in root.iter("path") if each.get("class") == "m-arrow"]) == 40
    assert [each.get("class") for each in marks].count("m-node k0 root") == 1
