"""`Watcher`: reports changes below the folders of skills.

Rules kept here:
- a report is a hint: the callback checks the folders and decides by their contents. A save during a check leads to
  another report;
- once the watch is set up, one report covers all folders, for changes before that;
- only folders that a skill can be loaded from are watched, each one separately: no hidden folder and no `node_modules`;
  and the parent folder, so that a folder which is deleted and created again is noticed;
- temporary files that editors write are ignored;
- where the system cannot watch (no watches left, a network folder), the folders are polled;
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

from cortex_skills.safe_io.outside_file import PACKAGES

log = logging.getLogger(__name__)

DEBOUNCE_MS = 100
_AGAIN_S = 1.0
_MAX_FOLDERS = 4096
_MAX_ENTRIES = 5000  # as many as the scanner reads
_MAX_DEPTH = 32
_MANIFEST = "SKILL.md"
_SKIPPED = PACKAGES | {"4913"}  # Vim creates a file named 4913 to test whether it may write
_TEMPORARY = ("~", ".swp", ".swx", ".tmp", ".bak")


class Watcher:
    """Watches folders on its own thread, which starts with the first folder.

    Args:
        changed: called with the paths that changed, or with None when anything may have changed, on the watcher's
            thread. Its exceptions are logged.
        debounce_ms: the longest time between a change and the call of `changed`, in milliseconds; changes that follow
            within that time are reported together.
    """

    def __init__(self, changed: Callable[[frozenset[str] | None], None], debounce_ms: int = DEBOUNCE_MS) -> None:
        self._changed = changed
        self._debounce_ms = max(2, debounce_ms)
        self._places: tuple[Path, ...] = ()
        self._stop = threading.Event()
        self._restart = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._polls = False

    def add(self, path: Path) -> None:
        """Also watch a skill's folder, or a folder of skills."""
        place = path.absolute()
        with self._starting:
            if self._stop.is_set() or place in self._places:
                return
            self._places = (*self._places, place)
            self._restart.set()
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="cortex-watcher", daemon=True)
                thread.start()
                self._thread = thread  # only now: a signal may have interrupted the start
                # A thread that waits in native code must have ended when the interpreter ends.
                weakref.finalize(self, _end, self._stop, self._thread)

    @property
    def is_watching(self) -> bool:
        """Whether any folder is watched."""
        return self._thread is not None and not self._stop.is_set()

    def stop(self) -> None:
        """Stop reporting; a report in progress is completed."""
        self._stop.set()

    def close(self) -> None:
        """Stop, and wait for the thread. Closing twice has no effect."""
        self.stop()
        with self._starting:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def is_set(self) -> bool:
        """Whether to stop waiting for events; `watchfiles` calls it."""
        return self._stop.is_set() or self._restart.is_set()

    # --- the thread

    def _run(self) -> None:
        while not self._stop.is_set():
            self._restart.clear()
            try:
                self._watch(self._places)
            except Exception as error:
                self._stop.wait(self._pause_after(error))

    def _watch(self, places: tuple[Path, ...]) -> None:
        """Watch these places until the set of folders changes."""
        from watchfiles import watch

        library = logging.getLogger("watchfiles.main")
        if library.level == logging.NOTSET:  # it logs every event, and a log file may be in a watched folder
            library.setLevel(logging.WARNING)
        folders = frozenset(watched_folders(places))
        tops = frozenset(top for place in places for top in (place, place.resolve()))
        events = watch(
            *sorted(folders),
            watch_filter=lambda _, path: is_relevant(path, tops),
            debounce=self._debounce_ms,
            step=self._debounce_ms // 2,  # a change is reported after a step without another: after one to two steps
            stop_event=self,
            rust_timeout=1,
            yield_on_timeout=True,  # at once, when the watch is set up
            raise_interrupt=False,
            force_polling=True if self._polls else None,
            recursive=False,
            ignore_permission_denied=True,
        )
        is_set_up = False
        try:
            for changes in events:
                if self._stop.is_set():
                    return
                if not is_set_up:
                    is_set_up = True
                    self._report(None)
                    if frozenset(watched_folders(places)) != folders:  # one was added while the watch was set up
                        return
                paths = frozenset(path for _, path in changes)
                if paths:
                    self._report(paths)
                    if any(_is_of_folders(path, folders) for path in paths):
                        return
        finally:
            events.close()

    def _report(self, paths: frozenset[str] | None) -> None:
        try:
            self._changed(paths)
        except Exception:
            if not self._stop.is_set():
                log.exception("changed folders could not be checked")

    def _pause_after(self, error: Exception) -> float:
        """Seconds to wait after the watch failed: folders were just removed, or the system has no watches left."""
        if isinstance(error, FileNotFoundError):
            return self._debounce_ms / 1000
        if not self._polls:
            log.warning("folders cannot be watched (%s): they are polled instead", error)
            self._polls = True
            return 0
        log.warning("folders cannot be polled (%s): trying again", error)
        return _AGAIN_S


def _end(stop: threading.Event, thread: threading.Thread) -> None:
    stop.set()
    if thread is not threading.current_thread():
        thread.join(_AGAIN_S)


def watched_folders(places: Iterable[Path]) -> Iterator[str]:
    """The folders to watch, each non-recursively, for changes in skills and folders of skills; a few thousand at most.

    For a missing folder it is the nearest parent that exists.
    """
    found = (folder for place in places for folder in _of_place(place))
    yield from islice(map(str, found), _MAX_FOLDERS)


def _of_place(place: Path) -> Iterator[Path]:
    yield next((parent for parent in place.parents if parent.is_dir()), place)
    if not place.is_dir():
        return
    yield place
    if (place / _MANIFEST).exists():
        yield from _below(place)
        return
    for folder in _inside(place):
        yield folder
        if (folder / _MANIFEST).exists():
            yield from _below(folder)


def _below(folder: Path, depth: int = 0) -> Iterator[Path]:
    if depth < _MAX_DEPTH:
        for inside in _inside(folder):
            yield inside
            yield from _below(inside, depth + 1)


def _inside(folder: Path) -> Iterator[Path]:
    """The folders directly in a folder that a skill may be loaded from."""
    try:
        with os.scandir(folder) as listing:
            names = [entry.name for entry in islice(listing, _MAX_ENTRIES) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    yield from (folder / name for name in sorted(names) if not _is_skipped(name))


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
    return name.startswith(".") or name in _SKIPPED or name.endswith(_TEMPORARY)


def _is_of_folders(path: str, folders: frozenset[str]) -> bool:
    """Whether a change of this path may change which folders have to be watched."""
    return path in folders or Path(path).is_dir() or Path(path).name == _MANIFEST
