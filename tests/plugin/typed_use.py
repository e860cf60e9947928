"""How a host uses a plugin, for the type checker (`make lint`): what features add, and results, have types."""

from typing import Any, assert_type

from cortex_skills import Config, Plugin, Result
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.typed_calls import AssertDetails, GraphFindDetails, GraphQueryDetails


def use(config: Config) -> None:
    """Use members of features."""
    with Plugin.open(config) as plugin:
        assert_type(plugin.registry, SkillRegistry)
        assert_type(plugin.memories, Memories)
        plugin.outcome("verify-kyc", success=True)
        plugin.outcome("verify-kyc", success="yes")  # type: ignore[arg-type]
        plugin.invoices  # type: ignore[attr-defined]  # noqa: B018


async def use_results(plugin: Plugin) -> None:
    """Use the details of results by the names of their members."""
    asserted = plugin.call("skill_assert", {"subject": "a", "predicate": "p", "object": 1}, agent="a1")
    assert_type(asserted, Result[AssertDetails])
    assert_type(asserted.details["created"], bool)
    asserted.details["creatd"]  # type: ignore[typeddict-item]
    found = await plugin.acall("skill_graph_query", {"subject": "a"}, session="s")
    assert_type(found.details, GraphQueryDetails)
    assert_type([each["subject"] for each in found.details["matches"]], list[str])
    assert_type(plugin.call("graph_find", {"text": "a"}).details, GraphFindDetails)
    plugin.call("skill_assert", {}, agnet="a1")  # type: ignore[call-overload]
    of_the_host = plugin.call("invoice_totals", {})
    assert_type(of_the_host, Result[Any])
    results: list[Result] = [of_the_host]
    assert_type(results[0].details, dict[str, Any])
