"""`StrictLines`: the line ends that h11 accepts, restricted to those of RFC 9112.

Rules kept here:
- a line of a head or of a trailer ends with CRLF; a bare LF is refused (§2.2 lets a recipient accept it, and two
  recipients that differ read two different requests);
- a field line that is folded is refused (obs-fold, §5.2);
- the line before a chunk has at most `MAX_CHUNK_LINE` bytes with its extensions, and no bare CR (§7.1.1).

h11 has no setting for any of this. Its reader of lines is replaced as a whole, so nothing is parsed twice.
"""

from __future__ import annotations

import h11
from h11._receivebuffer import ReceiveBuffer

MAX_CHUNK_LINE = 256
_BLANK = len(b"\r\n")


class StrictLines(ReceiveBuffer):
    """Received bytes, of which h11 takes lines and data."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """The lines of a head or a trailer without their ends; None if the blank line is still missing.

        Raises:
            h11.RemoteProtocolError: a line ends with a bare LF, or is folded.
        """
        before = len(self)
        lines = super().maybe_extract_lines()
        if lines is None:
            return None
        if before - len(self) != sum(len(line) + len(b"\r\n") for line in lines) + _BLANK:
            raise h11.RemoteProtocolError("a line ends with a bare LF")
        if any(line.startswith((b" ", b"\t")) for line in lines):
            raise h11.RemoteProtocolError("a field line is folded")
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        """The line before a chunk, with its end; None if it is not complete.

        Raises:
            h11.RemoteProtocolError: it is too long, or contains a bare CR.
        """
        line = super().maybe_extract_next_line()
        if len(self if line is None else line) > MAX_CHUNK_LINE:
            raise h11.RemoteProtocolError("the line before a chunk is too long")
        if line is not None and b"\r" in line[:-2]:
            raise h11.RemoteProtocolError("the line before a chunk contains a bare CR")
        return line
