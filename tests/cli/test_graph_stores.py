"""`graph check`, `backup`, `restore`, `copy` and `show`, and provenance in files."""

import json

import pytest

TRIPLE = {"subject": "nails", "predicate": "greets", "object": "world"}


@pytest.fixture
def asserted(run, skill):
    """The hash of a triple that a skill asserted for the agent a1."""
    words = ("call", "skill_assert", "--skills", skill, "--agent", "a1", "--json", json.dumps(TRIPLE))
    return run(*words).json["details"]["tripleHash"]


def test_show_prints_a_triple_and_its_provenance(run, asserted):
    shown = run("graph", "show", asserted)
    assert shown.exit_code == 0
    first, agent, skill, time = shown.stdout.splitlines()
    assert first == 'mayros:nails mayros:greets "world"'
    assert (agent, skill) == ("  agent: a1", "  skill: greeter 1.2.0")
    assert time.startswith("  time: 20")
    document = run("graph", "show", asserted, "--json").json
    assert document["id"] == asserted
    assert document["object"] == "world"
    assert document["provenance"] | {"time": None} == {
        "agent": "a1",
        "skill": "greeter",
        "skillVersion": "1.2.0",
        "time": None,
        "proofs": [],
    }


def test_an_update_withdraws_a_signed_triple_and_show_prints_by_whom(run, asserted):
    assert run("proof", "sign", asserted).exit_code == 0
    assert run("graph", "sparql", "--agent", "host", "--update", "DELETE WHERE { ?s ?p ?o }").exit_code == 0
    shown = run("graph", "show", asserted)
    first, *_, title, agent, skill, time = shown.stdout.splitlines()
    assert (first, title) == ('mayros:nails mayros:greets "world"', "withdrawn:")
    assert (agent, skill) == ("  agent: host", "  skill: unknown")
    assert time.startswith("  time: 20")
    document = run("graph", "show", asserted, "--json").json
    assert (document["provenance"]["agent"], document["withdrawn"]["agent"]) == ("a1", "host")
    assert len(document["provenance"]["proofs"]) == 1


def test_show_reports_a_missing_provenance_record(run, tmp_path):
    (tmp_path / "a.nt").write_text("<urn:a> <urn:p> <urn:b> .\n")
    run("graph", "import", tmp_path / "a.nt")
    from cortex_graph.index.triple_index import hash_line

    triple_id = hash_line("<urn:a> <urn:p> <urn:b> <urn:cortex:mayros>")
    assert "no provenance record" in run("graph", "show", triple_id).stdout
    assert run("graph", "show", triple_id, "--json").json["provenance"] is None


@pytest.mark.parametrize("triple_id", ["0" * 64, "x"])
def test_an_unknown_id_is_an_error(run, triple_id):
    answer = run("graph", "show", triple_id)
    assert answer.exit_code == 1
    assert answer.stderr.startswith("error[invalid_arguments]")


def test_provenance_survives_export_and_import(run, asserted, tmp_path):
    out = tmp_path / "out.trig"
    assert run("graph", "export", out, "--with-provenance").exit_code == 0
    other = ("--store", tmp_path / "other")
    plain = run("graph", "import", out, *other)
    assert "of provenance (--with-provenance imports it) omitted" in plain.stderr
    answer = run("graph", "import", out, "--with-provenance", *other)
    assert answer.stdout == f"1 statement of {out} is in mayros, with 1 record\n"
    assert run("graph", "show", asserted, *other).stdout == run("graph", "show", asserted).stdout
    assert b"provenance" not in run("graph", "export").stdout.encode()
    assert "urn:cortex:mayros/provenance" in run("graph", "export", "--with-provenance").stdout


def test_a_backup_is_restored_into_another_store(run, asserted, tmp_path):
    made = run("graph", "backup", tmp_path / "backup")
    assert made.exit_code == 0
    assert made.stdout.endswith(f" of 3 graphs are in {tmp_path / 'backup'}\n")
    other = ("--store", tmp_path / "other")
    done = run("graph", "restore", tmp_path / "backup", *other, "--json")
    assert done.json["graphs"]["urn:cortex:mayros"]["triples"] == 1
    assert run("graph", "show", asserted, *other).exit_code == 0
    again = run("graph", "restore", tmp_path / "backup", *other)
    assert again.exit_code == 1
    assert "--replace" in again.stderr
    assert run("graph", "restore", tmp_path / "backup", *other, "--replace").exit_code == 0


def test_copy_reports_what_was_copied(run, asserted, store, tmp_path):
    answer = run("graph", "copy", "--from", store, "--to", tmp_path / "other")
    assert "urn:cortex:mayros: 1 triple, with the same canonical hash" in answer.stdout.splitlines()
    again = run("graph", "copy", "--from", store, "--to", tmp_path / "other", "--json").json["copied"]
    assert {graph["graph"]: graph["extra"] for graph in again} == {
        "urn:cortex:mayros": 0,
        "urn:cortex:mayros/provenance": 0,
    }
    assert run("graph", "show", asserted, "--store", tmp_path / "other").exit_code == 0


def test_a_copy_of_a_missing_store_or_onto_itself_is_refused(run, store, tmp_path):
    assert run("graph", "copy", "--from", tmp_path / "no", "--to", store).exit_code == 2
    assert not (tmp_path / "no").exists()
    assert "the same store" in run("graph", "copy", "--from", store, "--to", f"{store}/").stderr


def lose_writes(store, count):
    """Make the store lack its last acknowledged writes."""
    record = json.loads((store / ".changes").read_bytes())
    record |= {"changes": record["changes"] + count, "flushed": record["flushed"] + count}
    (store / ".changes").write_text(json.dumps(record))


def test_a_check_reports_what_is_intact(run, asserted, store):
    answer = run("graph", "check")
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert f" of 3 graphs are intact in {store}, and no acknowledged write is missing\n" in answer.stdout
    document = run("graph", "check", "--json").json
    assert document["graphs"]["urn:cortex:mayros"] == 1
    assert document["writes"] == 1
    assert run("graph", "check", "--store", "memory:").exit_code == 1
    deep = run("doctor", "--deep").stdout
    assert "triples are intact, and no acknowledged write is missing" in deep
    assert "store files" not in run("doctor").stdout


def test_every_command_tells_that_writes_are_missing(run, asserted, store, tmp_path):
    assert run("graph", "backup", tmp_path / "backup").exit_code == 0
    lose_writes(store, 3)
    lost = "3 of 4 acknowledged writes are missing"
    for words in (
        ("graph", "check"),
        ("graph", "backup", tmp_path / "second"),
        ("graph", "export", tmp_path / "out.ttl"),
        ("graph", "sparql", "--update", "INSERT DATA { mayros:a mayros:p 1 }"),
    ):
        answer = run(*words)
        assert answer.exit_code == 2
        assert "error[graph_corrupt]" in answer.stderr
        assert lost in answer.stderr
        assert f"graph restore BACKUP --replace --store {store}" in answer.stderr
    assert "nails" in (tmp_path / "out.ttl").read_text()
    assert not (tmp_path / "second").exists()
    shown = run("graph", "show", asserted)
    assert (shown.exit_code, lost in shown.stderr) == (0, True)
    for words in (("doctor",), ("doctor", "--deep")):
        answer = run(*words)
        assert answer.exit_code == 2
        assert f"fail  store: the store in {store} has lost data: {lost}" in answer.stdout
    copied = run("graph", "copy", "--from", store, "--to", tmp_path / "rest")
    assert copied.exit_code == 0
    assert run("graph", "show", asserted, "--store", tmp_path / "rest").exit_code == 0
    assert run("graph", "restore", tmp_path / "backup", "--replace").exit_code == 0
    assert run("graph", "check").exit_code == 0
    assert lost not in run("doctor").stdout
