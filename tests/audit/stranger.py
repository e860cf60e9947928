"""A verifier of journals that was written from `docs/audit.md`, and shares no code with this project.

    python stranger.py FOLDER did:key:z6Mk…
    python stranger.py january.ndjson

It prints what is wrong, one line each, and nothing for a journal that is whole.
"""

from __future__ import annotations

import json
import re
import sys
from hashlib import sha256
from pathlib import Path

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.ndjson")
_END = re.compile(rb',"hash":"([0-9a-f]{64})"}\n')
_PLACE = re.compile(rb',"seq":([1-9][0-9]*),"prevHash":"([0-9a-f]{64})"\Z')
_HEAD = re.compile(
    rb"cortex-audit/([12]) (\S{10}) ([0-9]{20}) ([0-9]{20}) ([0-9a-f]{64}) ([0-9]{20})(?: ([0-9a-f]{16}))?\n"
)
_BEGINNING = b'{"timestamp":"'
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def public_key(did: str) -> VerifyKey:
    """The key of a did:key of Ed25519."""
    number = 0
    for char in did.removeprefix("did:key:z"):
        number = number * 58 + _BASE58.index(char)
    data = number.to_bytes(34, "big")
    if data[:2] != b"\xed\x01":
        raise ValueError("not an Ed25519 key")
    return VerifyKey(data[2:])


def _is_torn(line: bytes) -> bool:
    """Whether it is the beginning of a record whose writer was killed."""
    return not line.endswith(b"\n") and line[: len(_BEGINNING)] == _BEGINNING[: len(line)]


def faults_of(files: dict[str, bytes], head: bytes | None, keys: set[str], *, is_part: bool = False) -> list[str]:
    """What is wrong with a journal, or with a part of one that was exported.

    Args:
        files: their contents, in the order of their names.
        head: the content of the file `head`.
        keys: those that may sign.
        is_part: whether the beginning and the head are elsewhere.

    """
    faults: list[str] = []
    first = last = None  # (number, hash before, hash)
    signed, cuts, ends = 0, [], {}
    for name, content in files.items():
        place = 0
        for line in content.splitlines(keepends=True):
            place += len(line)
            if name == list(files)[-1] and place == len(content) and not is_part and _is_torn(line):
                continue
            end, body = _END.fullmatch(line[-76:]), line[:-76]
            found = _PLACE.search(body) if end else None
            if end is None or found is None or not line.isascii():
                faults.append(f"{name}: not a record after {last[0] if last else 0}")
                continue
            record = int(found[1]), found[2].decode(), end[1].decode()
            if sha256(b"cortex-audit/1\0" + body).hexdigest() != record[2]:
                faults.append(f"record {record[0]}: its hash is another")
            if last is not None and (record[0] != last[0] + 1 or record[1] != last[2]):
                faults.append(f"record {record[0]}: does not follow record {last[0]}")
            first, last, ends[record[0], record[2]] = first or record, record, (name[:10], place)
            try:
                document = json.loads(line)
                event, details = document["event"], document["details"]
                data = details.get("data") or {}
                if event == "audit.head":
                    message = b"cortex-audit-head/1\0" + bytes.fromhex(record[1])
                    public_key(data["key"]).verify(message, bytes.fromhex(data["signature"]))
                    if data["key"] in keys:
                        signed = record[0]
                    else:
                        faults.append(f"record {record[0]}: signed by a stranger")
                if event == "audit.cut" and details["namespace"] == "":
                    cuts.append((record[0], int(data["firstKept"]), data["prevHash"]))
                if event == "audit.repaired" and int(data.get("missing", 0)) > 0:
                    faults.append(f"record {record[0]}: {data['missing']} records were missing")
            except BadSignatureError:
                faults.append(f"record {record[0]}: its signature does not verify")
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
                faults.append(f"record {record[0]}: is malformed")
    if is_part or (first is None and not head):
        return faults
    if (
        first is not None
        and first[:2] != (1, "0" * 64)
        and not any(cut[1:] == first[:2] and cut[0] <= signed for cut in cuts)
    ):
        faults.append("the beginning is missing")
    form = _HEAD.fullmatch(head or b"")
    if form is None:
        return [*faults, "the head is missing or damaged"]
    if form[1] == b"2" and form[7] != sha256(head[: form.end(6)]).hexdigest()[:16].encode():
        faults.append("the head is damaged")
    elif ends.get((int(form[4]), form[5].decode())) != (form[2].decode(), int(form[3])):
        faults.append("the head names a record that is not there")
    return faults


if __name__ == "__main__":
    where = Path(sys.argv[1])
    if where.is_dir():
        days = sorted(path for path in where.iterdir() if _DAY.fullmatch(path.name))
        noted = where / "head"
        found_faults = faults_of(
            {path.name: path.read_bytes() for path in days},
            noted.read_bytes() if noted.exists() else None,
            set(sys.argv[2:]),
        )
    else:
        found_faults = faults_of({where.name: where.read_bytes()}, None, set(sys.argv[2:]), is_part=True)
    sys.stdout.write("\n".join(found_faults))
    sys.exit(1 if found_faults else 0)
