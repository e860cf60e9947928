"""The trust store: publishers, revoked keys and seen versions in a file, in which changes by others are detected.

Rules kept here:
- the file has an HMAC-SHA-256 of its content. The key is in the user's configuration folder, and is created with the
  store;
- a write counter is stored with the key, by the path of the store: a missing store, an older copy of it, or one that
  was moved or copied here is an error, not an empty store. The owner may adopt it as it is, with all that is in it;
- it is read and checked again when the file system records a change of one of the two files that is not a change of
  this object, and not before;
- the store is changed under a lock, and each change is atomic (`private_files`). On a read-only file system, such as a
  container image, it is read without a lock;
- version 2 of the format is written; version 1, which has no revoked keys, is read;
- publishers and revoked keys of the configuration (`verification.publishers`, `.revoked`), and those that the owner of
  the fleet shares (`shared_trust`), are trusted and revoked as those of the file, and are never written to it. A
  publisher of the configuration is changed there, and a shared one by its owner.
"""

from __future__ import annotations

import errno
import hmac
import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.private_files import NotPrivateError, locked, read_private, stamp_of, write_private
from cortex_skills.signatures.named_keys import read_key
from cortex_skills.signatures.shared_trust import MAX_TEXT, SharedTrust, read_shared, refused
from cortex_skills.signatures.trust import Publisher, RevokedKey, Seen, Trust

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config

_VERSION = 2
_READ_VERSIONS = (1, 2)
_MAX_BYTES = 4 << 20
_KEY_BYTES = 32
_NOT_WRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_DOMAIN = b"cortex-trust-store/1\0"

_values = attrgetter(*Seen.__slots__)  # in a tenth of the time of `asdict`: there may be thousands
_State = tuple[Trust, int, bytes, dict[str, int]]


def default_file() -> Path:
    """`trust.json` in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False) / "trust.json"


def default_key_file() -> Path:
    """`trust.key` in the user's configuration folder."""
    from platformdirs import user_config_path

    return user_config_path("cortex-skills", appauthor=False) / "trust.key"


def trust_of(config: Config) -> TrustFile:
    """The trust store of this installation."""
    verification = config.verification
    given = verification.trust_store
    return TrustFile(
        Path(given) if given else default_file(),
        default_key_file(),
        configured=_configured(verification.publishers, verification.revoked),
        owner=verification.owner,
    )


@dataclass(frozen=True, slots=True)
class MovedTrust:
    """A trust store that is not the one that was written last at its path.

    Attributes:
        count: how many changes it has had.
        written: how many the store had that was at its path; 0 for none.
        others: the paths of stores of the same key that had as many.
        publishers: the names of those that it trusts.
        revoked: the keys that it revokes.
    """

    count: int
    written: int
    others: tuple[str, ...]
    publishers: tuple[str, ...]
    revoked: tuple[str, ...]

    def words(self) -> str:
        """What differs, in a sentence."""
        if self.written > self.count:
            what = f"it is an older copy: {self.written - self.count} changes that were made here since are not in it"
        elif self.written:
            what = f"it has {self.count - self.written} changes that were made elsewhere"
        else:
            what = f"it was moved or copied from {', '.join(self.others) or 'another place'}"
        revoked = f", {len(self.revoked)} revoked keys" if self.revoked else ""
        return f"{what}; it has {len(self.publishers)} publishers ({', '.join(self.publishers) or 'none'}){revoked}"


class TrustFile:
    """The trust store in a file; without a file, no publisher is trusted.

    Args:
        path: the file.
        key_path: the file of the HMAC key, in another folder.
        configured: the publishers and revoked keys of the configuration.
        owner: the `did:key` whose shared list is accepted; empty for none.
    """

    def __init__(self, path: Path, key_path: Path, *, configured: Trust | None = None, owner: str = "") -> None:
        self.path = path.absolute()
        self.key_path = key_path.absolute()
        self.shared_path = self.path.with_name(f"{self.path.name}.shared")  # private as the file is
        self.owner = owner
        self._configured = configured or Trust()
        self._kept: tuple[object, _State] | None = None  # as it was read, with the stamp of the files then
        self._whole: tuple[object, Trust] | None = None  # the same with what is configured and shared
        self._shared: tuple[object, SharedTrust | None] | None = None

    def trust(self) -> Trust:
        """Read the store; its files are not read again while the file system records no change of them.

        Raises:
            CortexError: `config_invalid`: the store is missing, was changed by another program, or cannot be read.
        """
        stamp, whole = self.stamp(), self._whole
        if whole is not None and whole[0] == stamp:
            return whole[1]
        found = self._with_others(self.own())
        self._whole = (stamp, found)
        return found

    def moved(self) -> MovedTrust | None:
        """What differs if the store was moved or copied here, or is an older copy of itself; None if it is in order.

        Raises:
            CortexError: `config_invalid`: it is missing, damaged, was changed by another program, or cannot be read.
        """
        with self._reported():
            if not self.path.exists() and not self.key_path.exists():
                return None
            key, counts = self._read_key()
            return self._moved(*self._parsed(key, counts.get(str(self.path), 0)), counts)

    def adopt(self) -> None:
        """Use a store that was moved or copied here, or is an older copy of itself, as it is from now on.

        Raises:
            CortexError: as for `moved`, or it cannot be written.
        """
        with self._reported(), locked(self.key_path), locked(self.path):
            key, counts = self._read_key()
            trust, count = self._parsed(key, counts.get(str(self.path), 0))
            if self._moved(trust, count, counts) is not None:
                self._write_key(key, {**counts, str(self.path): count})

    def _moved(self, trust: Trust, count: int, counts: Mapping[str, int]) -> MovedTrust | None:
        written = counts.get(str(self.path), 0)
        # One more than the stored counter: a write that was interrupted between the two files.
        if count in (written, written + 1):
            return None
        others = tuple(sorted(path for path, known in counts.items() if known == count and path != str(self.path)))
        return MovedTrust(count, written, others, tuple(sorted(trust.publishers)), tuple(sorted(trust.revoked)))

    def own(self) -> Trust:
        """Read what is in the file, without what is configured and shared. Raises what `trust` does."""
        kept = self._kept
        if kept is not None and kept[0] == self._own_stamp():
            return kept[1][0]
        with self._reported():
            if not self.path.exists() and not self.key_path.exists():
                return Trust()
        return self._change(lambda own: own)

    def stamp(self) -> tuple[tuple[int, ...] | None, ...]:
        """The state of its files, which differs after each change, as the file system records it."""
        return (*self._own_stamp(), self.shared_stamp()) if self.owner else self._own_stamp()

    def change(self, change: Callable[[Trust], Trust]) -> Trust:
        """Change the store atomically; returns the new state.

        Args:
            change: the new state of the present one, with what is configured and shared.

        Raises:
            CortexError: `config_invalid`, as for `trust`, or when the store cannot be written; `state_conflict`: it
                changes a publisher that is configured, or that is shared and not in the file too. What is in both is
                changed in the file, for the next list.
        """
        found: list[Trust] = []

        def change_own(own: Trust) -> Trust:
            found.append(change(self._with_others(own)))
            return self._without_others(found[-1], own)

        self._change(change_own)
        return found[-1]

    def shared(self) -> SharedTrust | None:
        """The list of the owner that was accepted last; None without one.

        Raises:
            CortexError: `config_invalid`: the file cannot be read, or is not of this owner.
        """
        stamp = self.shared_stamp()
        if self._shared is None or self._shared[0] != stamp:
            found = None
            if stamp is not None:
                try:
                    found = read_shared(read_private(self.shared_path, MAX_TEXT).decode(), self.owner)
                except (OSError, NotPrivateError, UnicodeDecodeError, CortexError) as error:
                    hint = "`cortex-skills doctor --adopt` shows what it is, keeps its revoked keys, and removes it"
                    raise self._refused(f"has an unusable {self.shared_path.name}: {error}", hint) from None
            self._shared = (stamp, found)
        return self._shared[1]

    def unusable_list(self) -> str:
        """What is wrong with the kept list of the owner, in a sentence: it is that of another owner, or damaged.

        Empty if it is in order, or there is none.
        """
        if not self.owner or self.shared_stamp() is None:
            return ""
        try:
            self.shared()
        except CortexError:
            found = self._list_of_any_owner()
            if found is None:
                return f"{self.shared_path.name} is damaged, and is removed"
            return (
                f"{self.shared_path.name} is list {found.number} of {found.owner}, and the owner is {self.owner}; "
                f"it is removed, and its {len(found.revoked)} revoked keys stay revoked here"
            )
        return ""

    def remove_unusable_list(self) -> None:
        """Remove a kept list of another owner, or a damaged one; the keys that it revokes are revoked here.

        Raises:
            CortexError: `config_invalid`: the trust store cannot be used or written.
        """
        if not self.unusable_list():
            return
        found = self._list_of_any_owner()

        def with_its_revoked(own: Trust) -> Trust:
            return replace(own, revoked={**({} if found is None else found.revoked), **own.revoked})

        self._change(with_its_revoked)
        with self._reported():
            self.shared_path.unlink(missing_ok=True)

    def _list_of_any_owner(self) -> SharedTrust | None:
        try:
            text = read_private(self.shared_path, MAX_TEXT).decode()
            return read_shared(text, str(json.loads(text)["owner"]))
        except (OSError, NotPrivateError, ValueError, KeyError, TypeError, RecursionError, CortexError):
            return None

    def shared_stamp(self) -> tuple[int, ...] | None:
        """The state of the file of the shared list; None without one."""
        return stamp_of(self.shared_path)

    def accept(self, shared: SharedTrust, text: str) -> None:
        """Keep a list of the owner, which was verified.

        Args:
            shared: the list.
            text: the same, as it was signed.

        Raises:
            CortexError: `signature_invalid`: it is older than the one that was accepted; `config_invalid`.
        """
        with self._reported(), locked(self.path):
            kept = self.shared()
            if kept is not None and kept != shared and shared.number <= kept.number:
                before = f"list {kept.number} was accepted here before"
                is_other = shared.number == kept.number
                raise refused(f"is {'another ' * is_other}list {shared.number} in the store, and {before}", "older")
            if kept != shared:
                write_private(self.shared_path, text.encode())

    def _with_others(self, own: Trust) -> Trust:
        shared = self.shared() if self.owner else None
        found = own
        for each in (shared.trust() if shared is not None else Trust(), self._configured):
            publishers, revoked = {**found.publishers, **each.publishers}, {**each.revoked, **found.revoked}
            found = replace(found, publishers=publishers, revoked=revoked)
        return found

    def _without_others(self, new: Trust, own: Trust) -> Trust:
        """The part of a new state that is written to the file; `own` is what is there now."""
        others = self._with_others(Trust())
        publishers = dict(new.publishers)
        for name, publisher in others.publishers.items():
            if new.publishers.get(name) == publisher:
                publishers.pop(name)
                if name in own.publishers:
                    publishers[name] = own.publishers[name]
            elif name in self._configured.publishers or name not in own.publishers:
                raise CortexError(
                    "state_conflict",
                    f"{name} is trusted by the configuration, or by the owner of this store for all hosts",
                    hint="change verification.publishers, or share another list: cortex-skills trust share",
                )
        revoked = {key: each for key, each in new.revoked.items() if key in own.revoked or key not in others.revoked}
        return replace(new, publishers=publishers, revoked=revoked)

    def _own_stamp(self) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
        return stamp_of(self.path), stamp_of(self.key_path)

    def _change(self, change: Callable[[Trust], Trust]) -> Trust:
        with self._reported():
            try:
                with locked(self.key_path), locked(self.path):
                    return self._changed(change)
            except OSError as error:
                if error.errno not in _NOT_WRITABLE:
                    raise
                old, _, _, _ = self._state()
                new = change(old)
                if new != old:
                    raise
                return new

    def _changed(self, change: Callable[[Trust], Trust]) -> Trust:
        old, count, key, counts = self._state()
        new = change(old)
        if new != old:
            if not counts:  # the key first, so that a store always has one
                self._write_key(key, counts)
            write_private(self.path, _sealed(new, count + 1, key))
            counts = {**counts, str(self.path): count + 1}
            self._write_key(key, counts)
            self._kept = (self._own_stamp(), (new, count + 1, key, counts))
        return new

    def _state(self) -> _State:
        """The state, its write counter, the key, and the counters of all stores of the key."""
        stamp, kept = self._own_stamp(), self._kept
        if kept is not None and kept[0] == stamp:
            return kept[1]
        key, counts = self._read_key()
        state = *self._read(key, counts), key, counts
        if None not in stamp and self._own_stamp() == stamp:
            self._kept = (stamp, state)
        return state

    def _read(self, key: bytes, counts: Mapping[str, int]) -> tuple[Trust, int]:
        """The state and its write counter, which must be the one that was stored."""
        trust, count = self._parsed(key, counts.get(str(self.path), 0))
        if (moved := self._moved(trust, count, counts)) is not None:
            problem = "is an older copy of itself" if moved.written else "was moved or copied here"
            raise self._refused(problem, "`cortex-skills doctor --adopt` shows what differs, and keeps what is in it")
        return trust, count

    def _parsed(self, key: bytes, written: int) -> tuple[Trust, int]:
        """The state and its write counter, as they are in the file; 0 if there is none and none was written."""
        try:
            data = read_private(self.path, _MAX_BYTES)
        except FileNotFoundError:
            if written:
                raise self._refused("is missing, and existed before", _restore(self.key_path)) from None
            return Trust(), 0
        except NotPrivateError as error:
            raise self._refused(error.problem, error.hint) from None
        try:
            document = json.loads(data)
            given = document.pop("mac")
            if not hmac.compare_digest(str(given).encode(), _mac(_content(document), key).encode()):
                raise self._refused("was changed by another program", _restore(self.key_path))
            if document["version"] not in _READ_VERSIONS:
                raise self._refused("has another format", "use the version of this software that wrote it")
            trust = Trust(
                {entry["name"]: _publisher(entry) for entry in document["publishers"]},
                {entry["skill"]: Seen(**entry) for entry in document["seen"]},
                {entry["key"]: RevokedKey(**entry) for entry in document.get("revoked", ())},
            )
            count = int(document["count"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise self._refused("is damaged", _restore(self.key_path)) from None
        return trust, count

    def _read_key(self) -> tuple[bytes, dict[str, int]]:
        try:
            document = json.loads(read_private(self.key_path, _MAX_BYTES))
            key, counts = bytes.fromhex(document["key"]), dict(document["stores"])
            if len(key) == _KEY_BYTES and all(type(count) is int for count in counts.values()):
                return key, counts
        except FileNotFoundError:
            if self.path.exists():
                hint = f"copy it from where the store was; or {_restore(self.key_path)}"
                raise self._refused(f"cannot be checked: its key {self.key_path} is missing", hint) from None
            return secrets.token_bytes(_KEY_BYTES), {}
        except NotPrivateError as error:
            raise self._refused(f"cannot be checked: {self.key_path} {error.problem}", error.hint) from None
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        raise self._refused(f"cannot be checked: its key {self.key_path} is damaged", _restore(self.key_path))

    def _write_key(self, key: bytes, counts: dict[str, int]) -> None:
        write_private(self.key_path, json.dumps({"key": key.hex(), "stores": counts}).encode())

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Report an error of a file as a `CortexError`."""
        try:
            yield
        except OSError as error:
            raise self._refused(f"cannot be used: {error.strerror}", "check its owner and its mode") from error

    def _refused(self, problem: str, hint: str) -> CortexError:
        return CortexError("config_invalid", f"the trust store {self.path} {problem}", hint=hint)


def _configured(publishers: Mapping[str, str], revoked: Sequence[str]) -> Trust:
    """What the configuration trusts and revokes.

    Raises:
        CortexError: `config_invalid`: a key is none.
    """
    since = "the configuration"
    try:
        return Trust(
            {name: Publisher(name, read_key(key), "listed", since) for name, key in publishers.items()},
            {},
            {did: RevokedKey(did, "", since) for did in map(read_key, revoked)},
        )
    except CortexError as error:
        raise CortexError("config_invalid", f"verification: {error.message}", hint=error.hint) from None


def _sealed(trust: Trust, count: int, key: bytes) -> bytes:
    document = {
        "version": _VERSION,
        "count": count,
        "publishers": [asdict(publisher) for publisher in trust.publishers.values()],
        "seen": [dict(zip(Seen.__slots__, _values(seen), strict=True)) for seen in trust.seen.values()],
        "revoked": [asdict(revoked) for revoked in trust.revoked.values()],
    }
    content = _content(document)  # written once, as it may have thousands of lines
    return content[:-1] + f',"mac":"{_mac(content, key)}"}}'.encode()


def _publisher(entry: dict[str, Any]) -> Publisher:
    more, former = tuple(entry.pop("more", ())), tuple(entry.pop("former", ()))
    return Publisher(**entry, more=more, former=former)


def _content(document: dict[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _mac(content: bytes, key: bytes) -> str:
    return hmac.digest(key, _DOMAIN + content, "sha256").hex()


def _restore(key_path: Path) -> str:
    return f"restore a copy; or remove it and {key_path} to start with no trusted publishers"
