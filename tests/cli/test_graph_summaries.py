"""`graph stats`, `graph recent`, `graph describe`, and ids by their first digits."""

import io
from datetime import UTC, datetime

import pytest
from rich.console import Console
from rich.progress import Progress

from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_skills.doors.cli.output import Output

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A store with three assertions, one of them withdrawn, and an imported triple; and the ids of its triples."""
    folder = tmp_path_factory.mktemp("overview") / "store"
    store = open_store(folder)
    graph = NamespacedGraph(store, "mayros")
    ids = []
    for hour, (subject, predicate, object_) in enumerate(
        [("nails", LABEL, "Nails \x1b[31m"), ("nails", "in", {"node": "box"}), ("box", "in", {"node": "hall"})]
    ):
        by = Provenance("shop", "1.0.0", f"a{hour}", datetime(2026, 1, 1, hour, tzinfo=UTC))
        ids.append(graph.create_triple({"subject": subject, "predicate": predicate, "object": object_}, by)["id"])
    ids.append(graph.create_triple({"subject": "hall", "predicate": "size", "object": 3})["id"])
    graph.withdraw(ids[2], Provenance(agent="a9"))
    store.close()
    return folder, ids


@pytest.fixture
def graph(run, filled):
    """A function that runs a `graph` command on the store."""
    return lambda *arguments: run("graph", *arguments, "--store", filled[0])


def test_stats_count_triples_predicates_and_asserters(graph):
    assert graph("stats").stdout.splitlines() == [
        "namespace   mayros, 3 triples",
        "resources   2",
        "assertions  2, and 1 withdrawn; 1 triples without a record",
        "proofs      0",
        "predicates  3",
        "predicate\ttriples",
        "rdfs:label\t1",
        "mayros:in\t1",
        "mayros:size\t1",
        "asserted by\tassertions\twithdrawn",
        "mayros:skill:shop@1.0.0\t2\t1",
        "mayros:agent:a0\t1\t0",
        "mayros:agent:a1\t1\t0",
        "mayros:agent:a2\t0\t1",
    ]
    document = graph("stats", "--json", "--limit", 1).json
    assert (document["triples"], document["exact"], len(document["predicates"])) == (3, True, 1)


def test_recent_lists_assertions_newest_first_with_who_when_and_proofs(graph, filled):
    _, ids = filled
    head = "time\tagent\tskill\tsubject\tpredicate\tobject\tproofs\tid"
    row = f"2026-01-01T01:00:00Z\ta1\tshop 1.0.0\tmayros:nails\tmayros:in\tmayros:box\tnone\t{ids[1][:12]}"
    last = f'2026-01-01T00:00:00Z\ta0\tshop 1.0.0\tmayros:nails\trdfs:label\t"Nails \\u001b[31m"\tnone\t{ids[0][:12]}'
    assert graph("recent").stdout.splitlines() == [head, row, last]
    gone = graph("recent", "--withdrawn", "--since", "2026-01-01T02:00:00Z").stdout.splitlines()
    assert gone[1].endswith(f"mayros:box\tmayros:in\tmayros:hall\twithdrawn; none\t{ids[2][:12]}")
    assert graph("recent", "--by", "a0").stdout.splitlines() == [head, last]
    assert graph("recent", "--predicate", "rdfs:label").stdout.splitlines() == [head, last]
    assert graph("recent", "--since", "2026-02-01").stderr == "no assertions\n"
    assert graph("recent", "--since", "soon").stderr.startswith("error[invalid_arguments]: `since`")


def test_recent_has_pages(graph, filled):
    first = graph("recent", "--limit", 1, "--json").json
    assert [each["id"] for each in first["assertions"]] == [filled[1][1]]
    second = graph("recent", "--limit", 1, "--json", "--cursor", first["nextCursor"]).json
    assert ([each["id"] for each in second["assertions"]], second["nextCursor"]) == ([filled[1][0]], None)
    assert f"--cursor {first['nextCursor']}" in graph("recent", "--limit", 1).stderr
    assert graph("recent", "--cursor", "x").exit_code == 1


def test_describe_groups_what_is_stated_and_where_the_name_is_used(graph):
    assert graph("describe", "box").stdout.splitlines() == [
        "mayros:box",
        "used by",
        '  mayros:in mayros:nails "Nails \\u001b[31m" [1]',
        "[1] asserted by agent a1, skill shop 1.0.0, 2026-01-01T01:00:00",
    ]
    assert graph("describe", "nails").stdout.splitlines() == [
        'mayros:nails "Nails \\u001b[31m"',
        '  rdfs:label "Nails \\u001b[31m" [1]',
        "  mayros:in mayros:box [2]",
        "[1] asserted by agent a0, skill shop 1.0.0, 2026-01-01T00:00:00",
        "[2] asserted by agent a1, skill shop 1.0.0, 2026-01-01T01:00:00",
    ]
    assert graph("describe", "rdfs:label").stdout.splitlines() == [
        "rdfs:label",
        "as a predicate: 1 triples",
        '  mayros:nails "Nails \\u001b[31m" "Nails \\u001b[31m"',
    ]
    document = graph("describe", "box", "--json").json
    assert (document["incoming"]["count"], document["asPredicate"]["count"]) == (1, 0)


def test_a_name_without_triples_is_an_error(graph):
    unknown = graph("describe", "bax")
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert "error[invalid_arguments]: mayros has no triple with mayros:bax\n" in unknown.stderr


def test_more_triples_than_the_limit_are_counted(run, tmp_path):
    (tmp_path / "many.ttl").write_text("".join(f"<urn:a> <urn:p> {number} ." for number in range(9)))
    run("graph", "import", tmp_path / "many.ttl", "--store", tmp_path / "store")
    shown = run("graph", "describe", "urn:a", "--limit", 2, "--store", tmp_path / "store").stdout
    assert shown.splitlines()[1].endswith(", (7 more)")
    used = run("graph", "describe", "urn:p", "--limit", 2, "--store", tmp_path / "store").stdout
    assert used.splitlines()[1:2] == ["as a predicate: 9 triples"]
    assert len(used.splitlines()) == 4


def test_show_takes_the_first_digits_of_an_id(graph, filled):
    _, ids = filled
    for triple_id in ids:
        assert graph("show", triple_id[:6], "--json").json["id"] == triple_id
    assert graph("show", ids[0][:5]).stderr.startswith("error[invalid_arguments]: `id` is ")
    assert "no triple of mayros has an id that begins with ffffffff" in graph("show", "f" * 8).stderr


def test_a_short_id_is_one_of_today_for_a_view_of_the_past(graph, filled):
    past = graph("show", filled[1][2][:6], "--as-of", "2026-01-02", "--json").json
    assert (past["id"], past["object"]) == (filled[1][2], {"node": "mayros:hall"})


def test_a_misspelt_store_is_an_error_that_names_the_near_one_and_makes_nothing(run, filled):
    near = filled[0]
    wrong = near.with_name("stroe")
    copy = ["copy", "--from", wrong, "--to", near.with_name("target")]
    for command in (["check"], ["stats"], ["recent"], ["describe", "box"], copy):
        answer = run("graph", *command, "--store", wrong)
        assert (answer.exit_code, answer.stdout) == (2, "")
        assert answer.stderr == f"error[graph_unavailable]: there is no store in {wrong}\nhint: did you mean {near}?\n"
    assert [path.name for path in near.parent.iterdir()] == ["store"]


def test_a_step_without_a_total_does_not_keep_the_bar_of_the_step_before(monkeypatch):
    output, seen = Output(), []
    monkeypatch.setitem(vars(output), "_margin", Console(file=io.StringIO(), force_terminal=True))
    update = Progress.update

    def watched(bar, *given, **more):
        update(bar, *given, **more)
        seen.extend((task.description, task.total) for task in bar.tasks)

    monkeypatch.setattr(Progress, "update", watched)
    with output.progress("f") as report:
        report("checking", 5, 10)
        report("loading", 0, None)
    assert seen == [("checking (f)", 10), ("loading (f)", None)]


def test_every_command_takes_and_shows_the_prefixes_of_an_imported_file(run, tmp_path):
    shop, store = tmp_path / "shop.ttl", tmp_path / "store"
    shop.write_text('@prefix v: <http://shop.example/> .\nv:p1 v:price 3 ; v:from v:s1 .\nv:s1 v:city "Berlin" .\n')

    def graph(*arguments):
        return run("graph", *arguments, "--store", store)

    assert graph("import", shop).exit_code == 0
    assert "v:price\t1" in graph("stats").stdout.splitlines()
    assert graph("query", "--subject", "v:p1", "--json").json["total"] == 2
    assert "take the first six or more" in graph("show", "0ad3").stderr
    assert graph("show", "v:p1", "v:price").stdout.splitlines()[0] == "v:p1 v:price 3"
    (found,) = graph("query", "--predicate", "v:city", "--json").json["matches"]
    corrected = graph("correct", found["id"], "--predicate", "v:place", "--object", '"Bonn"', "--json").json["new"]
    assert (corrected["predicate"], corrected["object"]) == ("http://shop.example/place", "Bonn")
    (recent,) = graph("recent", "--predicate", "v:place", "--json").json["assertions"]
    assert recent["id"] == corrected["id"]
    assert graph("show", "v:s1", "v:place").stdout.splitlines()[0] == 'v:s1 v:place "Bonn"'


def test_statements_in_an_answer_are_lines_and_not_python(run, tmp_path):
    shop, store = tmp_path / "shop.ttl", tmp_path / "store"
    shop.write_text(
        '@prefix v: <http://shop.example/> .\nv:p1 v:price 3.5 ; v:from v:s1 .\nv:s2 v:city "Berlin"@de .\n'
    )

    def graph(*arguments):
        return run("graph", *arguments, "--store", store).stdout.splitlines()

    graph("import", shop)
    assert graph("query", "--subject", "v:p1")[0] == "id\tsubject\tpredicate\tobject"
    assert {line.partition("\t")[2] for line in graph("query", "--subject", "v:p1")[1:3]} == {
        "v:p1\tv:price\t3.5",
        "v:p1\tv:from\tv:s1",
    }
    assert "totalIsExact: true" in graph("query", "--subject", "v:p1")
    assert graph("query", "--subject", "v:nothing")[0] == "matches: none"
    assert 'v:s2 v:city "Berlin"@de\tv:s1 v:city "Berlin"@de\ttrue' in graph("preview-merge", "v:s2", "v:s1")
    found = run("graph", "query", "--predicate", "v:city", "--json", "--store", store).json["matches"][0]
    assert graph("correct", found["id"], "--object", '"Bonn"') == [
        'old: v:s2 v:city "Berlin"@de',
        'new: v:s2 v:city "Bonn"',
        "created: true",
    ]
