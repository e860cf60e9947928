"""What the processes of the soak were told: which keys must be in the store, and which must not.

Rules kept here:
- a key is the subject of some triples that are written together, so all or none of them are there;
- a change that was begun and not acknowledged leaves a key open: it may be there or not;
- what was acknowledged before a backup began, and was not changed until it was complete, is in the backup.
"""

from __future__ import annotations

from collections.abc import Mapping

SINGLE, BATCH, FILE = 1, 20, 200  # triples that are written together
_WHOLE = frozenset({SINGLE, BATCH, FILE})
_OPEN = -1  # in place of the number of triples


class Ledger:
    """The keys, and what is known of them."""

    def __init__(self, sizes: Mapping[str, int] | None = None) -> None:
        self._sizes: dict[str, int] = dict(sizes or {})
        self._backups: dict[str, dict[str, int]] = {}

    def copy(self) -> Ledger:
        """Return another ledger with the same keys."""
        return Ledger(self._sizes)

    def begin(self, key: str) -> None:
        """A change of a key begins."""
        self._sizes[key] = _OPEN
        for backup in self._backups.values():
            if key in backup:
                backup[key] = _OPEN

    def there(self, key: str, size: int) -> None:
        """A key was acknowledged as written, with its number of triples; 0 as removed."""
        self._sizes[key] = size

    def begin_backup(self, name: str) -> None:
        """A backup begins."""
        self._backups[name] = dict(self._sizes)

    def take_backup(self, name: str) -> Ledger | None:
        """Return what a complete backup must contain."""
        sizes = self._backups.pop(name, None)
        return None if sizes is None else Ledger(sizes)

    def acknowledged(self) -> int:
        """Return how many triples must be there."""
        return sum(size for size in self._sizes.values() if size > 0)

    def differences(self, found: Mapping[str, int]) -> list[str]:
        """Compare with the number of triples of each key that was found, and accept what was found from now on."""
        wrong = [
            f"{key}: {found.get(key, 0)} of {size} triples" if size else f"{key}: {found[key]} removed triples are back"
            for key, size in self._sizes.items()
            if size != _OPEN and found.get(key, 0) != size
        ]
        wrong += [
            f"{key}: {count} triples, a part of an unfinished change"
            for key, count in found.items()
            if self._sizes.get(key, _OPEN) == _OPEN and count not in _WHOLE
        ]
        self._sizes = dict.fromkeys(self._sizes, 0) | dict(found)
        return wrong
