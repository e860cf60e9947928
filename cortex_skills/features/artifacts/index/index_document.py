"""An index of artifacts as files: a signed first page, and further pages that it names by their hashes.

Rules kept here:
- the first page is signed: Ed25519 over the hexadecimal SHA-256 of the RFC 8785 form of its member `index`, in the
  signature object of artifacts. What that object states beside the key is stated in the signed part too (publisher and
  time), so that no byte of it can be changed;
- every file is exactly the RFC 8785 form of its document: no changed byte is accepted;
- a page has at most 2 MiB, an index 20 pages and 10,000 entries. The hashes of the further pages are in the first, so
  all pages are of one snapshot, and there are no addresses of pages that could lead elsewhere or in a circle;
- the signature is checked before anything that is signed is used; every problem names its field;
- an artifact is there once: a pair of id and version, and an address, has one entry. Its id begins with its publisher.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import rfc8785

from cortex_skills.features.artifacts.index.index_entry import IndexEntry
from cortex_skills.features.artifacts.index.index_error import badly_signed, invalid, problems
from cortex_skills.features.artifacts.package import ArtifactError, ArtifactSignature
from cortex_skills.features.artifacts.package.manifest_rules import is_version
from cortex_skills.features.artifacts.package.payload import artifact_signature, sign_hash
from cortex_skills.keys import Key
from cortex_skills.safe_io.schemas import LocatedDocument, Path, Problem, check, shown
from cortex_skills.safe_io.strict_json import read_json

FIRST_PAGE = "index.json"
MAX_PAGE = 2 << 20
MAX_PAGES = 20
MAX_ENTRIES = 10_000

_VERSION = 2
_MAX_DEPTH = 6
_SIGNED = ("publisher", "generated_at_unix_ms", "expires_at_unix_ms", "pages")


@dataclass(frozen=True, slots=True)
class IndexPage:
    """A further page: the SHA-256 of its file in hexadecimal, and its size in bytes."""

    sha256: str
    bytes: int

    @property
    def address(self) -> str:
        """The address of its file, relative to the first page."""
        return f"pages/{self.sha256}.json"


@dataclass(frozen=True, slots=True)
class FirstPage:
    """The signed first page.

    Attributes:
        snapshot: its number, from 1.
        publisher: who signed it.
        generated_at_unix_ms: when it was made.
        expires_at_unix_ms: when it expires.
        pages: the further pages.
        entries: the entries of this page.
        signature: its signature, which is valid.
    """

    snapshot: int
    publisher: str
    generated_at_unix_ms: int
    expires_at_unix_ms: int
    pages: tuple[IndexPage, ...]
    entries: tuple[IndexEntry, ...]
    signature: ArtifactSignature


def signature_of(data: bytes) -> ArtifactSignature:
    """The signature of a first page, checked; nothing else of the page may be used before its key is trusted.

    Raises:
        CortexError: `index_invalid`: the file is no first page; `signature_invalid`.
    """
    return _signed(_document(data, FIRST_PAGE))


def read_first_page(data: bytes) -> FirstPage:
    """The first page in the bytes of its file.

    Raises:
        CortexError: `index_invalid` with the problems of its fields; `signature_invalid`.
    """
    document = _document(data, FIRST_PAGE)
    signature = _signed(document)
    index = _checked(document, FIRST_PAGE)
    if found := list(_problems_of_first(index, signature)):
        raise problems(FIRST_PAGE, found)
    return FirstPage(
        index["snapshot"],
        index["publisher"],
        index["generated_at_unix_ms"],
        index["expires_at_unix_ms"],
        tuple(IndexPage(**page) for page in index["pages"]),
        _entries(index, FIRST_PAGE),
        signature,
    )


def read_page(data: bytes, page: IndexPage, snapshot: int) -> tuple[IndexEntry, ...]:
    """The entries of a further page.

    Args:
        data: the bytes of its file.
        page: as the first page names it.
        snapshot: the number of the snapshot.

    Raises:
        CortexError: `index_invalid`.
    """
    if len(data) != page.bytes or sha256(data).hexdigest() != page.sha256:
        raise invalid(f"{page.address} is not the page that {FIRST_PAGE} names", hint="fetch the index again")
    document = _document(data, page.address)
    index = _checked(document, page.address)
    found = [Problem(("index", key), "is only in the first page") for key in _SIGNED if key in index]
    if "signature" in document:
        found.append(Problem(("signature",), "is only in the first page"))
    if index["snapshot"] != snapshot:
        found.append(Problem(("index", "snapshot"), f"is not {snapshot}, the number of the first page"))
    if found:
        raise problems(page.address, found)
    return _entries(index, page.address)


def check_entries(entries: Sequence[IndexEntry]) -> None:
    """Check what holds for all entries together.

    Raises:
        CortexError: `index_invalid`.
    """
    if len(entries) > MAX_ENTRIES:
        raise invalid(f"the index has {len(entries):,} entries, and at most {MAX_ENTRIES:,} are allowed")
    seen: set[tuple[str, ...]] = set()
    for entry in entries:
        for what in ((entry.skill_id, entry.version), (entry.artifact,)):
            if what in seen:
                raise invalid(f"the index has two entries of {shown(' '.join(what))}")
            seen.add(what)


def write_pages(
    entries: Sequence[IndexEntry],
    *,
    snapshot: int,
    publisher: str,
    key: Key,
    generated_at_unix_ms: int,
    expires_at_unix_ms: int,
) -> dict[str, bytes]:
    """The files of an index by relative address; the first page is the last of them.

    Args:
        entries: sorted as they are to be listed.
        snapshot: its number.
        publisher: who signs it.
        key: the key that signs it.
        generated_at_unix_ms: the time, in milliseconds since 1970.
        expires_at_unix_ms: until when it is valid.

    Raises:
        CortexError: `index_invalid`: there are too many entries for an index.
    """
    check_entries(entries)
    first, *others = _split([entry.to_json() for entry in entries])
    files, pages = {}, []
    for part in others:
        data = _canonical({"schema_version": _VERSION, "index": _index(snapshot, part)})
        page = IndexPage(sha256(data).hexdigest(), len(data))
        pages.append(page)
        files[page.address] = data
    if len(pages) >= MAX_PAGES:
        raise invalid(f"the index needs {len(pages) + 1} pages, and at most {MAX_PAGES} are allowed", hint="divide it")
    index = {
        **_index(snapshot, first),
        "publisher": publisher,
        "generated_at_unix_ms": generated_at_unix_ms,
        "expires_at_unix_ms": expires_at_unix_ms,
        "pages": [asdict(page) for page in pages],
    }
    signature = sign_hash(sha256(_canonical(index)).hexdigest(), publisher, key, generated_at_unix_ms)
    files[FIRST_PAGE] = _canonical({"schema_version": _VERSION, "index": index, "signature": asdict(signature)})
    read_first_page(files[FIRST_PAGE])
    return files


def _index(snapshot: int, entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {"schema_version": _VERSION, "snapshot": snapshot, "entries": entries}


def _split(entries: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Entries in parts that each fit into a page; the first part is empty without entries."""
    room = MAX_PAGE - (8 << 10)  # the rest of a page: the names of its members, hashes of pages, the signature
    parts: list[list[dict[str, Any]]] = [[]]
    size = 0
    for entry in entries:
        length = len(_canonical(entry)) + 1
        if size + length > room:
            parts.append([])
            size = 0
        parts[-1].append(entry)
        size += length
    return parts


def _document(data: bytes, name: str) -> dict[str, Any]:
    """The JSON object of a file, in its only form."""
    if len(data) > MAX_PAGE:
        raise invalid(f"{name} is larger than {MAX_PAGE >> 20} MiB")
    try:
        document = read_json(data, max_size=MAX_PAGE, max_depth=_MAX_DEPTH, floats=False)
        is_canonical = _canonical(document) == data
    except (ValueError, RecursionError, rfc8785.CanonicalizationError) as error:
        raise invalid(f"{name} is not JSON that can be signed: {str(error)[:200]}") from None
    if not is_canonical:
        raise invalid(f"{name} is not in the canonical form of JSON (RFC 8785)", hint="serve the file as it was made")
    if not isinstance(document, dict):
        raise invalid(f"{name} is not a JSON object")
    if document.get("schema_version") == 1:
        raise invalid(
            f"{name} is an index of version 1, which has no snapshot number and does not expire",
            hint="ask its owner to make it with `cortex-skills index build`",
        )
    return document


def _signed(document: dict[str, Any]) -> ArtifactSignature:
    if "signature" not in document or "index" not in document:
        raise badly_signed(f"{FIRST_PAGE} is not signed", hint="name the address of the first page of an index")
    try:
        signature = artifact_signature(document["signature"])
    except ArtifactError as error:
        raise badly_signed(f"{FIRST_PAGE}: {error.message}") from None
    if sha256(_canonical(document["index"])).hexdigest() != signature.payload_sha256:
        raise badly_signed(f"{FIRST_PAGE} has other contents than those that were signed")
    if not signature.is_valid():
        raise badly_signed(f"the signature of {FIRST_PAGE} was not made with the key that it names")
    return signature


def _checked(document: dict[str, Any], name: str) -> dict[str, Any]:
    """The member `index` of a document of the form."""
    from cortex_skills.features.artifacts.index.index_form import IndexDocument

    if found := check(IndexDocument, LocatedDocument(document)):
        raise problems(name, found)
    index: dict[str, Any] = document["index"]
    return index


def _problems_of_first(index: dict[str, Any], signature: ArtifactSignature) -> Iterator[Problem]:
    missing = [key for key in _SIGNED if key not in index]
    if missing:
        yield from (Problem(("index", key), "is missing") for key in missing)
        return
    if index["publisher"] != signature.publisher:
        yield Problem(("signature", "publisher"), f"is not {shown(index['publisher'])}, as in what is signed")
    if index["generated_at_unix_ms"] != signature.signed_at_unix_ms:
        yield Problem(("signature", "signed_at_unix_ms"), "is not generated_at_unix_ms, as in what is signed")
    if index["expires_at_unix_ms"] <= index["generated_at_unix_ms"]:
        yield Problem(("index", "expires_at_unix_ms"), "is not after generated_at_unix_ms")
    hashes = [page["sha256"] for page in index["pages"]]
    if len(set(hashes)) != len(hashes):
        yield Problem(("index", "pages"), "names a page twice")


def _entries(index: dict[str, Any], name: str) -> tuple[IndexEntry, ...]:
    found = [
        Problem((*path, "version"), f"{shown(entry['version'])} is not a version")
        for path, entry in _located(index)
        if not is_version(entry["version"])
    ]
    found += [
        Problem((*path, "skill_id"), f"does not start with {entry['publisher']} and a dot")
        for path, entry in _located(index)
        if not entry["skill_id"].startswith(f"{entry['publisher']}.")
    ]
    if found:
        raise problems(name, found[:100])
    return tuple(IndexEntry.of(entry) for entry in index["entries"])


def _located(index: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for position, entry in enumerate(index["entries"]):
        yield ("index", "entries", position), entry


def _canonical(document: Any) -> bytes:
    return rfc8785.dumps(document)
