import package_graph
from distributions import Package

APP = Package("app", "1.0", "MIT OR GPL-3.0-only", None, ("lib",))
LIB = Package("lib", "2.0", None, "BSD", ())


def triples(graph):
    return {(t["subject"], t["predicate"], str(t["object"])) for t in graph.list_triples()["triples"]}


def test_packages_become_triples(plugin):
    package_graph.write(plugin.graph, [APP, LIB])

    assert triples(plugin.graph) == {
        ("mayros:package:app", "mayros:hasVersion", "1.0"),
        ("mayros:package:app", "mayros:hasLicense", "MIT OR GPL-3.0-only"),
        ("mayros:package:app", "mayros:dependsOn", "{'node': 'mayros:package:lib'}"),
        ("mayros:package:lib", "mayros:hasVersion", "2.0"),
        ("mayros:package:lib", "mayros:statesLicense", "BSD"),
        ("mayros:license:MIT", "mayros:licenseCategory", "Permissive"),
        ("mayros:license:GPL-3.0-only", "mayros:licenseCategory", "Copyleft"),
    }


def test_writing_twice_changes_nothing(plugin):
    assert package_graph.write(plugin.graph, [APP, LIB]) == package_graph.Written(new=7, kept=0, removed=0)
    assert package_graph.write(plugin.graph, [APP, LIB]) == package_graph.Written(new=0, kept=7, removed=0)


def test_outdated_facts_are_removed_and_other_triples_stay(plugin):
    package_graph.write(plugin.graph, [APP, LIB])
    plugin.graph.create_triple({"subject": "package:app", "predicate": "needsReview", "object": "by me"})

    newer = Package("app", "1.1", "MIT", None, ())
    assert package_graph.write(plugin.graph, [newer]) == package_graph.Written(new=2, kept=1, removed=6)
    assert triples(plugin.graph) == {
        ("mayros:package:app", "mayros:hasVersion", "1.1"),
        ("mayros:package:app", "mayros:hasLicense", "MIT"),
        ("mayros:license:MIT", "mayros:licenseCategory", "Permissive"),
        ("mayros:package:app", "mayros:needsReview", "by me"),
    }


def test_no_packages_leave_no_facts(plugin):
    package_graph.write(plugin.graph, [APP])

    assert package_graph.write(plugin.graph, []).removed == 5
    assert triples(plugin.graph) == set()
