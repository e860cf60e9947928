"""What a module was granted, and the handles that name it in the guest.

Rules kept here:
- the handle of a grant is the base of its kind plus its index in the sorted grants without duplicates, so that the
  same grants give the same handles;
- a handle or an index that is out of range names nothing: -1 for the guest, None for the host.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType

BASES = MappingProxyType({"http": 10_000, "secret": 20_000, "storage": 30_000, "channel": 40_000})
_MOST = 10_000  # between two bases


@dataclass(frozen=True, slots=True)
class Grants:
    """The granted hosts, secrets, storage prefixes and channels.

    Args:
        http: hosts that requests may be sent to.
        secret: names of secrets (`scope/key`).
        storage: prefixes of storage keys.
        channel: names of channels.

    Raises:
        ValueError: for more than 10,000 of one kind.
    """

    http: Iterable[str] = ()
    secret: Iterable[str] = ()
    storage: Iterable[str] = ()
    channel: Iterable[str] = ()

    def __post_init__(self) -> None:
        for kind in BASES:
            names = tuple(sorted(set(getattr(self, kind))))
            if len(names) > _MOST:
                raise ValueError(f"at most {_MOST} {kind} grants are possible")
            object.__setattr__(self, kind, names)

    def of(self, kind: str) -> tuple[str, ...]:
        """The grants of a kind, in the order of their handles."""
        return tuple(getattr(self, kind))

    def handle(self, kind: str, index: int) -> int:
        """The handle of a grant; -1 for an index that is out of range."""
        return BASES[kind] + index if 0 <= index < len(self.of(kind)) else -1

    def granted(self, kind: str, handle: int) -> str | None:
        """The grant behind a handle; None when there is none."""
        index = handle - BASES[kind]
        return self.of(kind)[index] if 0 <= index < len(self.of(kind)) else None
