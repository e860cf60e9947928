"""What agents report about skills decides nothing, and what is measured does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Quad

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_graph.store import Pattern
from cortex_skills import Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.parts import loaded_in
from cortex_skills.features.registry.records import terms
from cortex_skills.features.registry.records.lifecycle import (
    MAX_REPORTS,
    MAX_USERS,
    REPORTS_WEIGHT,
    Quality,
    Standing,
    first_standing,
    health,
    is_reliable,
    maintained,
    tier_after,
)
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.features.registry.reflections import maintain
from cortex_skills.features.registry.skill_finder import SkillFinder
from tests.configs import config
from tests.plugin.skills import write_skill

NOW = datetime(2026, 1, 2, tzinfo=UTC)
STEPS = "1. **Ask the graph** — use skill_graph_query\n"
LEARNED, HUMAN = SkillKey("mayros", "grate-carrots"), SkillKey("mayros", "peel-carrots")


def document(key: SkillKey, body: str = STEPS) -> Any:
    return inline_document({"name": key.name, "description": f"{key.name}: carrots.", "body": body}, "mayros")


@pytest.fixture(scope="module")
def skills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    granted = {"registry": ["read", "learn"], "graph": ["read"]}
    return write_skill(tmp_path_factory.mktemp("reports") / "learner", permissions=granted, assertions=[])


@pytest.fixture
def plugin(skills: Path) -> Iterator[Plugin]:
    """A plugin in which `author` has written a skill, and a person another one."""
    limits = {"maxCallsPerMinute": 5000, "maxGraphQueries": 5000}
    with Plugin.open(
        config(skillSandbox=limits, tools={"profiles": ["core", "registry"]}), agent="host", registers=False
    ) as plugin:
        plugin.load(skills)
        made = {"operation": "create", "name": LEARNED.name, "description": "Grates carrots.", "body": STEPS}
        assert not plugin.call("skill_write", made, agent="author").is_error
        plugin.registry.register(document(HUMAN), actor="ada", origin="human")
        yield plugin


def report(plugin: Plugin, agent: str, key: SkillKey = LEARNED, *, success: bool = True) -> dict[str, Any]:
    result = plugin.call("skill_feedback", {"name": key.name, "success": success}, agent=agent)
    assert not result.is_error, result.text
    return result.details


def seen(plugin: Plugin) -> tuple[object, ...]:
    """What another agent sees, and what is kept of both skills."""
    found = plugin.call("skill_find", {"query": "carrots"}, agent="other")
    return plugin.context(agent="other"), found.text, plugin.registry.record(LEARNED), plugin.registry.record(HUMAN)


def is_started_with(plugin: Plugin, key: SkillKey = LEARNED) -> bool:
    return key.name in plugin.context(agent="other")


def test_twenty_reports_of_the_author_change_nothing(plugin: Plugin) -> None:
    before, events = seen(plugin), plugin.registry.log.count()
    answers = [report(plugin, "author") for _ in range(20)]
    assert {answer["counted"] for answer in answers} == {False}
    assert (seen(plugin), plugin.registry.log.count()) == (before, events)
    assert "Not counted" in plugin.call("skill_feedback", {"name": LEARNED.name, "success": True}, agent="author").text


def test_many_reports_of_an_agent_are_its_latest_one(plugin: Plugin) -> None:
    report(plugin, "a1", HUMAN, success=False)
    once = seen(plugin)
    for _ in range(13):
        report(plugin, "a1", HUMAN, success=False)
    assert seen(plugin) == once
    assert report(plugin, "a1", HUMAN)["reports"] == {"agents": 1, "working": 1}


@pytest.mark.parametrize("success", [True, False])
def test_reports_of_many_agents_neither_raise_lower_nor_remove_a_skill(plugin: Plugin, success: bool) -> None:
    finder = SkillFinder(plugin.registry)
    standings = [plugin.registry.record(key).standing for key in (LEARNED, HUMAN)]
    start = plugin.context(agent="other")
    for number in range(14):
        for key in (LEARNED, HUMAN):
            report(plugin, f"a{number}", key, success=success)
    assert plugin.context(agent="other") == start
    assert [plugin.registry.record(key).standing for key in (LEARNED, HUMAN)] == standings
    assert maintain(plugin.registry, finder, actor="ada") == []
    quality = plugin.registry.record(HUMAN).quality
    assert (quality.invocations, quality.success_rate, quality.utility, quality.reporting) == (0, 0.0, 0.0, 14)
    with pytest.raises(CortexError) as caught:
        plugin.registry.promote(LEARNED, actor="ada")
    assert caught.value.code == "gain_not_measured"
    reliable = [skill.record.key for skill in finder.find("carrots").skills]
    assert reliable == [HUMAN]


def use(plugin: Plugin, agent: str, key: SkillKey = LEARNED, *, success: bool = True) -> None:
    """Load a skill, call the tool of its steps, and end the session."""
    plugin.call("load_skill", {"name": key.name}, agent=agent)
    arguments = {"predicate": "p"} if success else {"predicate": 1}
    assert plugin.call("skill_graph_query", arguments, agent=agent).is_error is not success
    plugin._host.part(loaded_in).end()


def test_measured_outcomes_bring_a_learned_skill_into_the_start_of_others_and_out_again(plugin: Plugin) -> None:
    for agent in ("a1", "a2", "a3"):
        assert not is_started_with(plugin) or agent == "a3"
        use(plugin, agent)
    assert plugin.registry.record(LEARNED).evidence.current_successes == 3
    assert is_started_with(plugin)
    assert plugin.registry.promote(LEARNED, actor="ada").standing.lifecycle == "verified"
    plugin.registry.degrade(LEARNED, "tried", actor="ada")
    for _ in range(4):
        plugin.outcome(LEARNED.name, False)
    assert not is_started_with(plugin)


def test_the_uses_of_its_author_bring_a_learned_skill_to_the_author_alone(plugin: Plugin) -> None:
    for _ in range(6):
        use(plugin, "author")
    record = plugin.registry.record(LEARNED)
    assert (record.quality.invocations, record.quality.utility, record.evidence.current) == (6, 0.0, 0)
    assert not is_started_with(plugin)
    assert LEARNED.name in plugin.context(agent="author")
    assert LEARNED.name not in plugin.call("skill_find", {"query": "carrots"}, agent="other").text
    with pytest.raises(CortexError, match="0 of 0 measured uses"):
        plugin.registry.promote(LEARNED, actor="ada")
    use(plugin, "author", success=False)
    assert LEARNED.name not in plugin.context(agent="author")


def test_one_agent_neither_raises_a_learned_skill_for_others_nor_lowers_any(plugin: Plugin) -> None:
    for _ in range(6):
        use(plugin, "a1")
    assert not is_started_with(plugin)
    for agent in ("a2", "a3", "a4"):
        use(plugin, agent)
        use(plugin, agent, HUMAN)
    assert plugin.registry.promote(LEARNED, actor="ada").standing.lifecycle == "verified"
    before = {key: plugin.registry.record(key) for key in (LEARNED, HUMAN)}
    for _ in range(20):
        use(plugin, "a1", success=False)
        use(plugin, "a1", HUMAN, success=False)
    for key, record in before.items():
        after = plugin.registry.record(key)
        assert after.standing == record.standing
        assert (after.evidence.current, after.evidence.current_successes) == (4, 3)
        assert health(after.evidence, 0, NOW).overall > health(record.evidence, 0, NOW).overall - 0.15
    assert maintain(plugin.registry, SkillFinder(plugin.registry), actor="ada") == []
    assert is_started_with(plugin)


def test_uses_of_an_earlier_version_move_nothing(plugin: Plugin) -> None:
    old = plugin.registry.record(LEARNED).version_id
    update = {"operation": "update", "name": LEARNED.name, "body": f"{STEPS}Changed.\n"}
    assert not plugin.call("skill_write", update, agent="author").is_error
    for _ in range(5):
        plugin.registry.outcome(LEARNED, success=True, actor="a1", user="a1", version_id=old)
    quality = plugin.registry.record(LEARNED).quality
    assert (quality.invocations, quality.current, quality.utility) == (5, 0, 0.0)


def test_no_more_users_than_the_limit_are_kept() -> None:
    quality = Quality()
    for number in range(MAX_USERS + 5):
        quality = quality.after_use(f"a{number}", success=False, now=NOW)
    assert (quality.users, quality.invocations, quality.utility) == (MAX_USERS, MAX_USERS + 5, 0.0)
    assert quality.after_use("a0", success=True, now=NOW).current_successes == 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40))
def test_however_often_an_agent_uses_a_skill_its_latest_outcome_counts(uses: list[tuple[str, bool]]) -> None:
    quality = Quality(utility=0.5)
    for agent, success in uses:
        quality = quality.after_use(agent, success=success, now=NOW)
    latest = dict(uses)
    worked = sum(latest.values())
    assert (quality.current, quality.current_successes) == (len(latest), worked)
    assert (quality.invocations, quality.successes) == (len(uses), sum(success for _, success in uses))
    assert quality.utility == pytest.approx(0.5 + 0.1 * worked - 0.05 * (len(latest) - worked))


def test_a_changed_document_does_not_have_the_outcomes_of_the_one_before(plugin: Plugin) -> None:
    for _ in range(3):
        plugin.outcome(LEARNED.name, True)
    assert is_started_with(plugin)
    assert [report(plugin, agent)["reports"]["agents"] for agent in ("a1", "a2")] == [1, 2]
    update = {"operation": "update", "name": LEARNED.name, "body": f"{STEPS}Changed.\n"}
    assert not plugin.call("skill_write", update, agent="a2").is_error
    assert not is_started_with(plugin)
    with pytest.raises(CortexError, match="0 of 0 measured uses"):
        plugin.registry.promote(LEARNED, actor="ada")
    quality = plugin.registry.record(LEARNED).quality
    assert (quality.invocations, quality.current) == (3, 0)
    again = report(plugin, "a2")  # an author now
    assert (again["counted"], again["reports"]) == (False, {"agents": 1, "working": 1})


def test_a_merged_skill_does_not_have_the_outcomes_of_its_parts(plugin: Plugin) -> None:
    for _ in range(3):
        plugin.outcome(LEARNED.name, True)
    made = {"operation": "create", "name": "other-carrots", "description": "d", "body": "Something else.\n"}
    assert not plugin.call("skill_write", made, agent="a2").is_error
    merge = {"operation": "merge", "name": LEARNED.name, "source": "other-carrots"}
    assert not plugin.call("skill_write", merge, agent="a3").is_error
    record = plugin.registry.record(LEARNED)
    assert not is_started_with(plugin)
    assert (record.quality.invocations, record.quality.current) == (3, 0)
    assert record.authors == {"author", "a2", "a3"}


def test_an_outcome_is_of_the_version_that_was_loaded(plugin: Plugin) -> None:
    plugin.call("load_skill", {"name": LEARNED.name}, agent="a1")
    plugin.call("skill_graph_query", {"predicate": "p"}, agent="a1")
    update = {"operation": "update", "name": LEARNED.name, "body": f"{STEPS}Changed.\n"}
    assert not plugin.call("skill_write", update, agent="a1").is_error
    plugin._host.part(loaded_in).end()
    quality = plugin.registry.record(LEARNED).quality
    assert (quality.invocations, quality.successes, quality.current) == (1, 1, 0)
    assert not is_started_with(plugin)


def test_an_agent_does_not_report_on_what_a_person_learned_from_its_calls(plugin: Plugin) -> None:
    from cortex_skills.features.registry.records.skill_record import LearnedIn

    key = SkillKey("mayros", "wash-carrots")
    plugin.registry.register(
        document(key), actor="ada", origin="learned", learned_in=LearnedIn("5e" * 16, "a1", NOW), author="token"
    )
    assert [report(plugin, agent, key)["counted"] for agent in ("a1", "token", "ada")] == [False, False, True]


def test_no_more_reports_than_the_limit_are_kept_and_that_is_stated(plugin: Plugin) -> None:
    for number in range(MAX_REPORTS):
        plugin.registry.report(HUMAN, success=True, actor=f"a{number}")
    answer = plugin.call("skill_feedback", {"name": HUMAN.name, "success": False}, agent="late")
    assert (answer.details["counted"], f"{MAX_REPORTS} agents have reported already" in answer.text) == (False, True)
    assert report(plugin, "a0", HUMAN, success=False)["reports"] == {"agents": MAX_REPORTS, "working": MAX_REPORTS - 1}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.booleans()), max_size=40),
    st.lists(st.booleans(), max_size=8),
    st.sampled_from([Standing("learned", "candidate", 1), Standing("learned", "verified", 1), first_standing("human")]),
)
def test_reports_decide_nothing(reports: list[tuple[str, bool]], outcomes: list[bool], standing: Standing) -> None:
    measured = Quality()
    for success in outcomes:
        measured = measured.after(success=success, now=NOW)
    quality = measured
    for agent, success in reports:
        quality = quality.reported(agent, success=success)
    latest = dict(reports)
    assert (quality.reporting, len(quality.reported_working)) == (len(latest), sum(latest.values()))
    for decide in (
        lambda each: is_reliable(standing, each),
        lambda each: tier_after(standing, each),
        lambda each: maintained(standing, each, health(each, 3, NOW)),
        lambda each: health(each, 0, NOW),
        lambda each: each.interval(),
    ):
        assert decide(quality) == decide(measured)
    assert abs(quality.reports_weight) < REPORTS_WEIGHT


@pytest.mark.parametrize(
    ("invocations", "successes", "measured", "expected"),
    [(20, 20, None, (0, 0, 0.0)), (17, 3, (3, 3), (3, 3, 0.3)), (3, 2, (3, 2), (3, 2, 0.75))],
)
def test_of_a_record_of_an_earlier_version_the_measured_outcomes_count(
    invocations: int, successes: int, measured: tuple[int, int] | None, expected: tuple[int, int, float]
) -> None:
    registry = SkillRegistry(open_store("memory:"), Names("mayros"), lambda: None)
    registry.register(document(LEARNED), actor="author", origin="learned")
    graph, node = registry.terms.graph, registry.terms.record(LEARNED)
    new = (terms.CURRENT_INVOCATIONS, terms.CURRENT_SUCCESSES, terms.AUTHOR)
    counters = {terms.INVOCATIONS: invocations, terms.SUCCESSES: successes}
    if measured is not None:
        counters |= dict(zip((terms.MEASURED, terms.MEASURED_SUCCESSES), measured, strict=True))
    quads = list(registry.store.quads(Pattern(graph, node)))
    gone = [quad for quad in quads if quad.predicate in (*new, *counters, terms.UTILITY)]
    written = [Quad(node, term, Literal(str(value), datatype=terms.INTEGER), graph) for term, value in counters.items()]
    written.append(Quad(node, terms.UTILITY, Literal("0.75", datatype=terms.DOUBLE), graph))
    registry.store.apply(written, gone)
    quality = registry.record(LEARNED).quality
    assert (quality.invocations, quality.successes, pytest.approx(quality.utility)) == expected
    assert (quality.current, quality.reporting) == (expected[0], 0)
    record, problem = registry.report(LEARNED, success=True, actor="a1")
    assert (record.quality, "not known who wrote it" in problem) == (quality, True)
    again = registry.outcome(LEARNED, success=False, actor="a1")
    assert registry.record(LEARNED) == again
    assert (again.quality.invocations, again.quality.successes) == (expected[0] + 1, expected[1])
