"""Shapes in a graph, of which the suite of the W3C has many: as they are found, evaluated and suggested from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode

from cortex_graph import NamespacedGraph, import_rdf, open_store
from cortex_graph.store import Pattern
from cortex_skills import Plugin
from cortex_skills.features.graph.change_checks import check_change
from cortex_skills.features.graph.looking.form_suggestions import suggest_predicates, suggest_values
from cortex_skills.features.graph.looking.rules_here import shapes_in_graph
from cortex_skills.features.proofs.logic.node_checks import check_nodes
from tests.configs import config
from tests.proofs.logic.shacl_cases import SUITES, Case, cases
from tests.proofs.logic.test_published_shapes import OTHERS

pytestmark = pytest.mark.skipif(not SUITES.is_dir(), reason="the suites are not there: python -m tests.graph.w3c.fetch")
PERSONS = SUITES / "core" / "complex" / "personexample.ttl"
EX = "http://datashapes.org/sh/tests/core/complex/personexample.test#"


def with_base(file: Path, folder: Path) -> Path:
    """A file without relative IRIs, which an import refuses."""
    copy = folder / "case.ttl"
    copy.write_text(f"@base <{file.as_uri()}> .\n{file.read_text()}")
    return copy


def found_in(case: Case, folder: Path) -> Counter[tuple[str, ...]]:
    """The findings at the nodes of a file, of the shapes that it has."""
    graph = NamespacedGraph(open_store("memory:"), "w3c")
    import_rdf(graph, with_base(case.data.file, folder))
    quads = list(graph.store.quads(Pattern(graph.names.graph)))
    terms = dict.fromkeys(term for quad in quads for term in (quad.subject, quad.object))
    nodes = [term for term in terms if isinstance(term, NamedNode | Literal)]
    rules = shapes_in_graph(graph, nodes)
    if rules is None:
        return Counter()
    checked = check_nodes(graph, rules, nodes, removed=None, inserted=None, timeout_s=60)
    assert {each.effect.value for each in checked.findings} <= {"keeps"}
    return counted((each.node, each.path, each.rule, each.severity.value) for each in checked.findings)


def counted(rows: Iterable[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    """Findings by node; what has another name in each graph, and a literal, has none."""
    return Counter((("" if "genid" in node or not node.startswith("http") else node), *rest) for node, *rest in rows)


def of_files(part: str) -> list[Case]:
    found = cases(SUITES / "core" / part / "manifest.ttl")
    return [case for case in found if case.name not in OTHERS and case.data.file == case.shapes.file]


@pytest.mark.extended
@pytest.mark.parametrize("part", ["node", "property", "path", "targets", "misc"])
def test_shapes_that_a_graph_has_find_what_the_suite_expects(part: str, tmp_path: Path) -> None:
    found = of_files(part)
    assert len(found) >= 4
    for case in found:
        assert isinstance(case.expected, Counter)
        rows = [(focus.strip("<>"), *rest) for (focus, *rest), count in case.expected.items() for _ in range(count)]
        assert found_in(case, tmp_path) == counted(rows), case.name


def test_a_person_of_the_suite_is_suggested_what_its_shape_asks_for(tmp_path: Path) -> None:
    with Plugin.open(config()) as plugin:
        import_rdf(plugin.graph, with_base(PERSONS, tmp_path))
        rows = plugin.operate(suggest_predicates, subject=f"{EX}Alice")["predicates"]
        of_shapes = {each["predicate"].removeprefix(EX): each["asks"] for each in rows if each["source"] == "shape"}
        assert of_shapes.keys() == {"ssn", "worksFor"}
        assert of_shapes["ssn"][0].startswith("0 or 1, xsd:string, ")
        ssn, employer = (
            plugin.operate(suggest_values, subject=f"{EX}Alice", predicate=f"{EX}{name}")["kinds"][0]
            for name in ("ssn", "worksFor")
        )
        assert (ssn["kind"].rpartition("#")[2], ssn["source"]) == ("string", "shape")
        assert (employer["kind"], employer["node"]) == (f"{EX}Company", True)
        given = {"subject": f"{EX}Bob", "predicate": f"{EX}ssn"}
        found = plugin.operate(check_change, **given, object="987-65-432B")
        effects = sorted((each["effect"], each["part"], each["rule"]) for each in found["findings"])
        assert ("brings", "object", "PatternConstraintComponent") in effects
        assert ("keeps", "predicate", "MaxCountConstraintComponent") in effects  # there are two
