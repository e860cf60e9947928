"""Opens the audit of a plugin, as the configuration says.

Rules kept here:
- a journal is in `audit.folder` if it is set; otherwise beside the folder of the store, in `STORE.audit`, or, for a
  store in memory or on a server, in a folder for it in the user's data folder: each host has a chain of its own;
- `audit.journal` is `auto` by default: a journal is kept if `audit.folder` is set, if the process serves agents, if a
  feature wants it (agents may act), or if that of its store exists; otherwise it begins with the first action. So what
  was begun for a store is continued by every process that opens it here;
- nothing is created here: the folder and the key appear with the first record.
"""

from __future__ import annotations

import logging
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.audit.chain import Signer
from cortex_skills.audit.journal import Journal
from cortex_skills.audit.recent_calls import RecentCalls
from cortex_skills.config import host_identity
from cortex_skills.config.core_settings import user_data_folder
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.feature import functions

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config


MEMORY = "memory:"

log = logging.getLogger(__name__)


def journal_folder(config: Config) -> Path:
    """Where the journal of a configuration is."""
    if config.audit.folder:
        return Path(config.audit.folder)
    store = config.store_folder
    if store is not None:
        return store.with_name(f"{store.name}.audit")
    return journals_folder() / _name_of(config.store_name)


def journals_folder() -> Path:
    """The folder of the user in which the journals of stores without a folder are."""
    return user_data_folder() / "audit"


def _name_of(store: str) -> str:
    """A name for a store in memory or on a server: that of its host, with a digest of the whole address."""
    if store == MEMORY:
        return "memory"
    return f"{urlsplit(store).hostname or 'store'}-{sha256(store.encode()).hexdigest()[:12]}"


def open_audit(config: Config, namespace: str, agent: str, recent: RecentCalls, *, serves: bool = False) -> AuditLog:
    """The audit of a plugin.

    Args:
        config: the settings.
        namespace: of the plugin.
        agent: of the plugin.
        recent: the latest records in memory.
        serves: whether the process serves agents.

    Raises:
        CortexError: `config_invalid`: the id of this host is damaged.
    """
    settings = config.audit
    begin = None if settings.journal == "off" else partial(_journal, config)
    audit = AuditLog(agent, recent, namespace=namespace, on_full=settings.on_full, begin=begin)
    is_begun = config.store != MEMORY and journal_folder(config).exists()
    is_wanted = settings.journal == "on" or serves or settings.folder or is_begun
    if is_wanted or any(wants(config) for wants in functions("keeps_journal")):
        audit.begin()
    return audit


def _journal(config: Config) -> Journal:
    if problem := host_identity.copied():
        log.warning("the id of this host is that of another one: %s; run `cortex-skills doctor --adopt`", problem)
    return Journal(
        journal_folder(config).absolute(),
        lambda: _key(config),
        fsync=config.audit.fsync,
        keep_days=config.audit.keep_days,
        host=partial(HostIdentity.of, config),
        of_one_host=bool(config.audit.folder),
    )


def _key(config: Config) -> Signer:
    from cortex_skills.keys.folder import signing_key

    return signing_key(config)
