"""Pictures of drawn graphs: well-formed, bounded, and with local links only."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from cortex_graph.naming.counted import Count
from cortex_graph.naming.names import Names
from cortex_skills.doors.explorer.addresses import Addresses
from cortex_skills.doors.explorer.display import Display
from cortex_skills.doors.explorer.pictures.charts import bars
from cortex_skills.doors.explorer.pictures.fan import FanGroup, FanSide, fan
from cortex_skills.doors.explorer.pictures.map import MapData, MapLink, MapNode
from cortex_skills.doors.explorer.pictures.map import picture as map_picture
from cortex_skills.doors.explorer.pictures.plots import Bar, stacked_bars

HERE = Display(Names("mayros"), Addresses("mayros"))
FOCUS = HERE.name("focus")
HOSTILE = "<script>&\"'\u202e\U0001f600"
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).map(HERE.name)
literals = st.text(max_size=60).map(lambda text: HERE.literal(Literal(text.encode("utf-8", "replace").decode())))
counts = st.builds(Count, st.integers(0, 10**9), st.booleans())
groups = st.builds(
    FanGroup,
    names,
    st.lists(names | literals, max_size=9).map(tuple),
    counts,
    st.just("/explore/mayros/list"),
)
sides = st.builds(
    FanSide, st.lists(groups, max_size=14).map(tuple), st.builds(Count, st.integers(0, 10_000), st.booleans())
)


@settings(max_examples=15, deadline=None)
@given(names, sides, sides)
def test_the_fan_is_well_formed_bounded_and_local(focus, incoming, outgoing) -> None:
    picture = fan(focus, incoming, outgoing)
    text = picture.__html__()
    root = ET.fromstring(text)
    assert len(text.encode()) <= 90_000
    assert len([e for e in root.iter() if e.get("class") == "f-pred"]) <= 24
    assert len([e for e in root.iter() if e.get("class") in ("f-node", "f-lit", "f-more")]) <= 24 * 8 + 2
    assert all(link.get("href", "").startswith("/explore/mayros/") for link in root.iter("a"))
    assert {element.tag for element in root.iter()} <= {"svg", "g", "a", "path", "circle", "rect", "text", "tspan"}


def test_the_largest_fan_of_hostile_names_is_within_ninety_kilobytes() -> None:
    worst = HERE.iri("urn:cortex:mayros:" + "%22%F0%9F%98%80" * 12)
    value = HERE.literal(Literal("&<\U0001f600" * 20))
    group = FanGroup(worst, (worst, value) * 4, Count(10**9, is_exact=False), "/explore/mayros/list?" + "x" * 125)
    side = FanSide((group,) * 20, Count(10_000, is_exact=False), "/explore/mayros/list")
    picture = fan(worst, side, side)
    assert 40_000 < len(picture.__html__().encode()) <= 90_000


def test_long_names_in_pictures_keep_their_ends() -> None:
    ends = [f"{'order-' * 20}{n}" for n in (1, 2)]
    group = FanGroup(HERE.name(f"has-{ends[0]}"), tuple(map(HERE.name, ends)), Count(2), "/explore/mayros/list")
    drawn = fan(HERE.name(ends[1]), FanSide(), FanSide((group,)))
    texts = ["".join(each.itertext()) for each in ET.fromstring(drawn.__html__()).iter("text")]
    assert sorted(text[-6:] for text in texts) == ["rder-1", "rder-1", "rder-2", "rder-2"]
    nodes = (MapNode("0", ends[0]), MapNode("1", ends[1]))
    mapped = ET.fromstring(map_picture(MapData("Orders", nodes, (MapLink("0", "1", ends[1]),))).__html__())
    assert sorted("".join(each.itertext())[-7:] for each in mapped.iter("text")) == ["order-1", "order-2", "order-2"]
    charted = bars([(each, [1.0]) for each in ends], ["count"], "Orders")
    assert charted is not None
    shown = ET.fromstring(charted.__html__()).iter("text")
    assert ["".join(each.itertext())[-7:] for each in shown][::2] == ["order-1", "order-2"]


def test_the_same_groups_give_the_same_picture_and_more_is_a_link() -> None:
    group = FanGroup(HERE.name("p"), (HERE.name("a"),), Count(1_204), "/explore/mayros/list?predicate=p")
    one, other = (fan(FOCUS, FanSide((group,)), FanSide()) for _ in range(2))
    assert one.__html__() == other.__html__()
    more = next(e for e in ET.fromstring(one.__html__()).iter("a") if e.get("class") == "f-more")
    assert (more.get("href"), "".join(more.itertext())) == ("/explore/mayros/list?predicate=p", "1,203 more")


def test_the_arrows_of_both_sides_point_to_the_objects() -> None:
    group = FanGroup(HERE.name("knows"), (HERE.name("bob"), HERE.name("cy")), Count(2), "/explore/mayros/list")
    for sides in ((FanSide((group,)), FanSide()), (FanSide(), FanSide((group,)))):
        drawn = fan(FOCUS, *sides).__html__()
        assert len(re.findall(r'class="f-arrow" d="M[\d.]+ [\d.]+l-7 -4v8z"', drawn)) == 1  # its tip is at the right


def test_a_picture_alone_has_no_links_no_scripts_and_its_own_style() -> None:
    outside = HERE.term(NamedNode("https://evil.example/x"))
    group = FanGroup(HERE.name(HOSTILE), (outside, HERE.literal(Literal(HOSTILE))), Count(2), "/explore")
    data = fan(FOCUS, FanSide(), FanSide((group,))).alone()
    root = ET.fromstring(data)
    assert b"href" not in data
    assert {element.tag.split("}")[-1] for element in root.iter()} <= {
        *("svg", "style", "g", "path", "circle", "rect", "text", "tspan")
    }
    assert "[U+202E]" in "".join(root.itertext())


def test_bars_put_the_marked_part_on_top_and_join_what_is_too_much() -> None:
    root = ET.fromstring(stacked_bars([Bar(4, 1), Bar(2)], ("a", "b", "c"), "6 calls").__html__())
    bars = [(e.get("class"), e.get("y"), e.get("height")) for e in root.iter("rect")]
    assert bars == [("b0", "27.5", "64.5"), ("b1", "6", "21.5"), ("b0", "49", "43")]
    many = ET.fromstring(stacked_bars([Bar(1)] * 1_000, ("a", "b", "c"), "s").__html__())
    assert len(list(many.iter("rect"))) <= 120


def test_the_longest_names_in_the_fan_reach_no_other_one() -> None:
    for name in ("W" * 300, "\u05e9" * 300, "\u6f22" * 300, "\U0001f680e\u0301" * 100):
        group = FanGroup(HERE.name(name), (HERE.name(name),), Count(1), "/explore/mayros/list")
        drawn = ET.fromstring(fan(HERE.name(name), FanSide((group,)), FanSide((group,))).__html__())
        boxes = [each.find("{*}rect") for each in drawn.iter() if each.get("class") in ("f-focus", "f-pred")]
        ends = sorted((float(box.get("x")), float(box.get("x")) + float(box.get("width"))) for box in boxes)
        assert len(ends) == 3
        assert ends[0][1] < ends[1][0]
        assert ends[1][1] < ends[2][0]
