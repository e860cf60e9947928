"""Every rule has its own message with the field."""

import pytest

from cortex_skills.manifest import ManifestError, parse_manifest


def problems(text, folder_name=None, companion=None):
    """The problems by field, each as `message (hint)`."""
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text, folder_name, companion)
    assert caught.value.code == "manifest_invalid"
    return {problem.field: f"{problem.message} ({problem.hint})" for problem in caught.value.errors}


def only(text, *arguments):
    """The one problem of a text: its field and message."""
    ((field, said),) = problems(text, *arguments).items()
    return field, said


def plain(line):
    return f"---\nname: a\ndescription: b\n{line}\n---\n"


def test_all_problems_are_reported_at_once_each_with_its_line():
    text = "---\nname: A\ntype: semantc\nsemantic:\n  version: x\n  maxQueries: 0\n---\n"
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text, "a")
    found = {(problem.field, problem.line) for problem in caught.value.errors}
    assert found == {
        ("description", 2),
        ("name", 2),
        ("type", 3),
        ("semantic.version", 5),
        ("semantic.maxQueries", 6),
    }
    assert all(field in str(caught.value) for field, _ in found)
    assert caught.value.details["errors"] == [problem.to_json() for problem in caught.value.errors]


@pytest.mark.parametrize(
    "name", ["A", "-a", "a-", "a--b", "a__b", "_a", "a_", "a b", "Ä", "ä!", "a" * 65, '""', "../a", '"a\\n"']
)
def test_an_invalid_name_is_rejected(name):
    assert "name" in problems(f"---\nname: {name}\ndescription: b\n---\n")


def test_a_name_of_64_characters_is_valid():
    assert parse_manifest(f"---\nname: {'a' * 64}\ndescription: b\n---\n").name == "a" * 64


def test_another_name_than_that_of_the_folder_is_a_warning_without_a_semantic_block():
    manifest = parse_manifest(plain(""), "b")
    assert manifest.name == "a"
    said = "'a' is not the name of the folder, 'b' (give both the same name"
    assert [str(warning) for warning in manifest.warnings] == [f"SKILL.md:2:name: {said}, which other readers expect)"]


def test_the_name_of_a_semantic_skill_is_the_name_of_the_folder(semantic):
    for text, companion in ((semantic("version: 1"), None), (plain("metadata: {semantic: s.yaml}"), "version: 1")):
        field, said = only(text, "b", companion)
        assert field == "name"
        assert said == "'a' is not the name of the folder, 'b' (give both the same name)"


def test_type_is_a_key_for_other_hosts_without_a_semantic_block():
    for value in ("technique", "[a]", "", "{a: b}"):
        manifest = parse_manifest(plain(f"type: {value}"))
        assert [warning.field for warning in manifest.warnings] == ["type"]
        assert manifest.semantic is None
    assert only(plain("type: semantic"))[0] == "semantic"
    assert only(plain("type: technique\nsemantic: {version: 1}")) == (
        "type",
        "'technique' is not one of semantic (known: semantic)",
    )


def test_lists_and_mappings_where_text_is_expected_are_read_as_json():
    manifest = parse_manifest(
        plain("license: {name: MIT}\ncompatibility: [a, 1.0]\nallowed-tools: [Read, {Bash: git}]\nmetadata: {a: [1.0]}")
    )
    assert (manifest.license, manifest.compatibility) == ('{"name": "MIT"}', '["a", "1.0"]')
    assert manifest.allowed_tools_text == 'Read {"Bash": "git"}'
    assert manifest.metadata == {"a": '["1.0"]'}
    fields = [warning.field for warning in manifest.warnings]
    assert fields == ["license", "compatibility", "metadata.a", "allowed-tools[1]"]
    assert parse_manifest(plain("allowed-tools: {a: b}")).allowed_tools_text == '{"a": "b"}'


def test_a_thousand_tools_are_enough():
    many = [f"t{number}" for number in range(1001)]
    for value in (" ".join(many), f"[{', '.join(many)}]"):
        assert only(plain(f"allowed-tools: {value}"))[0] == "allowed-tools"
    assert parse_manifest(plain(f"allowed-tools: {','.join(many[1:])}")).allowed_tools_text


@pytest.mark.parametrize("predicate", ["http://a b", "<http://a^>", "urn:a b"])
@pytest.mark.parametrize("key", ["queries", "assertions"])
def test_a_predicate_is_a_well_formed_iri(semantic, key, predicate):
    access = "read" if key == "queries" else "write"
    field, said = only(semantic(f"permissions: {{graph: [{access}]}}\n{key}: [{{predicate: {predicate!r}}}]"))
    assert field == f"semantic.{key}[0].predicate"
    assert "IRI" in said


@pytest.mark.parametrize("description", ['""', '"  "', '"' + "a" * 1025 + '"', '"a\\0b"', '"\\e[31m"'])
def test_an_invalid_description_is_rejected(description):
    assert only(f"---\nname: a\ndescription: {description}\n---\n")[0] == "description"


def test_a_description_of_1024_characters_is_valid():
    description = "ä" * 1024
    assert parse_manifest(f"---\nname: a\ndescription: {description}\n---\n").description == description


def test_an_unknown_key_of_the_frontmatter_is_a_warning_with_its_line():
    text = plain("licence: MIT\nuser-invocable: true\nargument-hint: [a]\nmodel: {}\nzzz:")
    assert [str(warning) for warning in parse_manifest(text).warnings] == [
        "SKILL.md:4:licence: is not a field of a skill and is ignored (did you mean license?)",
        *(
            f"SKILL.md:{line}:{key}: is not a field of a skill and is ignored "
            "(keys for agent hosts have no effect here)"
            for line, key in enumerate(("user-invocable", "argument-hint", "model", "zzz"), 5)
        ),
    ]


def test_an_unknown_key_of_the_semantic_block_gets_a_suggestion_or_the_list_of_keys(semantic):
    assert only(semantic("maxQuery: 5")) == ("semantic.maxQuery", "unknown key (did you mean maxQueries?)")
    assert "known: version, permissions" in only(semantic("zzz: 1"))[1]


def test_a_misspelt_semantic_block_is_not_ignored(semantic):
    field, said = only(semantic("version: 1").replace("semantic:", "semantics:"))
    assert (field, said.partition(" (")[0]) == ("semantic", "is missing, though `type` is given")


@pytest.mark.parametrize(
    ("written", "version"), [("1", "1.0.0"), ("1.10", "1.10.0"), ('"2.1"', "2.1.0"), ("0", "0.0.0"), ("1.2.3", "1.2.3")]
)
def test_a_short_version_is_completed_with_a_warning(semantic, written, version):
    manifest = parse_manifest(semantic(f"skillVersion: {written}"))
    assert manifest.semantic.skill_version == version
    said = [f"{warning.field}: {warning.message} ({warning.hint})" for warning in manifest.warnings]
    is_whole = written == version
    assert said == ([] if is_whole else [f'semantic.skillVersion: is read as {version} (write "{version}")'])


def test_a_companion_completes_a_short_version_too():
    manifest = parse_manifest(plain("metadata: {semantic: semantic.yaml}"), companion="skillVersion: 1\n")
    assert (manifest.semantic.version, manifest.semantic.skill_version) == (1, "1.0.0")
    assert [(warning.file, warning.line) for warning in manifest.warnings] == [("semantic.yaml", 1)]


def test_type_needs_a_semantic_block_and_a_block_needs_the_type():
    assert only(plain("type: semantic"))[0] == "semantic"
    assert only(plain("semantic: {version: 1}"))[0] == "type"


def test_unknown_permissions_and_scopes_get_a_suggestion(semantic):
    found = problems(
        semantic(
            """
            version: 1
            permissions: {graph: [read, raed], grahp: [read]}
            queries: [{predicate: p, scope: Global}]
            """
        )
    )
    assert found == {
        "semantic.permissions.graph[1]": "'raed' is not one of read, write (did you mean read?)",
        "semantic.permissions.grahp": "unknown key (did you mean graph?)",
        "semantic.queries[0].scope": "'Global' is not one of agent, namespace, global (did you mean global?)",
    }


def test_queries_need_the_permission_to_read(semantic):
    field, said = only(semantic("version: 1\nqueries: [{predicate: p}]"))
    assert (field, said) == (
        "semantic.queries",
        "needs the permission graph:read (add read to semantic.permissions.graph)",
    )


def test_assertions_need_the_permission_to_write(semantic):
    field, said = only(semantic("version: 1\nassertions: [{predicate: p}]\npermissions: {graph: [read]}"))
    assert field == "semantic.assertions"
    assert "graph:write" in said


def test_a_required_proof_needs_the_permission_to_request_one(semantic):
    block = """
        version: 1
        permissions: {graph: [write], proofs: [verify]}
        assertions: [{predicate: p}, {predicate: q, requireProof: true}]
        """
    field, said = only(semantic(block))
    assert field == "semantic.assertions[1].requireProof"
    assert "proofs:request" in said


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("version: 0", "semantic.version"),
        ("version: true", "semantic.version"),
        ('version: "1"', "semantic.version"),
        ("version: 1.5", "semantic.version"),
        ("version:", "semantic.version"),
        ("maxQueries: 0", "semantic.maxQueries"),
        ("maxQueries: -1", "semantic.maxQueries"),
        ("permissions: [read]", "semantic.permissions"),
        ("permissions: {graph: read}", "semantic.permissions.graph"),
        ("allowedTools: skill_assert", "semantic.allowedTools"),
        ("allowedTools: ['*', x]", "semantic.allowedTools[0]"),
        ("allowedTools: ['a b']", "semantic.allowedTools[0]"),
        ("permissions: {graph: [write]}\nassertions: [p]", "semantic.assertions[0]"),
        ("assertions: {}", "semantic.assertions"),
        ("dependencies: [{slug: b}]", "semantic.dependencies[0].version"),
        ("dependencies: [{slug: B, version: '1'}]", "semantic.dependencies[0].slug"),
        ("dependencies: [{slug: a, version: '1'}]", "semantic.dependencies[0].slug"),
        ("dependencies: [{slug: b, version: '1'}, {slug: b, version: '1'}]", "semantic.dependencies[1].slug"),
        ("skillVersion: '1.0.'", "semantic.skillVersion"),
        ("skillVersion: '01'", "semantic.skillVersion"),
        ("skillVersion: 1.0-beta", "semantic.skillVersion"),
        ("skillVersion: 1e3", "semantic.skillVersion"),
        ("skillVersion: true", "semantic.skillVersion"),
        ("skillVersion: [1]", "semantic.skillVersion"),
        ("skillVersion:", "semantic.skillVersion"),
        ("skillVersion: 'v1.0.0'", "semantic.skillVersion"),
        ("skillVersion: '1.0.0-01'", "semantic.skillVersion"),
        ('skillVersion: "1.0.0\\n"', "semantic.skillVersion"),
        ("skillVersion: '1.0.٠'", "semantic.skillVersion"),
    ],
)
def test_a_wrong_value_names_its_field(semantic, line, field):
    version = "" if line.startswith("version") else "version: 1\n"
    assert only(semantic(version + line))[0] == field


@pytest.mark.parametrize("predicate", ['""', '"a\\0"', '"a\\tb"', '"a\\x9f"', '"' + "p" * 257 + '"', "1", "[p]"])
def test_an_invalid_predicate_is_rejected(semantic, predicate):
    block = f"version: 1\npermissions: {{graph: [read]}}\nqueries: [{{predicate: {predicate}}}]"
    assert only(semantic(block))[0] == "semantic.queries[0].predicate"


@pytest.mark.parametrize("predicate", ["a b", "<x>", "schema:name", "‏עברית", "../up", "a'b", "😀"])
def test_a_predicate_may_be_any_printable_name(semantic, predicate):
    quoted = predicate.replace("'", "''")
    block = f"version: 1\npermissions: {{graph: [read]}}\nqueries: [{{predicate: '{quoted}'}}]"
    assert parse_manifest(semantic(block)).semantic.queries[0].predicate == predicate


def test_a_predicate_is_declared_once(semantic):
    block = "version: 1\npermissions: {graph: [write]}\nassertions: [{predicate: p}, {predicate: p}]"
    assert only(semantic(block))[0] == "semantic.assertions[1].predicate"


@pytest.mark.parametrize(
    "range_", ["^1 ||| 2", "latest", "1 - 2 - 3", "a - b", "~*", " ", "^1.0.0-x..y", "1" * 257, "١"]
)
def test_a_dependency_needs_an_npm_range(semantic, range_):
    field, said = only(semantic(f"version: 1\ndependencies: [{{slug: b, version: '{range_}'}}]"))
    assert field == "semantic.dependencies[0].version"
    assert "npm" in said


@pytest.mark.parametrize(
    ("value", "written"), [("1.0", "1.0"), ("2", "2"), ("true", "true"), (".5", ".5"), ("-0", "-0")]
)
def test_a_number_in_a_text_field_gets_a_hint_to_quote_it(semantic, value, written):
    said = only(semantic(f"queries: [{{predicate: {value}}}]\npermissions: {{graph: [read]}}"))[1]
    assert said.startswith("must be text")
    assert f'put it in quotes: "{written}"' in said


@pytest.mark.parametrize(
    "word", ["no", "Yes", "on", "OFF", "010", "0o17", "0x1f", "1:30", "2024-01-01", "1e3", "1_000", ".inf", ".nan", "="]
)
@pytest.mark.parametrize("field", ["semantic.queries[0].predicate", "semantic.maxQueries"])
def test_a_word_that_yaml_versions_read_differently_is_an_error(semantic, word, field):
    text = {
        "semantic.queries[0].predicate": semantic(f"permissions: {{graph: [read]}}\nqueries: [{{predicate: {word}}}]"),
        "semantic.maxQueries": semantic(f"version: 1\nmaxQueries: {word}"),
    }[field]
    found, said = only(text)
    assert found == field
    assert "put it in quotes" in said


@pytest.mark.parametrize("word", ["no", "010", "1:30", "2024-01-01", "1.0", "true", "~", "=", "1e3"])
def test_an_unquoted_word_in_a_text_field_is_text(word):
    manifest = parse_manifest(plain(f"license: {word}\nmetadata:\n  v: {word}"))
    assert (manifest.license, manifest.metadata["v"]) == (word, word)


def test_allowed_tools_may_be_a_list():
    text = plain("allowed-tools:\n  - Read\n  - Bash(git:*)")
    assert parse_manifest(text).allowed_tools_text == "Read Bash(git:*)"


def test_a_companion_together_with_a_block_is_rejected(semantic):
    text = semantic("version: 1").replace("name: a", "name: a\nmetadata: {semantic: semantic.yaml}")
    assert only(text, None, "version: 1")[0] == "semantic"


def test_a_companion_that_is_named_must_be_given():
    assert only(plain("metadata: {semantic: semantic.yaml}"))[0] == "semantic"


def test_a_problem_in_a_companion_names_its_file_and_line():
    text = plain("metadata: {semantic: semantic.yaml}")
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text, companion="version: 1\nmaxQueries: 0\n")
    (problem,) = caught.value.errors
    assert (problem.field, problem.file, problem.line) == ("semantic.maxQueries", "semantic.yaml", 2)


@pytest.mark.parametrize("name", ["../semantic.yaml", "/etc/passwd", "a/b.yaml", "semantic.txt", ".yaml", "a\\b.yaml"])
def test_a_companion_is_a_plain_file_name(name):
    found = problems(plain(f"metadata: {{semantic: '{name}'}}"), None, "version: 1")
    assert "metadata.semantic" in found


MEMORY_TEXT = "urn:cortex-graph:ontology#memoryText"


@pytest.mark.parametrize("predicate", [MEMORY_TEXT, f"<{MEMORY_TEXT}>", "urn:cortex-graph:ontology#memoryKey"])
def test_queries_of_memories_need_the_permission_to_inspect_them(semantic, predicate):
    queries = f"queries: [{{predicate: '{predicate}', scope: namespace}}]"
    for granted in ("", ", memory: [recall, remember]"):
        field, said = only(semantic(f"version: 1\npermissions: {{graph: [read]{granted}}}\n{queries}"))
        assert field == "semantic.queries[0].predicate"
        assert said == "needs the permission memory:inspect (add inspect to semantic.permissions.memory)"
    manifest = parse_manifest(semantic(f"version: 1\npermissions: {{graph: [read], memory: [inspect]}}\n{queries}"))
    assert manifest.has_permission("memory:inspect")


@pytest.mark.parametrize("predicate", [MEMORY_TEXT, f"<{MEMORY_TEXT}>"])
def test_no_skill_asserts_memories(semantic, predicate):
    granted = "permissions: {graph: [read, write], memory: [recall, remember, inspect]}"
    field, said = only(semantic(f"version: 1\n{granted}\nassertions: [{{predicate: '{predicate}'}}]"))
    assert field == "semantic.assertions[0].predicate"
    assert "is not asserted by any skill (call memory.remember" in said


def test_there_is_no_permission_to_forge_memories(semantic):
    assert "semantic.permissions.memory[0]" in problems(semantic("version: 1\npermissions: {memory: [forge]}"))
