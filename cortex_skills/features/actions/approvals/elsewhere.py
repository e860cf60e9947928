"""`ApprovedElsewhere`: runs the actions that were asked for at this place and approved at another one.

Rules kept here:
- only a process that serves agents looks, every `LOOK_S` seconds and with one request to the store, less often while
  that fails; other requests follow when something was found;
- what a host runs so was asked for there, which its signature shows, or by a host that it names (`approvals.hosts`);
- each request is taken by its start, as in any other process: of several processes of the place one runs it;
- a process that cannot run it, since it lacks the action or the skill, leaves it to the others, and says so once;
- at most `MAX_RUNNING` run at once here; they are cancelled when the plugin closes, and their end is recorded.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from cortex_graph import GraphError
from cortex_graph.store_access.claims import has_claims
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.features.actions.agent_actions import AgentActions
    from cortex_skills.features.actions.approvals.record import ApprovalRecord

log = logging.getLogger(__name__)

LOOK_S = 3.0
MAX_RUNNING = 4

_LONGEST_S = 60.0  # between two looks, while the store fails
_CLOSING_S = 10.0
_MOST_SAID = 1000


class ApprovedElsewhere:
    """Looks for what is to run here, in a thread of its own, until it is closed.

    Args:
        acting: the actions of a plugin.
        every_s: seconds between two looks.
    """

    def __init__(self, acting: AgentActions, every_s: float = LOOK_S) -> None:
        self._acting = acting
        self._every_s = every_s
        self._ended = threading.Event()
        self._cancel = CancelToken()
        self._free = threading.BoundedSemaphore(MAX_RUNNING)
        self._runs: dict[str, threading.Thread] = {}
        self._said: set[str] = set()
        self._thread = threading.Thread(target=self._watch, name="cortex-approved", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Look no more, and cancel what runs."""
        self._ended.set()
        self._cancel.cancel()
        for thread in [self._thread, *self._runs.values()]:
            if thread.ident is not None:
                thread.join(_CLOSING_S)

    def look(self) -> None:
        """Start what is to run here.

        Raises:
            CortexError: `workspace_invalid`: this process cannot know what is.
            GraphError: the store cannot be read.
        """
        place, queue = self._acting.place(creates=False), self._acting.queue
        self._runs = {each: thread for each, thread in self._runs.items() if thread.is_alive()}
        for approval_id in queue.to_run(place):
            if approval_id not in self._runs and not self._ended.is_set():
                self._take(approval_id, place)

    def _take(self, approval_id: str, place: str) -> None:
        """Start one in a thread, if it is to run here and can."""
        queue = self._acting.queue
        try:
            record = queue.find(approval_id)
            if record.started is not None or record.state(queue.now()) != "approved" or record.request.place != place:
                queue.forget_place(approval_id, place)
                return
            self._acting.check_signatures(record)
            self._acting.check_runs_here(record.request)
        except CortexError as error:
            self._say(approval_id, f"{approval_id} was approved, and cannot run in this process: {error.message}")
            return
        if self._free.acquire(blocking=False):
            thread = threading.Thread(target=self._run, args=(record,), name="cortex-approved-action", daemon=True)
            self._runs[approval_id] = thread
            thread.start()

    def _run(self, record: ApprovalRecord) -> None:
        try:
            self._acting.approvals.run_approved(record, self._cancel)
        except CortexError as error:
            if error.code != "approval_resolved":  # another process has it
                log.warning("the approved request %s: %s", record.id, error.message)
        except GraphError as error:
            log.warning("the approved request %s: %s", record.id, error)
        finally:
            self._free.release()

    def _watch(self) -> None:
        wait_s = self._every_s
        while not self._ended.wait(wait_s):
            try:
                if not has_claims(self._acting.queue.store):
                    return  # a store behind another Cortex keeps no requests
                self.look()
                wait_s = self._every_s
                self._said.discard("")
            except (CortexError, GraphError) as error:
                wait_s = min(2 * wait_s, _LONGEST_S)
                if not self._ended.is_set():
                    self._say("", f"what was approved on other hosts does not run here: {error}")
            except Exception:
                wait_s = _LONGEST_S
                log.exception("what was approved on other hosts does not run here")

    def _say(self, about: str, text: str) -> None:
        if about not in self._said:
            if len(self._said) >= _MOST_SAID:
                self._said.clear()
            self._said.add(about)
            log.warning("%s", text)
