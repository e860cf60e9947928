"""What features add to a plugin: found by its name, listed, and known to type checkers."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from cortex_skills import Plugin, feature
from cortex_skills.features.typed_calls import TypedCalls
from cortex_skills.features.with_features import PluginWithFeatures
from cortex_skills.plugin import Plugin as CorePlugin
from tests.configs import config


class Counting(CorePlugin):
    @property
    def triples(self) -> int:
        return self.graph.count()

    def twice(self, number: int, *, more: int = 0) -> tuple[int, str]:
        return 2 * number + more, self.agent

    def _hidden(self) -> None:
        raise AssertionError


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Any:
    installed = (*feature.features(), feature.Feature("counting", members=(f"{__name__}:Counting",)))
    monkeypatch.setattr(feature, "features", lambda: installed)
    with Plugin.open(config(), agent="a1") as plugin:
        yield plugin


def test_a_feature_adds_properties_and_methods(counting: Any) -> None:
    counting.graph.create_triple({"subject": "s", "predicate": "p", "object": 1})
    assert counting.triples == 1
    assert counting.twice(4, more=1) == (9, "a1")
    assert {"triples", "twice", "registry", "call", "graph"} <= set(dir(counting))


def test_what_no_feature_adds_is_an_error_that_names_it_and_what_is_installed(counting: Any) -> None:
    with pytest.raises(AttributeError, match=r"'invoices'.* installed: scaffold, skill_testing, graph, .*counting"):
        counting.invoices  # noqa: B018
    with pytest.raises(AttributeError, match="_hidden"):
        counting._hidden  # noqa: B018
    assert not hasattr(counting, "__deepcopy__")
    assert copy.copy(counting).agent == "a1"


def test_the_members_of_all_features_have_types_and_no_name_is_added_twice() -> None:
    added = list(feature.functions("members"))
    assert set(PluginWithFeatures.__bases__) == {*added, TypedCalls}
    names = [name for members in (CorePlugin, *added) for name in vars(members) if not name.startswith("_")]
    assert len(names) == len(set(names))


def test_a_member_is_a_part_of_the_plugin(counting: Any) -> None:
    from cortex_skills.features.memory.memories import memories_of

    assert counting.memories is counting.part(memories_of)
