"""What features keep for the namespaces of a plugin."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from cortex_graph import NamespacedGraph
from cortex_skills import Plugin
from cortex_skills.host import Host
from tests.configs import config


@pytest.fixture
def plugin() -> Iterator[Plugin]:
    with Plugin.open(config()) as plugin:
        yield plugin


def test_a_part_is_made_once_for_each_namespace_also_when_it_is_none(plugin: Plugin) -> None:
    made: list[str] = []

    def kind(host: Host) -> None:
        made.append(host.graph.namespace)

    shop = plugin.host_of(NamespacedGraph(plugin.graph.store, "shop"))
    for host in (plugin.host_of(plugin.graph), shop, plugin.host_of(plugin.graph), shop):
        assert host.part(kind) is None
    assert made == ["mayros", "shop"]


def test_what_is_shared_is_that_of_the_plugin_in_every_namespace(plugin: Plugin) -> None:
    numbers = count()

    def kind(host: Host) -> tuple[str, int]:
        return host.graph.namespace, next(numbers)

    for name in ("shop", "yard"):
        host = plugin.host_of(NamespacedGraph(plugin.graph.store, name))
        assert host.shared(kind) == ("mayros", 0)
        assert host.beside(NamespacedGraph(plugin.graph.store, "far")).shared(kind) == ("mayros", 0)


def test_a_part_that_cannot_be_made_is_tried_again(plugin: Plugin) -> None:
    problems = [ValueError("once")]

    def kind(_: Host) -> str:
        if problems:
            raise problems.pop()
        return "made"

    host = plugin.host_of(plugin.graph)
    with pytest.raises(ValueError, match="once"):
        host.part(kind)
    assert host.part(kind) == "made"
