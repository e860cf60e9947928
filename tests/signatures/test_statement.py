"""What is signed: its exact bytes, and the file that they travel in."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.errors import CortexError
from cortex_skills.keys import Key, public_of, verify
from cortex_skills.signatures.skill_files import SkillFile
from cortex_skills.signatures.statement import Signature, SignedStatement, digest_of, read_signature

KEY = Key("acme", bytes(range(32)))
FILES = (SkillFile("SKILL.md", 2, sha256(b"hi").hexdigest()), SkillFile("a/\u00e9.md", 0, sha256(b"").hexdigest()))
_PATHS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
_FILES = st.lists(
    st.builds(SkillFile, _PATHS, st.integers(0, 2**40), st.binary(min_size=32, max_size=32).map(bytes.hex)),
    unique_by=lambda file: file.path,
    max_size=6,
)


def made(files: tuple[SkillFile, ...] = FILES, **said: Any) -> Signature:
    parts = {"publisher": "acme", "key": KEY.did, "skill": "probe", "version": "1.0.0", **said}
    statement = SignedStatement(**{"signed": "2026-11-01T12:00:00Z", "digest": digest_of(files), **parts})
    return Signature(statement, files, KEY.sign(statement.message()))


def test_the_digest_has_the_documented_bytes() -> None:
    """Computed by hand from the description in `statement`."""
    data = b"cortex-skill-files/1\0" + (2).to_bytes(8, "big")
    for path, content in (("SKILL.md", b"hi"), ("a/\u00e9.md", b"")):
        name = path.encode()
        data += b"f" + len(name).to_bytes(8, "big") + name + len(content).to_bytes(8, "big") + sha256(content).digest()
    assert digest_of(reversed(FILES)) == sha256(data).digest()


def test_the_message_has_the_documented_bytes() -> None:
    said = made().statement
    expected = b"cortex-skill-signature/1\0"
    for text in ("acme", KEY.did, "probe", "1.0.0", "2026-11-01T12:00:00Z"):
        expected += len(text).to_bytes(8, "big") + text.encode()
    assert said.message() == expected + said.digest
    assert verify(public_of(said.key), said.message(), made().signature)


def test_no_two_statements_have_the_same_bytes() -> None:
    assert made(skill="ab", version="c").statement.message() != made(skill="a", version="bc").statement.message()


@given(_FILES)
def test_a_signature_round_trips_through_its_file(files: list[SkillFile]) -> None:
    signature = made(tuple(files))
    assert read_signature(signature.to_file()) == signature


@given(_FILES, st.data())
def test_any_other_list_of_files_has_another_digest(files: list[SkillFile], data: st.DataObject) -> None:
    other = data.draw(_FILES.filter(lambda drawn: sorted(drawn) != sorted(files)))
    assert digest_of(files) != digest_of(other)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_data_that_is_not_a_signature_is_refused_with_its_code(data: bytes) -> None:
    with pytest.raises(CortexError) as caught:
        read_signature(data)
    assert caught.value.code == "signature_invalid"


_ODD: dict[str, Any] = {
    "another format": {"format": "cortex-skill-signature/2"},
    "a key more": {"more": 1},
    "a publisher in capitals": {"publisher": "Acme"},
    "a publisher of look-alikes": {"publisher": "\u0430cme"},
    "a skill that is a list": {"skill": []},
    "half a pair": {"skill": "\ud800"},
    "a time without a zone": {"signed": "2026-11-01T12:00:00"},
    "a day that is none": {"signed": "2026-02-30T12:00:00Z"},
    "a time of another zone": {"signed": "2026-11-01T12:00:00+01:00"},
    "another digest": {"digest": "0" * 64},
    "a digest in capitals": {"digest": digest_of(FILES).hex().upper()},
    "a short signature": {"signature": "00"},
    "files that are none": {"files": [1]},
    "a negative size": {"files": [{"path": "a", "size": -1, "sha256": "0" * 64}]},
    "a size that is true": {"files": [{"path": "a", "size": True, "sha256": "0" * 64}]},
    "a path of half a pair": {"files": [{"path": "\ud800", "size": 1, "sha256": "0" * 64}]},
    "the same file twice": {"files": [{"path": "a", "size": 1, "sha256": "0" * 64}] * 2},
    "a very long name": {"publisher": "a" * 300},
}


@pytest.mark.parametrize("name", _ODD)
def test_a_file_with_an_invalid_part_is_refused(name: str) -> None:
    document = json.loads(made().to_file()) | _ODD[name]
    with pytest.raises(CortexError) as caught:
        read_signature(json.dumps(document).encode())
    assert caught.value.code == "signature_invalid"


@pytest.mark.parametrize("missing", ["publisher", "key", "skill", "version", "signed", "digest", "files", "signature"])
def test_a_file_without_a_part_is_refused(missing: str) -> None:
    document = json.loads(made().to_file())
    del document[missing]
    with pytest.raises(CortexError, match=missing):
        read_signature(json.dumps(document).encode())


def test_a_repeated_part_is_refused() -> None:
    text = made().to_file().replace(b'"publisher"', b'"publisher": "evil", "publisher"', 1)
    with pytest.raises(CortexError, match="twice"):
        read_signature(text)
