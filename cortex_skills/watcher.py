"""`Watcher`: says when something changed below the folders of skills.

Rules kept here:
- what it says is a hint: whoever is told looks at the folders, and decides by what they hold. A save that comes during
  a look is the reason for the next one;
- it is told of all folders once the watch stands, for what changed before;
- only folders that a skill can be loaded from are watched, each by itself: no hidden folder and no `node_modules`,
  whatever lies in there; and the folder above, so that a folder which is deleted and made again is seen;
- what editors leave beside a file while they write it is no change;
- where the system cannot watch (no watches left, a network folder), the folders are asked at intervals;
- the thread ends with `close`, or with the interpreter.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

log = logging.getLogger(__name__)

DEBOUNCE_MS = 100
_AGAIN_S = 1.0
_MAX_FOLDERS = 4096
_MAX_ENTRIES = 5000  # as many as the scanner reads
_MAX_DEPTH = 32
_MANIFEST = "SKILL.md"
_SKIPPED = frozenset({"node_modules", "4913"})  # the latter is how Vim asks whether it may write
_LEFT_BEHIND = ("~", ".swp", ".swx", ".tmp", ".bak")


class Watcher:
    """Watches folders on a thread of its own, which starts with the first of them.

    Args:
        changed: told of the paths that changed, or of None for whatever may have; on the thread of the watcher. What
            it raises is logged.
        debounce_ms: how long after a change `changed` is told of it and of what came with it, at most, in milliseconds.

    """

    def __init__(self, changed: Callable[[frozenset[str] | None], None], debounce_ms: int = DEBOUNCE_MS) -> None:
        self._changed = changed
        self._debounce_ms = max(2, debounce_ms)
        self._places: tuple[Path, ...] = ()
        self._stop = threading.Event()
        self._anew = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._polls = False

    def add(self, path: Path) -> None:
        """Watch a skill's folder, or a folder of skills, too."""
        place = path.absolute()
        with self._starting:
            if self._stop.is_set() or place in self._places:
                return
            self._places = (*self._places, place)
            self._anew.set()
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="cortex-watcher", daemon=True)
                thread.start()
                self._thread = thread  # not before: a signal may have ended the start
                # A thread that waits in native code must not be there any more when the interpreter ends.
                weakref.finalize(self, _end, self._stop, self._thread)

    @property
    def is_watching(self) -> bool:
        """Whether there is something that is watched."""
        return self._thread is not None and not self._stop.is_set()

    def stop(self) -> None:
        """Say no more; what is being told is told to the end."""
        self._stop.set()

    def close(self) -> None:
        """Stop, and wait until it has. Closing twice is fine."""
        self.stop()
        with self._starting:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def is_set(self) -> bool:
        """What the wait for events asks: whether to end it."""
        return self._stop.is_set() or self._anew.is_set()

    # --- the thread

    def _run(self) -> None:
        while not self._stop.is_set():
            self._anew.clear()
            try:
                self._watch(self._places)
            except Exception as error:
                self._stop.wait(self._pause_after(error))

    def _watch(self, places: tuple[Path, ...]) -> None:
        """Watch until there is something else to watch."""
        from watchfiles import watch

        library = logging.getLogger("watchfiles.main")
        if library.level == logging.NOTSET:  # it logs every event; a log in a watched folder would be one
            library.setLevel(logging.WARNING)
        folders = frozenset(watched_folders(places))
        tops = frozenset(top for place in places for top in (place, place.resolve()))
        events = watch(
            *sorted(folders),
            watch_filter=lambda _, path: is_relevant(path, tops),
            debounce=self._debounce_ms,
            step=self._debounce_ms // 2,  # a change is told after a whole step without another: one to two steps
            stop_event=self,
            rust_timeout=1,
            yield_on_timeout=True,  # at once, when the watch stands
            raise_interrupt=False,
            force_polling=True if self._polls else None,
            recursive=False,
            ignore_permission_denied=True,
        )
        stands = False
        try:
            for changes in events:
                if self._stop.is_set():
                    return
                if not stands:
                    stands = True
                    self._tell(None)
                    if frozenset(watched_folders(places)) != folders:  # one came while the watch was set up
                        return
                paths = frozenset(path for _, path in changes)
                if paths:
                    self._tell(paths)
                    if any(_is_of_folders(path, folders) for path in paths):
                        return
        finally:
            events.close()

    def _tell(self, paths: frozenset[str] | None) -> None:
        try:
            self._changed(paths)
        except Exception:
            if not self._stop.is_set():
                log.exception("what changed could not be looked at")

    def _pause_after(self, error: Exception) -> float:
        """Seconds to wait when the watch does not stand: folders went away just now, or the system has no more."""
        if isinstance(error, FileNotFoundError):
            return self._debounce_ms / 1000
        if not self._polls:
            log.warning("folders cannot be watched (%s): they are asked for changes at intervals instead", error)
            self._polls = True
            return 0
        log.warning("folders cannot be asked for changes (%s): trying again", error)
        return _AGAIN_S


def _end(stop: threading.Event, thread: threading.Thread) -> None:
    stop.set()
    if thread is not threading.current_thread():
        thread.join(_AGAIN_S)


def watched_folders(places: Iterable[Path]) -> Iterator[str]:
    """The folders to watch, each by itself, for changes in skills and folders of skills; a few thousand at most.

    What is not there is watched for by the nearest folder above it that is.
    """
    found = (folder for place in places for folder in _of_place(place))
    yield from islice(map(str, found), _MAX_FOLDERS)


def _of_place(place: Path) -> Iterator[Path]:
    yield next((parent for parent in place.parents if parent.is_dir()), place)
    if not place.is_dir():
        return
    yield place
    if _holds_skill(place):
        yield from _below(place)
        return
    for folder in _inside(place):
        yield folder
        if _holds_skill(folder):
            yield from _below(folder)


def _below(folder: Path, depth: int = 0) -> Iterator[Path]:
    if depth < _MAX_DEPTH:
        for inside in _inside(folder):
            yield inside
            yield from _below(inside, depth + 1)


def _inside(folder: Path) -> Iterator[Path]:
    """The folders directly in a folder, without those that no skill is loaded from."""
    try:
        with os.scandir(folder) as listing:
            names = [entry.name for entry in islice(listing, _MAX_ENTRIES) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    yield from (folder / name for name in sorted(names) if not _is_skipped(name))


def _holds_skill(folder: Path) -> bool:
    return (folder / _MANIFEST).exists()


def is_relevant(path: str, tops: Iterable[Path]) -> bool:
    """Whether a path is one of `tops`, above one, or in one and may be part of a skill."""
    changed = Path(path)
    for top in tops:
        if top.is_relative_to(changed):
            return True
        if changed.is_relative_to(top):
            return not any(map(_is_skipped, changed.relative_to(top).parts))
    return False


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED or name.endswith(_LEFT_BEHIND)


def _is_of_folders(path: str, folders: frozenset[str]) -> bool:
    """Whether a change of this path may be one of what has to be watched."""
    return path in folders or Path(path).is_dir() or Path(path).name == _MANIFEST
