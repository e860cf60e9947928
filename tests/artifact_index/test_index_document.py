"""The files of an index: what is signed, what is refused."""

import json
from dataclasses import asdict
from hashlib import sha256

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index import (
    FIRST_PAGE,
    IndexPage,
    check_entries,
    read_first_page,
    read_page,
    write_pages,
)
from cortex_skills.features.artifacts.index.index_document import MAX_PAGE
from cortex_skills.features.artifacts.package.payload import sign_hash
from tests.artifact_index.samples import DAY_MS, KEY, MADE_AT, OTHER_KEY, entry, files

INDEX = files([entry(1), entry(2, yanked=True)])[FIRST_PAGE]


def refused(data, code="index_invalid"):
    """The error of reading a first page."""
    with pytest.raises(CortexError) as caught:
        read_first_page(data)
    assert caught.value.code == code
    return caught.value


def signed(index, key=KEY, publisher="registry", at=MADE_AT, **more):
    """The file of an index object, signed with any contents."""
    signature = sign_hash(sha256(rfc8785.dumps(index)).hexdigest(), publisher, key, at)
    return rfc8785.dumps({"schema_version": 2, "index": index, "signature": asdict(signature), **more})


def test_what_was_written_is_read():
    page = read_first_page(INDEX)
    assert (page.snapshot, page.publisher, page.pages) == (7, "registry", ())
    assert page.expires_at_unix_ms == MADE_AT + DAY_MS
    assert page.entries == (entry(1), entry(2, yanked=True))
    assert page.signature.public_key == KEY.public


def test_an_index_without_entries_is_valid():
    assert read_first_page(files([])[FIRST_PAGE]).entries == ()


def test_the_same_input_gives_the_same_bytes():
    assert files([entry(1)]) == files([entry(1)])


@settings(max_examples=300, deadline=None)
@given(position=st.integers(0, len(INDEX) - 1), bit=st.integers(0, 7))
def test_no_changed_byte_is_accepted(position, bit):
    changed = bytearray(INDEX)
    changed[position] ^= 1 << bit
    with pytest.raises(CortexError) as caught:
        read_first_page(bytes(changed))
    assert caught.value.code in ("index_invalid", "signature_invalid")


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused_with_a_code(data):
    with pytest.raises(CortexError):
        read_first_page(data)


@settings(max_examples=100, deadline=None)
@given(
    where=st.sampled_from(["index", "signature", "entry", "document"]),
    key=st.sampled_from(
        ["snapshot", "entries", "pages", "publisher", "expires_at_unix_ms", "artifact", "version", "x"]
    ),
    value=st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers(), max_size=2),
)
def test_a_signed_document_of_any_form_is_read_or_refused_with_a_code(where, key, value):
    document = json.loads(INDEX)
    index = document["index"]
    target = {"index": index, "entry": index["entries"][0], "document": document, "signature": document["signature"]}
    target[where][key] = value
    try:
        data = signed(index)
    except (ValueError, rfc8785.CanonicalizationError):
        return
    try:
        read_first_page(data)
    except CortexError as error:
        assert error.code in ("index_invalid", "signature_invalid")  # noqa: PT017


@pytest.mark.parametrize("length", [0, 1, 100, len(INDEX) - 1])
def test_a_file_that_was_cut_off_is_refused(length):
    refused(INDEX[:length])


def test_another_spelling_of_the_same_document_is_refused():
    assert "canonical" in refused(json.dumps(json.loads(INDEX), indent=1).encode()).message
    assert "canonical" in refused(INDEX + b"\n").message


def test_a_repeated_key_is_refused():
    assert "twice" in refused(INDEX.replace(b'{"index":', b'{"index":{},"index":', 1)).message


def test_an_index_of_the_first_version_is_named_with_what_it_lacks():
    document = {"schema_version": 1, "index": {}, "signature": {}}
    assert "no snapshot number and does not expire" in refused(rfc8785.dumps(document)).message


def test_a_page_without_a_signature_is_refused():
    document = json.loads(INDEX)
    del document["signature"]
    assert refused(rfc8785.dumps(document), "signature_invalid").message == "index.json is not signed"


def test_a_signature_with_another_key_is_refused():
    document = json.loads(INDEX)
    document["signature"] = asdict(sign_hash(document["signature"]["payload_sha256"], "registry", OTHER_KEY, MADE_AT))
    document["signature"]["signature_base64"] = json.loads(INDEX)["signature"]["signature_base64"]
    assert "not made with the key" in refused(rfc8785.dumps(document), "signature_invalid").message


def test_what_the_signature_states_beside_its_key_is_what_was_signed():
    index = json.loads(INDEX)["index"]
    error = refused(signed(index, publisher="mallory", at=MADE_AT + 1))
    assert [each["field"] for each in error.details["errors"]] == ["signature.publisher", "signature.signed_at_unix_ms"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"snapshot": 0}, "index.snapshot"),
        ({"snapshot": "7"}, "index.snapshot"),
        ({"expires_at_unix_ms": MADE_AT}, "index.expires_at_unix_ms"),
        ({"pages": [{"sha256": "a" * 64, "bytes": 1}] * 2}, "index.pages"),
        ({"pages": [{"sha256": "../secret", "bytes": 1}]}, "index.pages[0].sha256"),
        ({"publisher": "Mallory"}, "index.publisher"),
        ({"next_page": "https://elsewhere.example/"}, "index.next_page"),
        ({"schema_version": 3}, "index.schema_version"),
    ],
)
def test_a_problem_names_its_field(change, field):
    error = refused(signed({**json.loads(INDEX)["index"], **change}))
    assert field in [each["field"] for each in error.details["errors"]]


@pytest.mark.parametrize("missing", ["publisher", "generated_at_unix_ms", "expires_at_unix_ms", "pages", "snapshot"])
def test_a_first_page_has_every_member(missing):
    index = json.loads(INDEX)["index"]
    del index[missing]
    assert [each["field"] for each in refused(signed(index)).details["errors"]] == [f"index.{missing}"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"artifact": "https://elsewhere.example/a"}, "artifact"),
        ({"artifact": "//elsewhere.example/a"}, "artifact"),
        ({"artifact": "../a"}, "artifact"),
        ({"artifact": "a/./b"}, "artifact"),
        ({"artifact": "a/%2e%2e/b"}, "artifact"),
        ({"artifact": "a?b"}, "artifact"),
        ({"artifact_bytes": (64 << 20) + 1}, "artifact_bytes"),
        ({"artifact_sha256": "A" * 64}, "artifact_sha256"),
        ({"key_id": "ed25519:1"}, "key_id"),
        ({"version": "1.0.0.0"}, "version"),
        ({"skill_id": "mallory.tool"}, "skill_id"),
        ({"yanked": 0}, "yanked"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_a_problem_of_an_entry_names_its_field(change, field):
    index = json.loads(INDEX)["index"]
    index["entries"][1] |= change
    assert [each["field"] for each in refused(signed(index)).details["errors"]] == [f"index.entries[1].{field}"]


@pytest.fixture(scope="module")
def large():
    """The files of an index with several pages."""
    entries = [entry(number, summary="x" * 500) for number in range(2_600)]
    return entries, files(entries)


def test_a_large_index_has_pages_of_one_snapshot(large):
    entries, made = large
    first = read_first_page(made[FIRST_PAGE])
    assert len(first.pages) == 1
    assert all(len(data) <= MAX_PAGE for data in made.values())
    assert sorted(made) == sorted([FIRST_PAGE, *(page.address for page in first.pages)])
    read = [*first.entries, *(each for page in first.pages for each in read_page(made[page.address], page, 7))]
    assert read == entries
    check_entries(read)


def test_a_page_is_the_one_that_the_first_page_names(large):
    _, made = large
    (page,) = read_first_page(made[FIRST_PAGE]).pages
    with pytest.raises(CortexError, match="is not the page"):
        read_page(made[page.address].replace(b"acme", b"mall", 1), page, 7)
    with pytest.raises(CortexError, match="is not 8, the number of the first page"):
        read_page(made[page.address], page, 8)


def test_a_further_page_states_nothing_about_the_index():
    data = files([entry()])[FIRST_PAGE]
    with pytest.raises(CortexError) as caught:
        read_page(data, IndexPage(sha256(data).hexdigest(), len(data)), 7)
    fields = [each["field"] for each in caught.value.details["errors"]]
    assert fields == [
        "index.publisher", "index.generated_at_unix_ms", "index.expires_at_unix_ms", "index.pages", "signature",
    ]  # fmt: skip


def test_an_index_has_at_most_10000_entries_each_once():
    with pytest.raises(CortexError, match="10,001 entries, and at most 10,000"):
        check_entries([entry(number) for number in range(10_001)])
    with pytest.raises(CortexError, match=r"two entries of 'acme\.tool_00001 1\.0\.0'"):
        check_entries([entry(1), entry(1, artifact="b")])
    with pytest.raises(CortexError, match=r"two entries of 'artifacts/1\.palyra-skill'"):
        check_entries([entry(1), entry(2, artifact="artifacts/1.palyra-skill")])
    check_entries([entry(1), entry(1, version="2.0.0", artifact="b")])


def test_an_index_that_is_not_valid_is_not_written():
    with pytest.raises(CortexError, match="expires_at_unix_ms: is not after"):
        write_pages([], snapshot=1, publisher="a", key=KEY, generated_at_unix_ms=MADE_AT, expires_at_unix_ms=MADE_AT)
