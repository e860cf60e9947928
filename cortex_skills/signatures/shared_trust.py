r"""What the hosts of one store trust together: one list of publishers and revoked keys, signed by their owner.

Rules kept here:
- the list is whole, and has a number: a host accepts the list that it has, and one with a higher number, and no other;
- the owner's key (`verification.owner`) signs it, with the graph that it is for. What is not signed by it is an error,
  and so is a list that is missing or older than the one that was accepted: a server can stop calls, and cannot trust a
  publisher, or take back a revocation;
- a revoked key stays in each later list (`following`);
- the text is strict JSON of at most one mebibyte.

What the owner signs: `cortex-shared-trust/1\0`, and the JSON of all members but `signature`, with sorted keys, without
blanks, in UTF-8.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from cortex_graph.checks.datetimes import date_time
from cortex_skills.errors import CortexError
from cortex_skills.keys import Key, public_of, verify
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.signatures.named_keys import read_key
from cortex_skills.signatures.trust import PUBLISHER_NAME, Publisher, RevokedKey, Trust

MAX_TEXT = 1 << 20
_FORMAT = "cortex-shared-trust/1"


@dataclass(frozen=True, slots=True)
class SharedTrust:
    """A list of the owner.

    Attributes:
        graph: the IRI of the graph that it is for.
        owner: the `did:key` of the owner.
        number: of the list, from 1.
        since: when it was signed, an `xsd:dateTime`.
        publishers: the keys of each publisher.
        revoked: the revoked keys.
    """

    graph: str
    owner: str
    number: int = 0
    since: str = ""
    publishers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    revoked: Mapping[str, RevokedKey] = field(default_factory=dict)

    def trust(self) -> Trust:
        """What it trusts and revokes."""
        publishers = {
            name: Publisher(name, keys[0], "listed", self.since, more=keys[1:])
            for name, keys in self.publishers.items()
        }
        return Trust(publishers, {}, self.revoked)

    def following(self, trust: Trust, now: datetime) -> SharedTrust:
        """The next list: the listed publishers of a state, and its revoked keys with those of this list."""
        publishers = {each.name: each.keys for each in trust.publishers.values() if each.how == "listed"}
        return replace(
            self,
            number=self.number + 1,
            since=date_time(now),
            publishers=publishers,
            revoked={**trust.revoked, **self.revoked},
        )

    def signed(self, key: Key) -> str:
        """The text of the list, signed with the owner's key."""
        document = self._document()
        return json.dumps({**document, "signature": key.sign(_message(document)).hex()}, ensure_ascii=False)

    def _document(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "graph": self.graph,
            "owner": self.owner,
            "number": self.number,
            "since": self.since,
            "publishers": {name: list(keys) for name, keys in self.publishers.items()},
            "revoked": {key: {"reason": each.reason, "since": each.since} for key, each in self.revoked.items()},
        }


def read_shared(text: str, owner: str, graph: str | None = None) -> SharedTrust:
    """Read a list, with its signature.

    Args:
        text: the list.
        owner: the `did:key` that must have signed it.
        graph: the graph that it must be for; None for any.

    Raises:
        CortexError: `signature_invalid`.
    """
    try:
        document = read_json(text, max_size=MAX_TEXT, max_depth=4, floats=False)
        signature = bytes.fromhex(document.pop("signature"))
        found = _read(document)
        is_valid = verify(public_of(owner), _message(document), signature)
    except (ValueError, KeyError, TypeError, AttributeError, CortexError) as error:
        raise refused(f"cannot be read: {str(error)[:100]}", "unreadable") from None
    if not is_valid or found.owner != owner:
        raise refused(f"was not signed by {owner}", "forged")
    if graph not in (None, found.graph):
        raise refused("is for another namespace", "forged")
    return found


def refused(problem: str, kind: Literal["missing", "older", "unreadable", "forged"]) -> CortexError:
    """The error for a shared list that is not accepted; `kind` is in its details, for programs."""
    return CortexError(
        "signature_invalid",
        f"what the hosts of this store trust {problem}",
        hint="find out who writes to the store; then the owner shares the list again: cortex-skills trust share",
        details={"sharedTrust": kind},
    )


def _read(document: Mapping[str, Any]) -> SharedTrust:
    if document["format"] != _FORMAT or type(document["number"]) is not int or document["number"] < 1:
        raise ValueError("it has another format")
    publishers = {name: tuple(map(read_key, keys)) for name, keys in document["publishers"].items()}
    if not all(PUBLISHER_NAME.fullmatch(name) and keys for name, keys in publishers.items()):
        raise ValueError("a publisher has no valid name or no key")
    revoked = {
        key: RevokedKey(read_key(key), str(each["reason"]), str(each["since"]))
        for key, each in document["revoked"].items()
    }
    graph, owner, since = (str(document[name]) for name in ("graph", "owner", "since"))
    return SharedTrust(graph, owner, document["number"], since, publishers, revoked)


def _message(document: Mapping[str, Any]) -> bytes:
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"{_FORMAT}\0{text}".encode()
