"""`graph sparql`."""

from pathlib import Path

import pytest

DATA = b'<urn:cortex:mayros:a> <urn:cortex:mayros:p> "b", 5 . <urn:cortex:mayros:a> <urn:cortex:mayros:q> <urn:x> .\n'


@pytest.fixture
def filled(run, tmp_path):
    """A function that runs `graph sparql` on a store with three triples."""
    path = tmp_path / "facts.ttl"
    path.write_bytes(DATA)
    store = tmp_path / "store"
    assert run("graph", "import", path, "--store", store).exit_code == 0
    return lambda *arguments, **more: run("graph", "sparql", *arguments, "--store", store, **more)


def test_rows_are_printed_as_a_table(filled):
    answer = filled("SELECT ?s ?o { ?s mayros:p ?o } ORDER BY ?o")
    assert (answer.exit_code, answer.stdout) == (0, 's\to\nmayros:a\t5\nmayros:a\t"b"\n')
    assert filled("ASK { ?s ?p 5 }").stdout == "true\n"
    assert filled("SELECT * { ?s ?p 6 }").stderr == "no rows\n"


def test_a_table_tells_nodes_from_strings(filled):
    terms = (
        '"mayros:a" "a \\"b\\"\\n" "x"@de 2.5 true "2026-01-01"^^xsd:date rdf:type <urn:cortex:mayros:a%20b> '
        "<https://schema.org/name> <urn:x>"
    )
    answer = filled(f"SELECT ?t {{ VALUES ?t {{ {terms} }} }}")
    shown = '"mayros:a"|"a \\"b\\"\\n"|"x"@de|2.5|true|"2026-01-01"^^xsd:date|rdf:type|<urn:cortex:mayros:a%20b>|'
    assert answer.stdout.splitlines()[1:] == f"{shown}schema:name|<urn:x>".split("|")


def test_results_are_written_in_the_standard_formats(filled):
    text = "SELECT ?o { ?s mayros:p ?o } ORDER BY ?o"
    assert filled(text, "--format", "csv").stdout == "o\n5\nb\n"  # the runner reads CRLF as LF
    assert filled(text, "--format", "tsv").stdout == '?o\n5\n"b"\n'
    assert filled(text, "--format", "json").json["results"]["bindings"][1] == {"o": {"type": "literal", "value": "b"}}
    assert filled(text, "--json").json["head"] == {"vars": ["o"]}
    built = "CONSTRUCT { ?s <urn:r> ?o } WHERE { ?s mayros:q ?o }"
    assert filled(built).stdout == "<urn:cortex:mayros:a> <urn:r> <urn:x> .\n"
    assert filled(built, "--format", "ntriples").stdout == "<urn:cortex:mayros:a> <urn:r> <urn:x> .\n"
    assert filled(built, "--format", "jsonld").json[0]["urn:r"] == [{"@id": "urn:x"}]


def test_an_unsupported_format_lists_the_supported_ones(filled):
    rows = filled("SELECT * { ?s ?p ?o }", "--format", "turtle")
    assert rows.exit_code == 2
    assert "one of table, json, csv, tsv" in rows.stderr
    assert "one of turtle, ntriples, jsonld" in filled("DESCRIBE mayros:a", "--format", "csv").stderr


def test_an_update_needs_the_update_option(filled):
    text = "INSERT DATA { mayros:b mayros:p 1 }"
    refused = filled(text)
    assert refused.exit_code != 0
    assert "`INSERT` begins an update, not a query" in refused.stderr
    assert "--update" in refused.stderr
    assert filled(text, "--update", "--agent", "a1").stdout == "1 triple written, 0 triples removed\n"
    assert filled("DELETE WHERE { mayros:a ?p ?o }", "--update", "--json").json == {"inserted": 0, "removed": 3}


def test_a_query_is_read_from_a_file_or_standard_input(filled, tmp_path):
    (tmp_path / "q.rq").write_text("SELECT ?o {\n ?s mayros:q ?o }\n")
    assert filled("--file", tmp_path / "q.rq").stdout == "o\n<urn:x>\n"
    assert filled("--file", "-", stdin=b"ASK {}").stdout == "true\n"
    assert filled("-", stdin=b"ASK {}").stdout == "true\n"
    assert filled("-", "--file", tmp_path / "q.rq", stdin=b"ASK {}").exit_code == 2
    assert filled().exit_code == 2
    (tmp_path / "bad.rq").write_bytes(b"\xff")
    assert "is not UTF-8" in filled("--file", tmp_path / "bad.rq").stderr


def test_an_error_has_its_code_and_place(filled):
    assert filled("SELECT * {\n ?s ?p }", "--json").error["details"]["line"] == 2
    assert filled("SELECT * { SERVICE <http://x> {} }", "--json").error["code"] == "permission_denied"
    assert filled("SELECT * FROM <urn:cortex:may> {}", "--json").error["code"] == "namespace_violation"


def test_a_file_with_a_byte_order_mark_is_read(filled, tmp_path):
    path = tmp_path / "q.rq"
    path.write_bytes(b"\xef\xbb\xbfSELECT (1 AS ?x) {}")
    assert filled("--file", path).stdout == "x\n1\n"
    assert filled("--file", "-", stdin=path.read_bytes()).stdout == "x\n1\n"


def test_what_of_a_result_may_be_wrong_is_a_note(filled):
    deep = "?n"
    for _ in range(8):
        deep = f"STRLEN(STR({deep} + 1))"
    answer = filled(f"SELECT ({deep} AS ?x) {{ ?s ?p ?n FILTER(?n > 12345678901234567890123) }}")
    assert "the result may be wrong: operations nest too deeply" in answer.stderr


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a file without an end")
def test_what_has_no_end_is_read_to_a_limit(run, tmp_path):
    """For each file and text that a command reads whole."""
    endless = {
        "has more than 16 MiB": [
            ("graph", "sparql", "--file", "/dev/zero"),
            ("approvals", "edit", "0" * 64, "--inputs", "/dev/zero"),
        ],
        "is larger than 1 MiB": [("status", "--config", "/dev/zero")],
    }
    for problem, commands in endless.items():
        for words in commands:
            answer = run(*words)
            assert (answer.exit_code, problem in answer.stderr) == (2, True), words
    assert "has more than 16 MiB" in run("call", "skill_assert", "-", stdin=b" " * (17 << 20)).stderr
