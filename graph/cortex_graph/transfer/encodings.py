"""Makes an untrusted file plain text in UTF-8, before it is checked and parsed.

Rules kept here:
- a file that is compressed by gzip is read, up to a number of bytes; any other compression is refused by its name;
- RDF/XML is read in the encoding of its byte order mark or its declaration (XML 1.0 §4.3.3), and rewritten in UTF-8.
  Only encodings of characters are known: a codec of Python may do anything else;
- a line of XML ends with a line feed, however the file writes it (XML 1.0 §2.11);
- any other format is UTF-8 (Turtle §6.1, N-Triples §3, RFC 8259 §8.1): UTF-16 and UTF-32 are refused as such;
- what is no valid text in its encoding is refused: no character is replaced.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cortex_graph.exceptions import InvalidArguments, invalid
from cortex_graph.transfer.formats import XML

NOT_UTF8 = "nothing was imported; if it is in another encoding: `iconv -f ENCODING -t UTF-8 FILE > NEW`, and import NEW"
HEAD = 4096  # bytes by which a file is recognised
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_OTHERS = {
    _GZIP: ("gzip twice", "gunzip -c FILE | gunzip"),
    b"BZh": ("bzip2", "bunzip2 -c FILE"),
    b"\xfd7zXZ\x00": ("xz", "xz -dc FILE"),
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd -dc FILE"),
    b"PK\x03\x04": ("zip", "unzip -p FILE"),
}
# By their beginnings; the longer mark is first, since that of UTF-16 begins it.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"<\x00": "utf-16-le",
    b"\x00<": "utf-16-be",
}
_DECLARATION = re.compile(r"""(<\?xml\s[^>]*?\bencoding\s*=\s*["'])([A-Za-z][A-Za-z0-9._\-]*)""")
_CHARACTERS = re.compile(
    r"ascii|utf-8|iso8859-\d+|cp125\d|koi8-[ru]|shift_jis|euc_(?:jp|kr)|gb2312|gbk|gb18030|big5|mac-roman"
)


def plain_file(file: Path, form: str, folder: Path, most: int, step: Callable[[], None]) -> Path:
    """Return a file with the same text in UTF-8, without compression: itself, or a new one.

    Args:
        file: the file.
        form: its format, a name in `FORMATS`.
        folder: for new files.
        most: how many bytes a new file may have.
        step: called regularly, as a sign of progress.

    Raises:
        InvalidArguments: it is damaged, too large, or in an encoding that cannot be read.
    """
    if first_bytes(file).startswith(_GZIP):
        file = _decompressed(file, folder / "decompressed", most, step)
    head = first_bytes(file)
    for mark, (name, command) in _OTHERS.items():
        if head.startswith(mark):
            hint = f"`{command} | cortex-skills graph import - --format {form}`"
            raise invalid("source", f"is compressed by {name}", hint=hint)
    encoding = encoding_of(head, form)
    return file if encoding is None else _decoded(file, encoding, folder / "decoded", most, step)


def with_line_feeds(file: Path, folder: Path, most: int, step: Callable[[], None]) -> Path:
    """Return a file of XML in UTF-8 whose lines end with line feeds: itself, or a new one; see `plain_file`."""
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            if b"\r" in chunk:
                return _decoded(file, "utf-8", folder / "lines", most, step)
    return file


def first_bytes(file: Path) -> bytes:
    """Return the first bytes of a file."""
    with file.open("rb") as opened:
        return opened.read(HEAD)


def encoding_of(head: bytes, form: str) -> str | None:
    """Return the encoding of a file by its first bytes; None for UTF-8.

    Raises:
        InvalidArguments: its format cannot be in that encoding.
    """
    marked = next((encoding for mark, encoding in _MARKS.items() if head.startswith(mark)), None)
    if marked is None and form != XML and head[1:2] == b"\x00":
        marked = "utf-16-le"
    if marked is not None and marked != "utf-8":
        if form == XML:
            return marked
        name = marked[:6].upper()
        hint = f"`iconv -f {name} -t UTF-8 FILE > NEW`, and import NEW"
        raise invalid("source", f"is encoded in {name}, and {form} is always UTF-8", hint=hint)
    found = _DECLARATION.match(head.removeprefix(codecs.BOM_UTF8).decode("latin-1")) if form == XML else None
    if found is None or found[2].lower() == "utf-8":
        return None
    try:
        known = codecs.lookup(found[2]).name
    except LookupError:
        known = ""
    if not _CHARACTERS.fullmatch(known):
        problem = f"declares the encoding {found[2]}, "
        if known.startswith(("utf-16", "utf-32")):
            raise invalid("source", f"{problem}and is not encoded so", hint="declare UTF-8, or remove the declaration")
        raise invalid("source", f"{problem}which is not known", hint="convert it to UTF-8 with `iconv`")
    return known


def _decompressed(file: Path, target: Path, most: int, step: Callable[[], None]) -> Path:
    import gzip
    import zlib

    try:
        with gzip.open(file) as source, _bounded(target, most) as write:
            while chunk := source.read(_CHUNK):
                write(chunk)
                step()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise invalid("source", f"is a damaged gzip file: {error}", hint="fetch or compress it again") from error
    return target


def _decoded(file: Path, encoding: str, target: Path, most: int, step: Callable[[], None]) -> Path:
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(), translate=True)
    lines = 1
    with file.open("rb") as source, _bounded(target, most) as write:
        is_first = is_last = False
        while not is_last:
            chunk = source.read(_CHUNK)
            is_first, is_last = source.tell() <= _CHUNK, not chunk
            try:
                text = decoder.decode(chunk, is_last)
            except UnicodeDecodeError as error:
                raise _undecodable(error, encoding, lines) from None
            lines += text.count("\n")
            if is_first:
                text = _DECLARATION.sub(_as_utf8, text.removeprefix("\ufeff"), count=1)
            write(text.encode())
            step()
    return target


def _as_utf8(found: re.Match[str]) -> str:
    return f"{found[1]}UTF-8"


def _undecodable(error: UnicodeDecodeError, encoding: str, lines: int) -> InvalidArguments:
    beginning = error.object[: error.start].decode(encoding, "replace")
    line = lines + beginning.count("\n")
    return InvalidArguments(
        f"`source` is not valid {encoding.upper()} at line {line}: {error.reason}",
        hint="nothing was imported; correct the encoding in its first line",
        details={"field": "source", "line": line},
    )


@contextmanager
def _bounded(target: Path, most: int) -> Iterator[Callable[[bytes], None]]:
    """Write a file of at most so many bytes."""
    with target.open("wb") as output:

        def write(data: bytes) -> None:
            if output.tell() + len(data) > most:
                raise invalid("source", "grows to far more than its size", hint="decompress it, and import it in parts")
            output.write(data)

        yield write
