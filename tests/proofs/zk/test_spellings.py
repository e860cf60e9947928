"""A proof has one spelling: no other form of any part of its document is taken for it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from cortex_skills.features.proofs.zk import NotCanonicalError, read_proof
from tests.proofs.zk.cases import CASES, Case

Path = tuple[Any, ...]


def holds(document: Any) -> bool:
    try:
        return read_proof(document).holds()
    except NotCanonicalError:
        return False


def of_text(text: str) -> Iterator[Any]:
    """What a reader who is not strict might take for the same text."""
    yield from (text + "=", text + "==", f" {text}", f"{text} ", f"{text}\n", f"\ufeff{text}", f"{text}\u200b")
    yield from (text.upper(), text.lower(), text.swapcase(), f"+{text}", f"0{text}", text + text, text[:-1], text[1:])
    yield "".join(chr(ord(letter) + 0xFEE0) if letter.isascii() and letter.isalnum() else letter for letter in text)
    for old, new in (
        *(("a", "\u0430"), ("-", "+"), ("_", "/"), ("alice", "%61lice"), ("alice", "\\u0061lice"), ("urn:", "URN:")),
        *(
            ("Z", "z"),
            ("Z", "+00:00"),
            ("Z", ".0Z"),
            ("T", " "),
            ("T", "t"),
            ('"true"', '"1"'),
            (" .", "."),
            (" ", "  "),
        ),
        *(("key:z", "key:z1"), ("key:z", "key:f"), ("key:z6Mk", "key:z"), ("pedersen:", "pedersen:="), ("1", "\u0661")),
    ):
        yield text.replace(old, new)
    yield from (text[:-1] + last for last in "AEIMQUYcgkosw048BCD")  # base64url with other unused bits
    yield from ([text], {"@value": text}, text.encode().hex(), None, True)


def of_number(number: int) -> Iterator[Any]:
    yield from (float(number), str(number), bool(number), -number, number + 2**64, [number], None)


def of_mapping(mapping: dict[str, Any]) -> Iterator[Any]:
    yield from ({**mapping, "more": 1}, [*mapping.items()], {key.upper(): mapping[key] for key in mapping}, None)
    yield from ({key: mapping[key] for key in mapping if key != left} for left in mapping)


def of_list(items: list[Any]) -> Iterator[Any]:
    yield from (items + items[:1], items[:-1], items[::-1], dict(enumerate(items)), None)


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, value
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def others(value: Any) -> Iterator[Any]:
    spellings = {str: of_text, int: of_number, dict: of_mapping, list: of_list}[type(value)](value)
    return (other for other in spellings if (type(other), other) != (type(value), value))


def replaced(document: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    changed = holder = copy.deepcopy(document)
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return changed


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_other_spelling_of_a_proof_holds(case: Case) -> None:
    document = json.loads(json.dumps(case.prove().to_json()))
    assert holds(document)
    tried = 0
    for path, value in places(document):
        for other in others(value):
            assert not holds(replaced(document, path, other)), (path, other)
            tried += 1
    assert tried > 300
