"""Hostile input raises only `ManifestError`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.manifest import Manifest, ManifestError, parse_manifest

LAUGHS = "\n".join(["a0: &a0 [lol, lol]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)])


def messages(text, companion=None):
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text, companion=companion)
    return [(problem.field, problem.message) for problem in caught.value.errors]


def front(text):
    return f"---\n{text}\n---\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "does not begin with frontmatter"),
        ("# A skill", "does not begin with frontmatter"),
        ("\n---\nname: a\n---\n", "does not begin with frontmatter"),
        ("---\nname: a\n", "has frontmatter without an end"),
        ("---", "has frontmatter without an end"),
        ("---\nname: a\n--- x\n", "has frontmatter without an end"),
        ("---\r\rname: a\r---\r", "has frontmatter without an end"),
        ("\x7fELF\0\0", "contains a NUL character, as a binary file does"),
        ("---\nname: a\ndescription: b\n---\n\0", "contains a NUL character, as a binary file does"),
        ("---\nname: \ud800\n---\n", "contains text that is not valid Unicode"),
        ("---\nname: a\ndescription: b\n---\n\udcff", "contains text that is not valid Unicode"),
        (front("x: " + "a" * 65536), "has more than 64 KiB of frontmatter"),
        (front("x: " + "ä" * 40000), "has more than 64 KiB of frontmatter"),
        ("---\n" + "x: a\n" * 500_000, "has more than 64 KiB of frontmatter"),
        (front("["), "is not valid YAML: did not find expected node content"),
        (front("a: b: c"), "is not valid YAML: mapping values are not allowed in this context"),
        (front("a: \x1b"), "is not valid YAML: control characters are not allowed"),
        (front('a: "\\ud800"'), "is not valid YAML: found invalid Unicode character escape code"),
        (front("[" * 60000), "is nested more than 16 levels deep"),
        (front("{a: " * 15000), "is nested more than 16 levels deep"),
        (front("- " * 30000), "is nested more than 16 levels deep"),
        (front("? " * 30000), "is nested more than 16 levels deep"),
    ],
)
def test_an_invalid_file_is_reported_with_the_reason(text, message):
    assert messages(text) == [("document", message)]


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("text", ["# note{}license: free", "license: free{}compatibility: none", "license: 'one{}two'"])
def test_a_line_end_that_only_some_readers_know_is_an_error(end, text):
    said = front("name: a\r\ndescription: b\r\n" + text.format(end))
    with pytest.raises(ManifestError) as caught:
        parse_manifest(said)
    first = caught.value.errors[0]
    assert first.message == f"contains U+{ord(end):04X}, which ends a line in some YAML readers only"
    assert first.mark.line == 4


def test_the_escape_of_such_a_line_end_is_text():
    assert parse_manifest(front('name: a\ndescription: b\nlicense: "one\\L\\Ptwo"')).license == "one\u2028\u2029two"


@pytest.mark.parametrize("text", ["", "null", "- a", "text", "12", "a: 1\n...\n--- b\n"])
def test_frontmatter_that_is_not_a_mapping_is_rejected(text):
    assert ("document" in dict(messages(front(text)))) is True


def test_frontmatter_of_exactly_64_kib_is_read():
    text = "name: a\ndescription: b\n# "
    text += "x" * (65536 - len(text) - 1) + "\n"
    assert parse_manifest(f"---\n{text}---\nbody").body == "body"
    assert messages(f"---\nx{text}---\nbody")[0][1] == "has more than 64 KiB of frontmatter"


def test_a_billion_laughs_attack_is_rejected_at_the_first_anchor():
    found = messages(front(LAUGHS))
    assert ("a0", "anchors (&) are not allowed") in found
    assert ("a1[8]", "aliases (*) are not allowed") in found


def test_an_alias_that_contains_itself_is_rejected():
    assert ("metadata.a", "aliases (*) are not allowed") in messages(front("metadata: &x {a: *x}"))


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system [ls]", "!!str a", "!x a", "! a", "!!binary aGk="])
def test_tags_are_rejected(tag):
    assert ("license", "tags (!) are not allowed") in messages(front(f"name: a\ndescription: b\nlicense: {tag}"))


def test_a_key_is_unique_at_any_depth(semantic):
    block = "version: 1\npermissions: {graph: [read]}\nqueries: [{predicate: p, predicate: q}]"
    assert messages(semantic(block)) == [("semantic.queries[0].predicate", "is given twice in its mapping")]
    assert messages(front("name: a\nname: a\ndescription: b")) == [("name", "is given twice in its mapping")]


def test_merge_keys_are_rejected():
    assert ("metadata['<<']", "merge keys are not allowed") in messages(front("metadata: {<<: {a: b}}"))


@pytest.mark.parametrize("key", ["1", "1.5", "null", "true"])
def test_keys_are_text(key):
    found = messages(front(f"name: a\ndescription: b\ntype: semantic\nsemantic: {{version: 1, {key}: b}}"))
    assert [message for _, message in found] == ["is a key that is not text"]


@pytest.mark.parametrize("key", ["1", "1.5", "null", "true"])
def test_a_key_of_the_metadata_is_read_as_text(key):
    text = front(f"name: a\ndescription: b\nmetadata: {{{key}: b}}")
    assert parse_manifest(text).metadata == {key: "b"}


@pytest.mark.parametrize("key", ["[a, b]", "{a: b}"])
def test_a_key_cannot_be_a_list_or_a_mapping(key):
    assert ("metadata", "has a list or a mapping as a key") in messages(front(f"metadata: {{? {key} : b}}"))


def test_a_message_contains_no_terminal_control_characters():
    text = front('name: "\\e[2J\\u202e"\ndescription: b\n"\\e[31m\\n": 1')
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text, "\x1b[2J")
    assert "\x1b" not in str(caught.value)
    assert "\u202e" not in str(caught.value)


def test_ten_thousand_problems_give_a_short_message():
    text = front("\n".join(f"key{n}: 1" for n in range(4500)))
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text)
    assert len(str(caught.value).splitlines()) < 110


def test_a_giant_value_gives_a_short_message():
    with pytest.raises(ManifestError) as caught:
        parse_manifest(front(f"name: {'A' * 60000}\n{'k' * 1000}: 1"))
    assert len(str(caught.value)) < 2000


def test_a_companion_is_checked_like_the_file():
    text = front("name: a\ndescription: b\nmetadata: {semantic: s.yaml}")
    assert messages(text, "\0") == [("semantic", "contains a NUL character, as a binary file does")]
    assert messages(text, "a: " + "x" * 65536) == [("semantic", "has more than 64 KiB")]
    assert messages(text, "[" * 60000) == [("semantic", "is nested more than 16 levels deep")]
    assert messages(text, "- a") == [("semantic", "must be a mapping, not a list")]
    assert messages(text, "") == [("semantic", "has no value")]


KEYS = ["name", "description", "type", "semantic", "version", "permissions", "graph", "assertions", "queries"]
KEYS += ["predicate", "scope", "requireProof", "allowedTools", "dependencies", "slug", "metadata", "zzz"]
WORDS = ["a", "semantic", "read", "*", "p", "1.0.0", "^1", "no", "1:30", "s.yaml", "", "<<", "&a b", "*a", "!x", "~"]
scalars = st.one_of(st.sampled_from(WORDS), st.integers().map(str), st.floats().map(str), st.booleans().map(str))
trees = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(st.sampled_from(KEYS), inner), max_size=6).map(
            lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        ),
    ),
    max_leaves=30,
)
files = st.one_of(
    st.text(),
    st.text().map(front),
    st.binary().map(lambda data: front(data.decode("latin-1"))),
    trees.map(front),
    st.tuples(st.sampled_from(KEYS), trees).map(lambda pair: front(f"name: a\ndescription: b\n{pair[0]}: {pair[1]}")),
    trees.map(lambda tree: front(f"name: a\ndescription: b\ntype: semantic\nsemantic: {tree}")),
)


@settings(max_examples=400, deadline=None)
@given(files, st.one_of(st.none(), st.text()), st.one_of(st.none(), st.text(), trees))
def test_any_input_gives_a_manifest_or_a_manifest_error(text, folder_name, companion):
    try:
        outcome = parse_manifest(text, folder_name, companion)
    except ManifestError as error:
        outcome = error.errors
    if not isinstance(outcome, Manifest):
        assert outcome
        assert all(problem.field and problem.message for problem in outcome)
