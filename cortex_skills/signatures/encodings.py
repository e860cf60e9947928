"""Whether a file that is not the one that was signed holds its text, written in another way.

Rules kept here:
- for words alone: a file that was encoded anew is as little the one that was signed as any other;
- what cannot be read, or has more than 256 KiB, is not looked at;
- other ways to write a text: another encoding, a byte order mark, other line ends. They are tried until one has the
  hash that was signed.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from cortex_skills.reading import read_beside

_MAX_BYTES = 256 << 10
_NARROW = ("utf-8", "utf-8-sig", "cp1252")
_WIDE = ("utf-16", "utf-16-be", "utf-16-le")
_LINE_ENDS = ("\n", "\r\n", "\r")


def is_recoded(folder: Path, path: str, signed: str) -> bool:
    """Whether a file holds the text of the one that was signed in its place, whose SHA-256 is given."""
    data = read_beside(folder / path, _MAX_BYTES)
    if not data or len(data) > _MAX_BYTES:
        return False
    return any(sha256(other).hexdigest() == signed for other in _ways(data))


def _ways(data: bytes) -> Iterator[bytes]:
    """The ways to write the text that these bytes are, whatever their encoding is."""
    plausible = _WIDE if b"\0" in data else _NARROW
    for text in filter(None, (_decoded(data, encoding) for encoding in plausible)):
        lines = "\n".join(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\r"))
        for end in _LINE_ENDS:
            for encoding in (*_NARROW, *_WIDE):
                yield lines.replace("\n", end).encode(encoding, "replace")


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None
