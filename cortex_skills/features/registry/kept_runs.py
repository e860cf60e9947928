"""Runs that no skill was learned from when their session ended, for a person who names them later.

Rules kept here:
- they are private files of the user (`safe_io.private_files`), and not in the graph, since even redacted arguments may
  be private: `learning.runs`, by default a folder in the user's data folder;
- the newest `MAX_KEPT` of a namespace of a store are kept; a store in memory keeps none;
- a file that cannot be read is skipped with a warning;
- where learning is on, a session that ended without a loaded skill with steps is counted by its tools
  (`measured_gain.py`), and its run is kept if it could be learned and was not; a store or a folder that cannot be
  written to is a warning: ending a session does not fail.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from cortex_graph import GraphError
from cortex_graph.checks.datetimes import date_time
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.learning import successful_calls
from cortex_skills.features.registry.measured_gain import count_session
from cortex_skills.features.registry.registry import SkillRegistry
from cortex_skills.features.registry.session_calls import SessionCall, SessionRun
from cortex_skills.features.registry.skill_record import LearnedIn
from cortex_skills.safe_io.display import whole_characters
from cortex_skills.safe_io.private_files import NotPrivateError, read_private, write_private
from cortex_skills.safe_io.strict_json import read_json

log = logging.getLogger(__name__)

MAX_KEPT = 20
_MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run that can be learned: its id, when it ended (RFC 3339), the agent, its calls, and the id of its session."""

    id: str
    time: str
    agent: str
    calls: tuple[SessionCall, ...]
    session: str = ""

    @property
    def learned_in(self) -> LearnedIn | None:
        """The session, for what is learned from the run; None where it is not known."""
        if not self.session:
            return None
        return LearnedIn(self.session, whole_characters(self.agent), datetime.fromisoformat(self.time))

    def to_json(self) -> dict[str, Any]:
        """The run as a JSON object."""
        calls = [call.to_json() for call in self.calls]
        return {"id": self.id, "time": self.time, "agent": self.agent, "session": self.session, "calls": calls}


class KeptRuns:
    """The kept runs of one namespace of a store.

    Args:
        folder: of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of(cls, config: Config, namespace: str) -> KeptRuns | None:
        """The kept runs of a plugin; None for a store in memory."""
        if config.store == "memory:":
            return None
        from platformdirs import user_data_path

        root = Path(config.learning.runs or user_data_path("cortex-skills", appauthor=False) / "runs")
        place = config.store_folder
        store = config.store_name if place is None else str(place.resolve())
        return cls(root / sha256(f"{store}\n{namespace}".encode()).hexdigest()[:32])

    def keep(self, run: SessionRun) -> str:
        """Keep a run; the oldest one beyond `MAX_KEPT` is removed.

        Raises:
            OSError: the file cannot be written.
        """
        now = datetime.now(UTC)
        kept = KeptRun(uuid.uuid4().hex[:12], date_time(now), run.agent, tuple(run.calls), run.session_id)
        name = f"{now:%Y%m%dT%H%M%S%f}-{kept.id}.json"
        write_private(self._folder / name, json.dumps(kept.to_json()).encode())
        for old in self._files()[:-MAX_KEPT]:
            old.unlink(missing_ok=True)
        return kept.id

    def all(self) -> list[KeptRun]:
        """The kept runs, the newest first."""
        found = (self._read(path) for path in reversed(self._files()))
        return [run for run in found if run is not None]

    def remove(self, run_id: str) -> None:
        """Remove a run."""
        for path in self._files():
            if path.stem.endswith(f"-{run_id}"):
                path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []

    def _read(self, path: Path) -> KeptRun | None:
        try:
            given = read_json(read_private(path, _MAX_BYTES))
            calls = tuple(SessionCall(str(c["tool"]), c["arguments"], str(c["outcome"])) for c in given["calls"])
            datetime.fromisoformat(given["time"])
            return KeptRun(str(given["id"]), given["time"], str(given["agent"]), calls, str(given.get("session", "")))
        except (OSError, NotPrivateError, ValueError, LookupError, TypeError) as error:
            log.warning("a kept run is skipped: %s: %s", path.name, error)
            return None


def settle_runs(
    config: Config, registry: Callable[[], SkillRegistry], runs: Iterable[SessionRun], namespace: str
) -> None:
    """Count the runs of sessions that have ended, and keep those that can be learned.

    Args:
        config: the settings of the plugin.
        registry: opens the registry, if there is a run.
        runs: with the calls.
        namespace: of the plugin.
    """
    for run in runs:
        if run.loaded or not run.calls:
            continue
        failed = {call.tool for call in run.calls if call.outcome != "ok"}
        ok = {call.tool for call in run.calls if call.outcome == "ok"}
        try:
            count_session(registry(), ok, failed, actor=run.agent)
        except (CortexError, GraphError) as error:
            log.warning("a session is not counted: %s", error)
        if run.is_learned:
            continue
        try:
            successful_calls(run.calls, config.learning.min_calls)
            kept = KeptRuns.of(config, namespace)
            if kept is not None:
                kept.keep(run)
        except CortexError:
            continue  # there is nothing to learn
        except OSError as error:
            log.warning("a run is not kept: %s", error)
