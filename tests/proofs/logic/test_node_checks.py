"""What shapes find at nodes before and after a change: the suite of the W3C is the oracle of the state after it."""

from __future__ import annotations

from collections import Counter

import pytest
from pyoxigraph import NamedNode

from cortex_graph import NamespacedGraph
from cortex_graph.store import Pattern
from cortex_skills.features.proofs.logic.node_checks import ChangeEffect, CheckedNodes, check_nodes
from cortex_skills.skill_folder.rule_set import read_rules
from tests.proofs.logic.shacl_cases import SUITES, Case, Results, cases, graph_of, nodes_of, text_of
from tests.proofs.logic.test_published_shapes import OTHERS

IN_SUITE = pytest.mark.skipif(not SUITES.is_dir(), reason="the suites are not there: python -m tests.graph.w3c.fetch")


def results(found: CheckedNodes, *effects: ChangeEffect) -> Results:
    rows = [each for each in found.findings if each.effect in effects]
    return Counter((f"<{each.node}>", each.path, each.rule, each.severity.value) for each in rows)


def check_some_statements(case: Case) -> int:
    """Insert and remove two statements about focus nodes; returns how many of the changes bring or resolve anything."""
    changing = 0
    assert isinstance(case.expected, Counter)
    known: Results = Counter()  # a finding at a literal does not name it
    for (focus, *key), count in case.expected.items():
        known[focus if focus.startswith("<") else "<>", *key] += count  # type: ignore[index]
    with graph_of(case) as graph:
        rules, nodes = read_rules(text_of(case), "skill:w3c"), nodes_of(case)
        about = [quad for quad in graph.store.quads(Pattern(graph.names.graph)) if (str(quad.subject) in str([*known]))]
        for quad in about[:2]:
            graph.store.apply(remove=[quad])
            adding = check_nodes(graph, rules, nodes, removed=None, inserted=quad, timeout_s=60)
            graph.store.apply([quad])
            removing = check_nodes(graph, rules, nodes, removed=quad, inserted=None, timeout_s=60)
            assert results(adding, ChangeEffect.BRINGS, ChangeEffect.KEEPS) == known, case.name
            assert results(removing, ChangeEffect.RESOLVES, ChangeEffect.KEEPS) == known, case.name
            assert results(adding, ChangeEffect.BRINGS) == results(removing, ChangeEffect.RESOLVES), case.name
            assert results(adding, ChangeEffect.RESOLVES) == results(removing, ChangeEffect.BRINGS), case.name
            changing += any(each.effect is not ChangeEffect.KEEPS for each in adding.findings)
    return changing


@IN_SUITE
@pytest.mark.extended
def test_after_a_change_each_case_of_the_suite_has_its_results_and_the_opposite_change_the_opposite_effects() -> None:
    found = [case for case in cases(SUITES / "core" / "manifest.ttl") if case.name not in OTHERS]
    assert sum(map(check_some_statements, found)) >= 60


@IN_SUITE
@pytest.mark.parametrize("name", ["core/property/datatype-001", "core/node/closed-001", "core/property/maxCount-001"])
def test_a_case_of_the_suite_has_its_results_after_a_change(name: str) -> None:
    (case,) = (each for each in cases(SUITES / "core" / "manifest.ttl") if each.name == name)
    assert check_some_statements(case) >= 1


def test_of_two_findings_that_differ_in_their_messages_alone_the_one_that_is_new_is_named(
    plain: NamespacedGraph,
) -> None:
    select = "SELECT $this ?n { $this <urn:cortex:mayros:p> ?n . FILTER(?n > 5) }"
    rules = read_rules(
        f"""@prefix sh: <http://www.w3.org/ns/shacl#> . <urn:s> a sh:NodeShape ; sh:targetNode <urn:cortex:mayros:a> ;
        sh:sparql [ sh:message "{{?n}} is too large" ; sh:select "{select}" ] .""",
        "skill:x",
    )
    plain.create_triple({"subject": "a", "predicate": "p", "object": 7})
    quad = plain.quad_of({"subject": "a", "predicate": "p", "object": 9})
    found = check_nodes(plain, rules, [NamedNode("urn:cortex:mayros:a")], removed=None, inserted=quad, timeout_s=60)
    assert [(each.effect.value, each.message) for each in found.findings] == [
        ("brings", "9 is too large"),
        ("keeps", "7 is too large"),
    ]


def test_more_findings_than_a_process_returns_are_called_so(plain: NamespacedGraph) -> None:
    rules = read_rules(
        """@prefix sh: <http://www.w3.org/ns/shacl#> . <urn:s> a sh:NodeShape ; sh:targetNode <urn:cortex:mayros:a> ;
        sh:property [ sh:path <urn:cortex:mayros:p> ; sh:nodeKind sh:IRI ] .""",
        "skill:x",
    )
    plain.create_triples([{"subject": "a", "predicate": "p", "object": number} for number in range(100)])
    quad = plain.quad_of({"subject": "a", "predicate": "p", "object": 100})
    node = [NamedNode("urn:cortex:mayros:a")]
    assert check_nodes(plain, rules, node, removed=None, inserted=quad, timeout_s=60).is_cut
    plain.delete_triple(plain.index.identify(next(plain.store.quads(Pattern(plain.names.graph)))))
    assert not check_nodes(plain, rules, node, removed=None, inserted=quad, timeout_s=60).is_cut
