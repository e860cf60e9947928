"""The trust store of Palyra, the origin of the artifact format, as JSON: read into ours, and written from ours.

Rules kept here:
- it has listed publishers with their keys, and publishers that were pinned on first use with one key, in hexadecimal;
  unknown members are refused, as there;
- an import adds; it changes no publisher that is known with other keys, and nothing is added if one is refused;
- it has no revoked keys: an export leaves them out, with the publishers that have no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.keys import public_of
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.signatures.named_keys import read_key
from cortex_skills.signatures.trust import PUBLISHER_NAME, How, Publisher, Trust

MAX_STORE = 1 << 20

_LISTED, _PINNED = "trusted_publishers", "tofu_publishers"


def read_origin_store(data: bytes, since: str) -> list[Publisher]:
    """The publishers in a trust store of the origin; a listed one is not also pinned.

    Args:
        data: the file.
        since: the time of the import, as `xsd:dateTime`.

    Raises:
        CortexError: `invalid_arguments`: it is not such a store.
    """
    try:
        document = read_json(data, max_size=MAX_STORE, max_depth=3, floats=False)
    except ValueError as error:
        raise _refused(f"it is not JSON: {error}") from None
    if not isinstance(document, dict) or document.keys() - {_LISTED, _PINNED}:
        raise _refused(f"it has not exactly {_LISTED} and {_PINNED}")
    listed, pinned = (document.get(name, {}) for name in (_LISTED, _PINNED))
    if not isinstance(listed, dict) or not isinstance(pinned, dict):
        raise _refused(f"{_LISTED} or {_PINNED} is not an object")
    found = [_publisher(name, keys, "listed", since) for name, keys in listed.items()]
    return found + [_publisher(name, [key], "first use", since) for name, key in pinned.items() if name not in listed]


def with_imported(trust: Trust, publishers: Iterable[Publisher]) -> Trust:
    """A state with imported publishers.

    Raises:
        CortexError: `signature_invalid`: a publisher is known with other keys, or a key is revoked.
    """
    for publisher in publishers:
        trust = trust.with_publisher(publisher)
    return trust


def origin_store(trust: Trust) -> bytes:
    """The state as a trust store of the origin."""
    listed, pinned = {}, {}
    for name, publisher in sorted(trust.publishers.items()):
        keys = sorted(public_of(key).hex() for key in publisher.keys if key not in trust.revoked)
        if keys and publisher.how == "listed":
            listed[name] = keys
        elif keys:
            pinned[name] = keys[0]
    return json.dumps({_LISTED: listed, _PINNED: pinned}, indent=2).encode()


def _publisher(name: str, keys: Any, how: How, since: str) -> Publisher:
    if not PUBLISHER_NAME.fullmatch(name):
        raise _refused(f"{shown(name)} is not a name of a publisher")
    if not isinstance(keys, list) or not keys or any(not isinstance(key, str) for key in keys):
        raise _refused(f"{name} has no list of keys")
    first, *more = dict.fromkeys(read_key(key) for key in keys)
    return Publisher(name, first, how, since, more=tuple(more))


def _refused(problem: str) -> CortexError:
    hint = "give the trust store of Palyra, or what `cortex-skills trust export` writes"
    return CortexError("invalid_arguments", f"the trust store cannot be imported: {problem}", hint=hint)
