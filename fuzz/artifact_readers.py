"""Generated artifacts for their readers: `python -m fuzz.artifact_readers --seconds 300 [--seed 1]`.

Rules kept here:
- the invariant for every input: the reader returns or raises its typed error, within `MOST_SECONDS` of processor time
  and `MOST_BYTES` of memory;
- what a reader accepts is checked once more: `zipfile` finds the same entries in an archive, a manifest and a signature
  are the same after they were written and read again, and a component has the imports and the export of the world;
- inputs are mutations of valid ones: of bytes, of fields of ZIP headers, of values in TOML and JSON;
- a run is reproducible by its seed; an input that breaks the invariant is printed whole.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import time
import tomllib
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import rfc8785
import tomli_w
from wasmtime import component as wit
from wasmtime import wat2wasm

from cortex_sandbox import SandboxError
from cortex_sandbox.engine.engine import foreign_engine
from cortex_sandbox.wasm import make_component
from cortex_sandbox.wasm.plugin_world import check_component
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index import IndexEntry, write_pages
from cortex_skills.features.artifacts.index.index_document import FIRST_PAGE, check_entries, read_first_page
from cortex_skills.features.artifacts.package import (
    ArtifactError,
    payload_hash,
    read_archive,
    read_artifact_signature,
    read_skill_toml,
    sign_payload,
    write_archive,
)
from cortex_skills.features.artifacts.package.bill_of_materials import read_bill
from cortex_skills.features.artifacts.package.payload import sign_hash
from cortex_skills.features.artifacts.package.provenance_statement import read_provenance
from cortex_skills.keys import Key

from .harness import peak_bytes, reset_peak_bytes

MOST_SECONDS = 2.0
MOST_BYTES = 256 << 20

_MODULE = bytes(
    wat2wasm("""(module
      (import "palyra:plugins/host-capabilities@0.2.0" "graph-query" (func $ask (param i32 i32 i32)))
      (memory (export "memory") 1)
      (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
      (func (export "run") (param i32 i32 i32 i32) (result i32)
        (call $ask (local.get 2) (local.get 3) (i32.const 16)) (i32.const 16)))""")
)
_MANIFEST: dict[str, Any] = {
    "manifest_version": 2,
    "skill_id": "acme.echo",
    "publisher": "acme",
    "name": "Echo",
    "version": "1.2.0-rc.1",
    "entrypoints": {
        "tools": [
            {
                "id": "acme.echo.say",
                "name": "say",
                "description": "Says it",
                "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
                "output_schema": {"type": "object", "$defs": {"a": {"$ref": "#"}}},
                "risk": {"default_sensitive": True, "requires_approval": False},
            }
        ]
    },
    "capabilities": {
        "http_egress_allowlist": ["api.example.com", "*.example.org"],
        "filesystem": {"read_roots": ["notes"], "write_roots": ["notes/a"]},
        "secrets": [{"scope": "skill:acme", "key_names": ["token"]}],
        "graph": {"read": True, "write": True, "predicates": ["hasStatus"]},
        "quotas": {"fuel_budget": 1000, "max_memory_bytes": 65536, "wall_clock_timeout_ms": 10},
        "wildcard_opt_in": {"http_egress": True},
    },
    "compat": {"required_protocol_major": 1, "min_palyra_version": "0.1.0"},
    "integrity": {"files": [{"path": "assets/a.txt", "sha256": "0" * 64}]},
    "operator": {
        "display_name": "Echo",
        "plugin": {"kind": "wasm", "contracts": [{"kind": "routing_strategy", "version": 1}]},
        "config": {"schema_version": 1, "required": ["a"], "properties": {"a": {"type": "string", "default": "b"}}},
    },
}
_CONTENT = {"assets/a.txt": b"hello" * 20, "modules/tool.wasm": _MODULE}
_BILL: dict[str, Any] = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
    "components": [{"type": "library", "name": "a", "version": "1", "purl": "pkg:npm/a@1", "components": []}],
}
_PROVENANCE: dict[str, Any] = {
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [{"name": path, "digest": {"sha256": sha256(data).hexdigest()}} for path, data in _CONTENT.items()],
    "predicateType": "https://slsa.dev/provenance/v1",
    "predicate": {
        "buildDefinition": {"buildType": "https://example.test/build/1", "externalParameters": {}},
        "runDetails": {"builder": {"id": "https://example.test/builder"}},
    },
}
_ENTRIES = {
    **_CONTENT,
    "sbom.cdx.json": json.dumps(_BILL).encode(),
    "provenance.json": json.dumps(_PROVENANCE).encode(),
    "skill.toml": tomli_w.dumps(_MANIFEST).encode(),
}
_SIGNATURE = json.loads(sign_payload(_ENTRIES, "acme", Key("acme", bytes([1]) * 32), 1_760_000_000_000).to_bytes())
_KEY = Key("registry", bytes([3]) * 32)
_ENTRY = {
    "skill_id": "acme.echo",
    "version": "1.2.0",
    "publisher": "acme",
    "key_id": "ed25519:34750f98bd59fcfc",
    "payload_sha256": "0" * 64,
    "artifact": "artifacts/echo.palyra-skill",
    "artifact_sha256": "1" * 64,
    "artifact_bytes": 100,
    "summary": "Echo",
    "categories": ("demo",),
    "capabilities": ("graph.read",),
}
_INDEX_FILE = write_pages(
    [IndexEntry(**_ENTRY), IndexEntry(**{**_ENTRY, "version": "1.3.0", "artifact": "artifacts/b.palyra-skill"})],
    snapshot=7,
    publisher="registry",
    key=_KEY,
    generated_at_unix_ms=1_790_000_000_000,
    expires_at_unix_ms=1_790_086_400_000,
)[FIRST_PAGE]
_INDEX = json.loads(_INDEX_FILE)
_TEXTS = (
    "", ".", "..", "a/../b", "a\\b", "/", "C:", "\0", "é", "e\u0301", "\u202e", "🜁", "*", "*.a", "a" * 300,
    "acme.echo", "1.0.0", "1.0.0-0", "01.0.0", "https://x", "pkg:npm/a", "modules/tool.wasm", "assets/A.TXT", "sha256",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    *_TEXTS, 0, 1, -1, 2**31, 2**63 - 1, -(2**63), 0.5, True, False, [], {}, [[]], {"": {}}, ["a", "a"], {"$ref": "#"},
    {"type": "object"}, [{}], {"a": {"a": {"a": {}}}},
)  # fmt: skip
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)


class Mutations:
    """Changes of bytes and of JSON values."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def bytes(self, data: bytes) -> bytes:
        """Bytes after a few changes."""
        changed = bytearray(data)
        for _ in range(self.dice.choice((1, 1, 2, 4, 16))):
            at = self.dice.randrange(len(changed) + 1)
            end = min(len(changed), at + self.dice.choice((1, 2, 4, 30)))
            kind = self.dice.randrange(5)
            if kind == 0:
                del changed[at:end]
            elif kind == 1:
                changed[at:at] = self.dice.randbytes(self.dice.choice((1, 4, 40)))
            elif kind == 2:
                changed[at:at] = changed[self.dice.randrange(len(changed) + 1) :][:60]
            elif kind == 3:
                number = self.dice.choice(_NUMBERS)
                size = self.dice.choice((2, 4))
                changed[at : at + size] = (number & (1 << 8 * size) - 1).to_bytes(size, "little")
            elif at < len(changed):
                changed[at] ^= 1 << self.dice.randrange(8)
        return bytes(changed)

    def value(self, value: Any) -> Any:
        """A JSON value after one change."""
        if isinstance(value, dict) and value and self.dice.random() < 0.9:
            key = self.dice.choice(list(value))
            if self.dice.random() < 0.15:
                return {name: inner for name, inner in value.items() if name != key}
            if self.dice.random() < 0.1:
                return {**value, self.dice.choice(_TEXTS): value[key]}
            return {**value, key: self.value(value[key])}
        if isinstance(value, list) and value and self.dice.random() < 0.9:
            at = self.dice.randrange(len(value))
            repeated = [value[at]] * self.dice.choice((0, 1, 2, 300)) if self.dice.random() < 0.3 else []
            return [*value[:at], *repeated, self.value(value[at]), *value[at + 1 :]]
        return self.dice.choice(_VALUES)

    def document(self, value: Any) -> Any:
        """A JSON value after a few changes."""
        for _ in range(self.dice.choice((1, 1, 2, 3))):
            value = self.value(value)
        return value


def _archive(mutations: Mutations) -> bytes:
    dice = mutations.dice
    if dice.random() < 0.5:
        return mutations.bytes(write_archive(_ENTRIES))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in dice.sample(list(_ENTRIES), dice.randint(0, len(_ENTRIES))):
            info = zipfile.ZipInfo(path if dice.random() < 0.8 else dice.choice(_TEXTS) or "a", (1980, 1, 1, 0, 0, 0))
            info.create_system = dice.choice((0, 3))
            info.external_attr = dice.choice((0, 0o100644 << 16, 0o120777 << 16, 0o040755 << 16, 0x10))
            info.extra = dice.choice((b"", b"", b"UT\5\0\1\0\0\0\0", b"\1\0\0\0", dice.randbytes(5)))
            info.comment = dice.choice((b"", b"", b"", b"c"))
            method = dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
            with warnings.catch_warnings(action="ignore"):  # a name that is there twice
                archive.writestr(info, _ENTRIES[path], method)
        archive.comment = dice.choice((b"", b"", b"", b"PK\5\6"))
    data = buffer.getvalue()
    return mutations.bytes(data) if dice.random() < 0.3 else data


def _toml(mutations: Mutations) -> bytes:
    document = mutations.document(_MANIFEST)
    text = tomli_w.dumps(document if isinstance(document, dict) else {"a": document}).encode("utf-8", "surrogatepass")
    return mutations.bytes(text) if mutations.dice.random() < 0.3 else text


def _json_of(value: Any) -> Callable[[Mutations], bytes]:
    def generate(mutations: Mutations) -> bytes:
        text = json.dumps(mutations.document(value), ensure_ascii=mutations.dice.random() < 0.5)
        data = text.encode("utf-8", "surrogatepass")
        return mutations.bytes(data) if mutations.dice.random() < 0.3 else data

    return generate


def _index(mutations: Mutations) -> bytes:
    """A first page: one with changed fields, signed again as a hostile server does, or one whose bytes are changed."""
    dice = mutations.dice
    index = mutations.document(_INDEX["index"])
    try:
        signature = sign_hash(sha256(rfc8785.dumps(index)).hexdigest(), "registry", _KEY, 1_790_000_000_000)
        document = {**_INDEX, "index": index, "signature": asdict(signature)}
        data = rfc8785.dumps(document if dice.random() < 0.7 else mutations.document(document))
    except rfc8785.CanonicalizationError:
        return json.dumps({**_INDEX, "index": index}).encode("utf-8", "surrogatepass")
    return mutations.bytes(data) if dice.random() < 0.3 else data


def _read_index(data: bytes) -> None:
    page = read_first_page(data)
    check_entries(page.entries)
    written = [entry.to_json() for entry in page.entries]
    assert rfc8785.dumps(written) == rfc8785.dumps(json.loads(data)["index"]["entries"]), "it has other entries"


def _read_archive(data: bytes) -> None:
    entries = read_archive(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = {info.filename.replace("\\", "/"): archive.read(info) for info in archive.infolist()}
    assert found == entries, "zipfile finds other entries"
    assert read_archive(write_archive(entries)) == entries
    payload_hash(entries)


def _read_manifest(data: bytes) -> None:
    manifest = read_skill_toml(data)
    again = read_skill_toml(tomli_w.dumps(tomllib.loads(data.decode())).encode())
    assert manifest == again, "it is another manifest after it was written"


def _read_signature(data: bytes) -> None:
    signature = read_artifact_signature(data)
    assert read_artifact_signature(signature.to_bytes()) == signature
    changed = signature.payload_sha256 != _SIGNATURE["payload_sha256"]
    if signature.is_valid():
        assert not changed, "a signature of another hash is valid"


def _make_component(data: bytes) -> None:
    component = wit.Component(foreign_engine().wasm, make_component(data))
    check_component(component, foreign_engine().wasm)


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader, what it reads, and its typed errors."""

    generate: Callable[[Mutations], bytes]
    read: Callable[[bytes], object]
    errors: type[Exception] = ArtifactError


READERS: dict[str, Reader] = {
    "archive": Reader(_archive, _read_archive),
    "manifest": Reader(_toml, _read_manifest),
    "signature": Reader(_json_of(_SIGNATURE), _read_signature),
    "bill of materials": Reader(_json_of(_BILL), read_bill),
    "provenance": Reader(_json_of(_PROVENANCE), lambda data: read_provenance(data, _ENTRIES)),
    "index": Reader(_index, _read_index, CortexError),
    "component": Reader(lambda mutations: mutations.bytes(_MODULE), _make_component, SandboxError),
}


VALID: Mapping[str, bytes] = {
    "archive": write_archive(_ENTRIES),
    "manifest": _ENTRIES["skill.toml"],
    "signature": json.dumps(_SIGNATURE).encode(),
    "bill of materials": _ENTRIES["sbom.cdx.json"],
    "provenance": _ENTRIES["provenance.json"],
    "index": _INDEX_FILE,
    "component": _MODULE,
}


@dataclass(frozen=True, slots=True)
class Found:
    """An input that broke the invariant, and how."""

    reader: str
    data: bytes
    reason: str


def check(name: str, data: bytes) -> tuple[bool, Found | None]:
    """Whether a reader accepts an input, and the invariant that it broke."""
    reader, accepted, reason = READERS[name], False, ""
    before = reset_peak_bytes()
    started = time.process_time()
    try:
        reader.read(data)
        accepted = True
    except reader.errors:
        pass
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    seconds, most = time.process_time() - started, peak_bytes()
    if seconds > MOST_SECONDS:
        reason = reason or f"it took {seconds:.1f} s"
    if before is not None and most is not None and most - before > MOST_BYTES:
        reason = reason or f"it took {most - before:,} bytes"
    return accepted, Found(name, data, reason) if reason else None


def fuzz(seconds: float, seed: int, least: int = 0) -> tuple[Counter[str], Counter[str], list[Found]]:
    """How many inputs each reader got and accepted, at least `least` in all, and those that broke the invariant."""
    mutations = Mutations(random.Random(seed))
    for name, data in VALID.items():  # schemas and the compiler are loaded now
        check(name, data)
    counts: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    found: list[Found] = []
    end = time.monotonic() + seconds
    while counts.total() < least or time.monotonic() < end:
        for name, reader in READERS.items():
            was_accepted, broken = check(name, reader.generate(mutations))
            counts[name] += 1
            accepted[name] += was_accepted
            if broken is not None:
                found.append(broken)
    return counts, accepted, found


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Read generated artifacts.")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)  # noqa: T201
    counts, accepted, found = fuzz(options.seconds, seed)
    for broken in found[:20]:
        print(f"--- {broken.reader}: {broken.reason}\n{broken.data!r}")  # noqa: T201
    for name, count in counts.items():
        print(f"{name}: {count} inputs, {accepted[name]} accepted")  # noqa: T201
    print(f"{len(found)} broke the invariant")  # noqa: T201
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
