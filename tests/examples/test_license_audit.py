from collections.abc import Callable
from typing import Any

import package_graph
import pytest
from distributions import Package

from .conftest import enrichment

LICENSES = {"predicate": "hasLicense", "scope": "namespace", "limit": 1000}

Audit = Callable[..., Any]


@pytest.fixture
def audit(plugin, examples) -> Audit:
    """A function that writes packages to the graph and returns the enrichment."""
    plugin.load(examples / "supply-chain")

    def audit(*packages: Package) -> Any:
        package_graph.write(plugin.graph, packages)
        return enrichment(plugin.call("skill_graph_query", LICENSES))

    return audit


def package(name: str, license_: str | None = "MIT", *needs: str, statement: str | None = None) -> Package:
    return Package(name, "1.0", license_, statement, needs)


def claims(report: Any) -> list[tuple[str, str, str]]:
    return [tuple(finding["assert"].values()) for finding in report["findings"]]


@pytest.mark.parametrize(
    ("expression", "predicate", "category"),
    [
        ("MPL-2.0", "isCopyleft", "Copyleft Limited"),
        ("GPL-3.0-only", "isCopyleft", "Copyleft"),
        ("MIT AND GPL-3.0-only", "isCopyleft", "Copyleft"),
        ("GPL-3.0-only AND MIT", "isCopyleft", "Copyleft"),
        ("GPL-3.0-only OR MPL-2.0", "isCopyleft", "Copyleft"),
        ("MIT AND (GPL-3.0-only OR MPL-2.0)", "isCopyleft", "Copyleft"),
        ("(MIT OR GPL-3.0-only) AND MPL-2.0", "isCopyleft", "Copyleft Limited"),
        ("MIT OR GPL-3.0-only AND MPL-2.0", None, None),
        ("MIT OR GPL-3.0-only", None, None),
        ("GPL-3.0-only OR MIT", None, None),
        ("GPL-3.0-only AND ISC OR MIT", None, None),
        ("GPL-2.0-only WITH Classpath-exception-2.0", "isCopyleft", "Copyleft Limited"),
        ("Apache-2.0 WITH LLVM-exception AND MIT", None, None),
        ("Unlicense", None, None),
        ("LicenseRef-scancode-proprietary-license", "needsReview", "Commercial"),
        ("LicenseRef-scancode-proprietary-license AND GPL-3.0-only", "needsReview", "Commercial"),
        ("LicenseRef-scancode-proprietary-license OR GPL-3.0-only", "isCopyleft", "Copyleft"),
    ],
)
def test_or_needs_one_licence_and_and_needs_both(audit, expression, predicate, category):
    expected = [] if predicate is None else [("mayros:package:a", predicate, category)]

    assert claims(audit(package("a", expression))) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "(",
        ")",
        "()",
        "OR",
        "MIT OR",
        "MIT WITH",
        "((MIT",
        "MIT)",
        "MIT ISC",
        "MIT (ISC)",
        "(MIT ISC",
        "(MIT OR (MIT) OR MIT",
        "constructor",
        "(" * 200,
        "(" * 9999,
    ],
)
def test_an_invalid_expression_needs_review(audit, plugin, expression):
    plugin.graph.create_triple({"subject": "license:MIT", "predicate": "licenseCategory", "object": "Permissive"})
    plugin.graph.create_triple({"subject": "package:a", "predicate": "hasVersion", "object": "1"})
    plugin.graph.create_triple({"subject": "package:a", "predicate": "hasLicense", "object": expression})

    report = enrichment(plugin.call("skill_graph_query", LICENSES))
    assert report["packages"] == 1
    assert report["unclear"] == 1
    assert report["findings"][0]["assert"]["predicate"] == "needsReview"


def test_packages_without_a_licence_need_review(audit):
    report = audit(package("silent", None), package("vague", None, statement="BSD"), package("fine"))

    assert sorted(claims(report)) == [
        ("mayros:package:silent", "needsReview", "no licence stated"),
        ("mayros:package:vague", "needsReview", "stated as: BSD"),
    ]
    assert {key: report[key] for key in ("packages", "permissive", "copyleft", "unclear", "noLicense")} == {
        "packages": 3,
        "permissive": 1,
        "copyleft": 0,
        "unclear": 2,
        "noLicense": 1,
    }


def test_a_finding_lists_its_dependents(audit):
    users = [package(f"user-{n}", "MIT", "viral", "fine") for n in range(6)]
    [finding] = audit(package("viral", "GPL-3.0-only"), package("fine"), *users)["findings"]

    assert finding["neededByTotal"] == 6
    assert len(finding["neededBy"]) == 4
    assert set(finding["neededBy"]) < {f"mayros:package:user-{n}" for n in range(6)}


def test_copyleft_comes_first_in_the_results_and_in_the_findings(audit, plugin):
    report = audit(
        package("a"), package("b", None), package("c", "MPL-2.0"), package("d"), package("e", "AGPL-3.0-only")
    )
    result = plugin.call("skill_graph_query", LICENSES)

    assert {triple["subject"] for triple in result.details["matches"][:2]} == {"mayros:package:c", "mayros:package:e"}
    assert len(result.details["matches"]) == result.details["total"] == 4
    assert [predicate for _, predicate, _ in claims(report)] == ["isCopyleft", "isCopyleft", "needsReview"]


def test_the_whole_namespace_is_audited_for_any_page(audit, plugin):
    audit(*(package(f"p{n}", "MPL-2.0") for n in range(5)))

    report = enrichment(plugin.call("skill_graph_query", {**LICENSES, "limit": 1}))
    assert report["packages"] == report["copyleft"] == 5


def test_with_thousands_of_packages_only_complete_findings_are_returned(audit):
    report = audit(
        *(package(f"p{n}", None if n % 2 else "MPL-2.0", statement="<" * 80 if n % 2 else None) for n in range(2500))
    )

    assert report["packages"] == 2500
    assert report["copyleft"] == report["unclear"] == 1250
    assert 10 <= len(report["findings"]) <= 20
    assert all(finding.keys() == {"assert", "neededBy", "neededByTotal"} for finding in report["findings"])


def test_each_finding_can_be_asserted_once(audit, plugin):
    for finding in audit(package("a", "MPL-2.0"), package("b", None))["findings"]:
        first = plugin.call("skill_assert", finding["assert"])
        again = plugin.call("skill_assert", finding["assert"])
        assert (first.is_error, first.details["created"], again.details["created"]) == (False, True, False)
        assert again.details["tripleHash"] == first.details["tripleHash"]

    [triple] = plugin.graph.list_triples({"predicate": "isCopyleft"})["triples"]
    assert (triple["subject"], triple["object"]) == ("mayros:package:a", "Copyleft Limited")
    assert plugin.status()["skills"][0]["assertionsUsed"] == 2


def test_undeclared_predicates_cannot_be_asserted(audit, plugin):
    refused = plugin.call("skill_assert", {"subject": "package:a", "predicate": "hasLicense", "object": "MIT"})

    assert refused.code == "undeclared_predicate"


def test_other_predicates_and_an_empty_graph_give_no_enrichment(audit, plugin):
    assert audit()["packages"] == 0
    assert enrichment(plugin.call("skill_graph_query", {"predicate": "dependsOn", "scope": "namespace"})) is None


def test_markup_in_metadata_is_escaped(audit):
    text = '</b>\n<i>MIT or "BSD"</i>'
    report = audit(package("evil", None, statement=text))

    assert claims(report) == [("mayros:package:evil", "needsReview", f"stated as: {text}")]
