"""What becomes of the calls of a session that ends, where learning is on.

Rules kept here:
- a session in which no skill with steps was loaded is counted by its tools (`measured_gain.py`);
- a run that could be learned, and was not, is kept for a person (`kept_runs.py`);
- a store or a folder that cannot be written to is a warning: ending a session does not fail.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from cortex_graph import GraphError
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.kept_runs import KeptRuns
from cortex_skills.features.registry.learning import successful_calls
from cortex_skills.features.registry.measured_gain import count_session
from cortex_skills.features.registry.registry import SkillRegistry
from cortex_skills.features.registry.session_calls import SessionRun

log = logging.getLogger(__name__)


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
