"""Which index is accepted after the ones that were seen: against rollback and freeze (TUF 1.0, §1.5.2).

Rules kept here:
- an index is known by its address. The first one that is seen is accepted if its key is trusted, or any is on first
  use; from then on its address has one publisher and one key;
- rollback: a snapshot number below the highest one that was seen is refused;
- mix and match: the same number with other contents is refused; all pages belong to the snapshot of the first;
- a new key that is trusted starts again at any number, which also ends an attack that made the numbers too high;
- freeze: an index that has expired is refused, so nobody can serve an old state for longer than its owner allowed;
- a key that a person gives is trusted, and no other then; without one, the key of a publisher with which the trust
  store lists it. A listed publisher signs with its keys only, and a revoked key signs nothing, also if it was seen;
- nothing is read or written here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from cortex_graph.checks.datetimes import date_time
from cortex_skills.features.artifacts.index.index_document import FirstPage
from cortex_skills.features.artifacts.index.index_error import badly_signed, invalid
from cortex_skills.features.artifacts.package import ArtifactSignature
from cortex_skills.keys import did_of
from cortex_skills.safe_io.schemas import shown
from cortex_skills.signatures.named_keys import read_key
from cortex_skills.signatures.trust import Trust, changed_key

MAX_AHEAD_MS = 86_400_000  # how far the clock of its owner may be ahead: a day

KeyTrust = Callable[[ArtifactSignature], bool]


@dataclass(frozen=True, slots=True)
class SeenIndex:
    """The latest index that was accepted from an address.

    Attributes:
        url: the address of its first page.
        publisher: who signs it.
        key: the key, as a `did:key`.
        snapshot: the highest number.
        sha256: the hash of what was signed.
        expires_at_unix_ms: when it expires.
    """

    url: str
    publisher: str
    key: str
    snapshot: int
    sha256: str
    expires_at_unix_ms: int


def check_key(
    signature: ArtifactSignature, seen: SeenIndex | None, trusted: KeyTrust, *, first_use: bool = False
) -> None:
    """Check the key of an index, before its contents are read.

    Args:
        signature: of the first page; it is valid.
        seen: what was accepted from the same address; None for the first time.
        trusted: whether a key that was not seen is trusted; raises a `CortexError` for one that is refused.
        first_use: whether the first key of an address is trusted.

    Raises:
        CortexError: `signature_invalid`.
    """
    key = did_of(signature.public_key)
    if trusted(signature) or (seen is not None and (seen.publisher, seen.key) == (signature.publisher, key)):
        return
    if seen is None and first_use:
        return
    if seen is None:
        raise badly_signed(
            f"the index is signed by {shown(signature.publisher)} with {key}, which is not trusted here",
            hint=f"compare it with the key that its owner states, and give it with --index-key {key}",
        )
    raise badly_signed(
        f"the index was signed by {shown(seen.publisher)} with {seen.key}, and is now signed by "
        f"{shown(signature.publisher)} with {key}",
        hint=f"ask its owner; if the new key is right, give it with --index-key {key}",
    )


def accepted(url: str, page: FirstPage, seen: SeenIndex | None, now: datetime) -> SeenIndex:
    """What is remembered of an index that is accepted; its key was checked with `check_key`.

    Args:
        url: the address of its first page.
        page: the first page.
        seen: what was accepted before from the same address.
        now: the time, with its zone.

    Raises:
        CortexError: `index_invalid`: it has expired, or is older than or different from the one that was seen.
    """
    key = did_of(page.signature.public_key)
    if seen is not None and seen.key != key:
        seen = None
    now_ms = int(now.timestamp() * 1000)
    if page.expires_at_unix_ms <= now_ms:
        raise invalid(
            f"the index expired at {time_text(page.expires_at_unix_ms)}",
            hint="its owner makes a new one with `cortex-skills index build`; check the clock of this machine",
        )
    if page.generated_at_unix_ms > now_ms + MAX_AHEAD_MS:
        raise invalid(
            f"the index was made at {time_text(page.generated_at_unix_ms)}, which is in the future",
            hint="check the clock of this machine",
        )
    if seen is not None and page.snapshot < seen.snapshot:
        raise invalid(
            f"the index has snapshot {page.snapshot}, and snapshot {seen.snapshot} was seen before",
            hint="the server has an old copy: try again later, or ask its owner",
        )
    if seen is not None and page.snapshot == seen.snapshot and page.signature.payload_sha256 != seen.sha256:
        raise invalid(
            f"the index has other contents than the snapshot {page.snapshot} that was seen before",
            hint="its owner gives each change a new number: ask them, and install nothing until then",
        )
    sha256 = page.signature.payload_sha256
    return SeenIndex(url, page.publisher, key, page.snapshot, sha256, page.expires_at_unix_ms)


def time_text(unix_ms: int) -> str:
    """A time in milliseconds since 1970, as text."""
    try:
        return date_time(datetime.fromtimestamp(unix_ms / 1000, UTC))
    except (OverflowError, OSError, ValueError):
        return f"{unix_ms} ms after 1970"


def key_trust(trust: Trust, given: str | None = None) -> KeyTrust:
    """The check of a key for `fetch`.

    Args:
        trust: the state of the trust store.
        given: a key that a person gives, in a form of `read_key`; None for none.

    Raises:
        CortexError: `invalid_arguments`: what was given is no key.
    """
    wanted = read_key(given) if given is not None else None

    def trusted(signature: ArtifactSignature) -> bool:
        key = did_of(signature.public_key)
        trust.check_not_revoked(key, signature.publisher)
        if wanted is not None and key != wanted:
            raise badly_signed(f"the index is signed with {key}, not with the key that was given")
        if wanted is not None:
            return True
        known = trust.publishers.get(signature.publisher)
        if known is not None and key not in known.keys:
            raise changed_key(known, key)
        return known is not None

    return trusted
