"""Opens the audit of a plugin, as the configuration says.

Rules kept here:
- `audit.journal` is `auto` by default: a journal is kept in `audit.folder` if it is set; otherwise beside the folder of
  the store, in `STORE.audit`, if the process serves agents, if a feature wants it (agents may act), or if that folder
  exists. So a store in memory has none, and what was begun for a store is continued by every process that opens it;
- nothing is created here: the folder and the key appear with the first record.
"""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.audit.chain import Signer
from cortex_skills.audit.journal import Journal
from cortex_skills.audit.recent_calls import RecentCalls
from cortex_skills.config import host_identity
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.errors import CortexError
from cortex_skills.feature import functions

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config


log = logging.getLogger(__name__)


def journal_folder(config: Config) -> Path | None:
    """Where the journal of a configuration is; None if it has no place."""
    if config.audit.folder:
        return Path(config.audit.folder)
    store = config.store_folder
    return None if store is None else store.with_name(f"{store.name}.audit")


def open_audit(config: Config, namespace: str, agent: str, recent: RecentCalls, *, serves: bool = False) -> AuditLog:
    """The audit of a plugin.

    Args:
        config: the settings.
        namespace: of the plugin.
        agent: of the plugin.
        recent: the latest records in memory.
        serves: whether the process serves agents.

    Raises:
        CortexError: `config_invalid`: a journal is wanted, and has no place.
    """
    settings = config.audit
    folder = None if settings.journal == "off" else journal_folder(config)
    if folder is None:
        if settings.journal == "on":
            hint = "set `audit.folder`: the store has no folder"
            raise CortexError("config_invalid", "the journal of the audit has no place", hint=hint)
        return AuditLog(agent, recent, namespace=namespace)
    by_feature = any(wants(config) for wants in functions("keeps_journal"))
    is_wanted = serves or settings.folder or by_feature or folder.exists()
    if settings.journal == "auto" and not is_wanted:
        return AuditLog(agent, recent, namespace=namespace)
    if problem := host_identity.copied():
        log.warning("the id of this host is that of another one: %s; run `cortex-skills doctor --adopt`", problem)
    journal = Journal(
        folder.absolute(),
        lambda: _key(config),
        fsync=settings.fsync,
        keep_days=settings.keep_days,
        host=partial(HostIdentity.of, config),
    )
    return AuditLog(agent, recent, journal, namespace=namespace, on_full=settings.on_full)


def _key(config: Config) -> Signer:
    from cortex_skills.keys.folder import signing_key

    return signing_key(config)
