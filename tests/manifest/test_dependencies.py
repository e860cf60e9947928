"""Load order."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.manifest import Dependency, Joining, Manifest, ManifestError, Semantic, load_order
from cortex_skills.manifest.versions import in_range, is_range


def skill(name, *needs, version="1.0.0"):
    dependencies = tuple(Dependency(*need.split(" ", 1)) for need in needs)
    return Manifest(name, "d", semantic=Semantic(1, skill_version=version, dependencies=dependencies))


def names(manifests):
    return [manifest.name for manifest in manifests]


def problem(*arguments):
    with pytest.raises(ManifestError) as caught:
        load_order(*arguments)
    (found,) = caught.value.errors
    return found.file, found.field, found.message


def test_a_dependency_comes_before_its_dependent():
    skills = [skill("a", "b ^1", "c *"), skill("b", "c ^1"), skill("c")]
    assert names(load_order(skills)) == ["c", "b", "a"]


def test_loaded_skills_count_and_are_not_loaded_again():
    assert names(load_order([skill("a", "b ^1")], loaded=[skill("b")])) == ["a"]


@pytest.mark.parametrize("given", [["p\u0430y", "pay"], ["pay", "p\u0430y"]])
def test_two_names_that_look_alike_are_refused(given):
    first, second = map(skill, given)
    _, field, message = problem([second], [first])
    assert field == "name"
    assert message == f"{given[1]!a} looks like {given[0]!a}, the name of another skill"
    with pytest.raises(ManifestError):
        load_order([first, second])
    assert names(load_order([first], loaded=[first])) == [given[0]]


def test_a_plain_skill_needs_nothing():
    assert names(load_order([Manifest("plain", "d")])) == ["plain"]


def test_a_missing_dependency_names_the_skill_and_the_field():
    assert problem([skill("a", "b ^1")]) == (
        "a/SKILL.md",
        "semantic.dependencies[0]",
        "a needs b ^1, which is not loaded",
    )


def test_a_version_out_of_range_is_refused():
    found = problem([skill("a", "b ^2.0.0"), skill("b", version="1.9.9")])
    assert found == ("a/SKILL.md", "semantic.dependencies[0]", "a needs b ^2.0.0, but it is at 1.9.9")


def test_a_replacement_stays_in_the_range_of_the_loaded_dependents():
    loaded = [skill("a", "b ^1"), skill("b")]
    assert names(load_order([skill("b", version="1.5.0")], loaded)) == ["b"]
    assert problem([skill("b", version="2.0.0")], loaded)[2] == "a needs b ^1, but it is at 2.0.0"


def test_a_cycle_is_reported_with_its_path():
    file, field, message = problem([skill("a", "b *"), skill("b", "c *"), skill("c", "a *")])
    cycle = message.removeprefix("closes a cycle: ").split(" → ")
    assert cycle[0] == cycle[-1]
    follows = {"a": "b", "b": "c", "c": "a"}
    assert all(follows[one] == other for one, other in pairwise(cycle))
    assert (file, field) == (f"{cycle[0]}/SKILL.md", "semantic.dependencies[0]")


def test_a_plain_skill_cannot_be_depended_on():
    assert problem([skill("a", "b *"), Manifest("b", "d")])[2] == "a needs b *, which is not a semantic skill"


def test_a_name_is_given_once():
    assert problem([skill("a"), skill("a")])[:2] == ("a/SKILL.md", "name")


def test_all_problems_are_reported_at_once():
    with pytest.raises(ManifestError) as caught:
        load_order([skill("a", "x *", "y *"), skill("b", "a ^2")])
    assert len(caught.value.errors) == 3


@given(st.permutations(range(8)), st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))))
def test_the_order_keeps_every_dependency(order, edges):
    needs = {number: [f"s{low} *" for high, low in edges if high == number and low < high] for number in order}
    loaded = names(load_order([skill(f"s{number}", *needs[number]) for number in order]))
    assert sorted(loaded) == [f"s{number}" for number in range(8)]
    for number, wanted in needs.items():
        assert all(loaded.index(need.split()[0]) < loaded.index(f"s{number}") for need in wanted)


@pytest.mark.parametrize(
    "joining",
    [
        skill("a"),
        skill("a", "x ^1"),
        skill("a", "x ^2"),
        skill("a", "missing *"),
        skill("a", "a *"),
        skill("p\u0430y"),
        skill("a", "x ^1", "y ^1"),
    ],
)
def test_a_skill_joins_loaded_ones_as_it_would_be_ordered_with_them(joining):
    def outcome(check):
        try:
            check()
        except ManifestError as error:
            return str(error)
        return "ok"

    loaded = [skill("x"), skill("y", "x *"), skill("pay")]
    first = Joining(loaded[:1])
    for each in loaded[1:]:
        first.check(each)
        first.add(each)
    assert outcome(lambda: first.check(joining)) == outcome(lambda: load_order([joining], loaded))


def test_loading_many_skills_one_after_another_orders_none_of_them_again(monkeypatch):
    asked = []
    monkeypatch.setattr("cortex_skills.manifest.dependencies.load_order", lambda *given: asked.append(given))
    joining = Joining([])
    for number in range(1_000):
        joining.check(skill(f"s{number}"))
        joining.add(skill(f"s{number}"))
    assert asked == []


@pytest.mark.parametrize(
    ("version", "range_", "inside"),
    [
        ("1.2.3", "^1.0.0", True),
        ("2.0.0", "^1.0.0", False),
        ("0.2.9", "^0.2.3", True),
        ("0.3.0", "^0.2.3", False),
        ("1.2.9", "~1.2.3", True),
        ("1.3.0", "~1.2.3", False),
        ("1.5.0", ">= 1.2   <2", True),
        ("2.1.0", "1.x || 2.1", True),
        ("1.5.0", "1.0 - 2.0", True),
        ("9.9.9", "*", True),
        ("1.0.0-beta", "^1.0.0", False),
        ("1.0.0-beta.2", "^1.0.0-beta.1", True),
        ("1.0.0+build", "1.0.0", True),
        ("1.0.0", "1.0.0+other", True),
    ],
)
def test_ranges_match_as_in_npm(version, range_, inside):
    assert in_range(version, range_) is inside


@given(st.text(st.sampled_from("0123456789.x*^~<>=|- vab+"), max_size=260))
def test_any_text_is_accepted_or_rejected_as_a_range(text):
    if not is_range(text):
        assert in_range("1.0.0", text) is False
    else:
        assert in_range("1.0.0", text) in (True, False)
