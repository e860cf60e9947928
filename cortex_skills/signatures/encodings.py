"""Whether a changed file has the signed text in another encoding.

Rules kept here:
- the result only improves the message: a recoded file is as invalid as any other changed file;
- a file that cannot be read, or has more than 256 KiB, is not examined;
- the text is written in other encodings, with and without a byte order mark, and with other line ends, until one form
  has the signed hash.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from cortex_skills.skill_folder.snapshot import read_beside

_MAX_BYTES = 256 << 10
_NARROW = ("utf-8", "utf-8-sig", "cp1252")
_WIDE = ("utf-16", "utf-16-be", "utf-16-le")
_LINE_ENDS = ("\n", "\r\n", "\r")


def is_recoded(folder: Path, path: str, signed: str) -> bool:
    """Whether a file has the text of the signed file with the given SHA-256."""
    data = read_beside(folder / path, _MAX_BYTES)
    if not data or len(data) > _MAX_BYTES:
        return False
    return any(sha256(other).hexdigest() == signed for other in _forms(data))


def _forms(data: bytes) -> Iterator[bytes]:
    """All forms of the text of these bytes."""
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
