"""`TopLevelMembers`: the members of the outermost object of a JSON text that is not parsed.

Rules kept here:
- the text comes in parts and is not kept, so it may be of any length; the time is linear, and nothing recurses;
- a member whose value is an object or an array counts as null, and so does one that is longer than `MAX_MEMBER` bytes
  or not JSON, so that it is known to be there; one that is not complete is left out;
- where not even the name of a member can be read, `is_whole` is false: it may be any;
- a name that is given twice has the value null;
- faults deeper in the text do not matter, so that the id of a message is found although it cannot be read.

>>> members = TopLevelMembers()
>>> members.feed(b'{"id": 7, "params": {"x": [NaN, "}')
>>> members.found
{'id': 7}
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

MAX_MEMBER = 1024
_OUTSIDE = re.compile(rb'["{}\[\],]')
_IN_STRING = re.compile(rb'["\\]')
# Below the outermost object: whole strings, and what is between them and brackets.
_NAME = re.compile(rb'\s*+("(?:[^"\\]|\\.)*+")\s*+(?::|\Z)')
_NO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)


class TopLevelMembers:
    """Finds the members while the text is fed.

    Attributes:
        found: the value of each member so far, by its name.
        is_complete: whether the object has ended, so that it has no other members.
        is_whole: whether the names of all members so far could be read.
    """

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self._depth = 0
        self.is_complete = False
        self.is_whole = True
        self._is_in_string = False
        self._is_escaped = False
        self._member = bytearray()

    def feed(self, data: bytes | bytearray) -> None:
        """Read the next part of the text."""
        place = 0
        while place < len(data) and not self.is_complete:
            if self._is_escaped:
                self._is_escaped = False
                place = self._keep(data, place, place + 1)
                continue
            if self._depth > 1 and not self._is_in_string and (run := _NO_BRACKET.match(data, place)):
                place = run.end()
            match = (_IN_STRING if self._is_in_string else _OUTSIDE).search(data, place)
            if match is None:
                self._keep(data, place, len(data))
                return
            place = self._keep(data, place, match.start())
            self._take(match[0])
            place += 1

    def _keep(self, data: bytes | bytearray, start: int, end: int) -> int:
        """Keep some text of a member, as far as it may still be one that counts; returns its end."""
        if self._depth == 1 and len(self._member) <= MAX_MEMBER:
            self._member += data[start : min(end, start + MAX_MEMBER + 1)]
        return end

    def _take(self, char: bytes) -> None:
        """A character that changes where the text is."""
        if self._is_in_string or char == b'"':
            self._keep(char, 0, 1)
            self._is_escaped = char == b"\\"
            self._is_in_string = self._is_in_string != (char == b'"')
        elif char in b"{[":
            self.is_complete = self._depth == 0 and char == b"["
            self._keep(b"null", 0, 4)
            self._depth += 1
        elif char in b"}]":
            self._depth -= 1
            if self._depth <= 0:
                self._end_member()
                self.is_complete = True
        elif self._depth == 1:
            self._end_member()

    def _end_member(self) -> None:
        text, self._member = self._member, bytearray()
        for name, value in self._read(text).items():
            self.found[name] = None if name in self.found else value

    def _read(self, text: bytearray) -> dict[str, Any]:
        """A member; one that cannot be read has the value null, or there is none if that is true of its name too."""
        if len(text) <= MAX_MEMBER:
            with suppress(ValueError):
                member: dict[str, Any] = json.loads(f"{{{text.decode()}}}")
                return member
        if name := _NAME.match(text):
            with suppress(ValueError):
                return {json.loads(name[1].decode()): None}
        self.is_whole = False
        return {}
