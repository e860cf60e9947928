"""`graph import`, `graph export` and `graph namespaces`."""

import pytest

TURTLE = b'<urn:a> <urn:p> "b", 5 .\n'


@pytest.fixture
def turtle(tmp_path):
    path = tmp_path / "facts.ttl"
    path.write_bytes(TURTLE)
    return path


def test_an_exported_file_equals_the_imported_one(run, turtle, tmp_path):
    answer = run("graph", "import", turtle)
    assert (answer.exit_code, answer.stdout) == (0, f"2 statements of {turtle} are in mayros\n")
    out = tmp_path / "out.nt"
    answer = run("graph", "export", out)
    assert (answer.exit_code, answer.stdout) == (0, f"2 statements of mayros are in {out}\n")
    integer = '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert sorted(out.read_text().splitlines()) == [f"<urn:a> <urn:p> {integer} .", '<urn:a> <urn:p> "b" .']


def test_import_and_export_report_as_json(run, turtle, tmp_path):
    report = {"namespace": "mayros", "statements": 2}
    assert run("graph", "import", turtle, "--json").json == {"file": str(turtle), **report}
    out = tmp_path / "out.trig"
    assert run("graph", "export", out, "--json").json == {"file": str(out), **report}


def test_import_and_export_use_standard_input_and_output(run):
    assert run("graph", "import", "-", "--format", "turtle", stdin=TURTLE).exit_code == 0
    answer = run("graph", "export", "--format", "n-triples")
    assert '<urn:a> <urn:p> "b" .' in answer.stdout.splitlines()
    exported = run("graph", "export").stdout
    assert exported.startswith("@prefix mayros: <urn:cortex:mayros:> .\n")
    assert run("graph", "export", "-").stdout == exported


def test_a_file_that_cannot_be_written_gets_a_hint(run, tmp_path):
    answer = run("graph", "export", tmp_path / "nowhere" / "out.ttl")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert answer.stderr.startswith("error[invalid_arguments]: ")
    assert "cannot be written: No such file or directory\nhint: name a file in an existing folder" in answer.stderr


def test_an_empty_and_a_new_store_are_reported(run, tmp_path):
    assert run("graph", "namespaces").stderr == "the store is empty\n"
    assert run("graph", "export").stderr == "mayros is empty; `graph namespaces` lists those that are not\n"
    new = tmp_path / "warehouse"
    written = run("graph", "import", "-", "--format", "turtle", "--store", new, stdin=TURTLE)
    assert (written.exit_code, written.stderr.splitlines()[0]) == (0, f"created a new store in {new}")
    assert run("graph", "namespaces", "--store", new).stderr == ""


def test_standard_input_without_a_format_is_a_usage_error(run):
    answer = run("graph", "import", "-", stdin=TURTLE)
    assert answer.exit_code == 2
    assert "give --format" in answer.stderr


def test_export_to_standard_output_excludes_json(run, store):
    answer = run("graph", "export", "--json")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "give a FILE" in answer.error["message"]
    assert not list(store.iterdir())


def test_a_syntax_error_imports_nothing_and_names_the_line(run, tmp_path):
    path = tmp_path / "broken.nt"
    path.write_text("<urn:a> <urn:p> <urn:b> .\nbroken\n")
    answer = run("graph", "import", path, "--json")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert (answer.error["code"], answer.error["details"]["line"]) == ("invalid_arguments", 2)
    assert run("graph", "namespaces").stdout == ""


def test_an_unknown_extension_and_a_missing_file_are_usage_errors(run, tmp_path):
    path = tmp_path / "facts.xyz"
    answer = run("graph", "import", path)
    assert answer.exit_code == 2
    path.write_bytes(TURTLE)
    answer = run("graph", "import", path)
    assert answer.exit_code == 1
    assert "cannot be derived from" in answer.stderr
    assert "hint: one of turtle, n-triples" in answer.stderr
    assert run("graph", "import", path, "--format", "turtle").exit_code == 0


def test_namespaces_are_listed_and_isolated(run, turtle):
    run("graph", "import", turtle)
    run("graph", "--namespace", "beta", "import", turtle)
    assert run("graph", "namespaces").stdout == "beta\nmayros\n"
    assert run("graph", "namespaces", "--json").json == ["beta", "mayros"]
    assert run("graph", "export", "--namespace", "gamma", "--format", "n-triples").stdout == ""


def test_the_help_lists_the_formats_of_the_graph():
    from cortex_graph import FORMATS
    from cortex_skills.features.graph.cli import export

    (choice,) = (parameter.type.choices for parameter in export.params if parameter.name == "form")
    assert list(choice) == list(FORMATS)


def test_reads_as_of_a_moment_are_those_of_then(run, turtle):
    assert run("graph", "import", turtle).exit_code == 0
    insert = "INSERT DATA { <urn:a> <urn:p> 'late' }"
    assert run("graph", "sparql", "--update", insert, "--agent", "a1").exit_code == 0
    for moment, count in (("2020-01-01", 2), ("2120-01-01T00:00:00Z", 3)):
        exported = run("graph", "export", "--format", "n-triples", "--as-of", moment).stdout
        assert len(exported.splitlines()) == count
        rows = run("graph", "sparql", "SELECT ?o { <urn:a> <urn:p> ?o }", "--as-of", moment, "--json").json
        assert len(rows["results"]["bindings"]) == count
    dated = run("graph", "export", "--format", "n-triples", "--as-of", "2120-01-01", "--undated", "exclude").stdout
    assert dated.splitlines() == ['<urn:a> <urn:p> "late" .']


def test_a_moment_that_is_none_and_an_update_are_refused(run, turtle):
    run("graph", "import", turtle)
    answer = run("graph", "export", "--as-of", "tomorrow")
    assert answer.exit_code == 1
    assert answer.stderr.startswith("error[invalid_arguments]: `asOf` is tomorrow, which is not a moment\nhint: ")
    for words, field in ((("tomorrow",), "since"), (("24h", "--until", "tomorrow"), "until")):
        assert f"`{field}` is tomorrow, which is not a moment" in run("graph", "diff", *words).stderr
    update = run("graph", "sparql", "--update", "CLEAR ALL", "--as-of", "2026-01-01")
    assert (update.exit_code, "nothing was written" in update.stderr) == (1, True)
    assert len(run("graph", "export", "--format", "n-triples").stdout.splitlines()) == 2


def test_what_of_a_file_has_no_meaning_is_named(run, tmp_path):
    path = tmp_path / "a.jsonld"
    path.write_text('{"@id": "urn:a", "urn:p": 1, "name": "x"}')
    done = run("graph", "import", path)
    assert "1 statement of" in done.stdout
    assert done.stderr == "omitted: members without a meaning in their context: name (1)\n"
    assert run("graph", "import", path, "--json").json["ignoredMembers"] == {"name": 1}
    path.write_text('["x"]')
    assert run("graph", "import", path).stderr == "the file has no statements\n"


def test_a_prefix_of_a_file_that_has_another_meaning_here_is_named(run, tmp_path):
    path = tmp_path / "a.ttl"
    path.write_text("@prefix schema: <http://schema.org/> . @prefix v: <urn:v:> . v:a schema:name 1 .")
    assert run("graph", "import", path).stderr == (
        "schema: of the file is <https://schema.org/> here, so names that it begins are written in full; another "
        "prefix in the file makes them short\n"
    )
    assert run("graph", "import", path, "--json").json["otherPrefixes"] == {"schema": "https://schema.org/"}
    path.write_text("@prefix schema: <http://schema.org/> . @prefix s: <http://schema.org/> . s:a schema:name 1 .")
    assert run("graph", "import", path).stderr == ""  # names are written with `s:` then
    assert run("graph", "show", "s:a", "s:name").stdout.startswith("s:a s:name 1\n")
