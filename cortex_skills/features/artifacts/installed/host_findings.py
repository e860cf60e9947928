"""Findings about the files and the settings of one host of a store, which stop a version on that host only.

    host/5c2f…/vulnerability_feed:CVE-2026-1@pkg:cargo/x     # without the beginning it would stop it everywhere

Rules kept here:
- what an audit finds in the bytes is a fact for all hosts: the bill, the manifest, the modules, the texts. Of one host
  are its files, its feed, its keys of models, its own revoked keys, and its speed;
- each host replaces its own findings, and keeps those of the others, as far as there is room;
- a person accepts a finding of a host as any other one.
"""

from __future__ import annotations

from collections.abc import Iterable

from cortex_skills.features.artifacts.installed.installed_artifact import OF_A_HOST, InstalledArtifact
from cortex_skills.features.artifacts.installed.security_audit import SecurityAudit

ON_THIS_HOST = "on this host: "  # begins the reason of a version that is stopped here only
_MOST = 200


def found_by(audit: SecurityAudit, host: str, before: Iterable[str] = ()) -> tuple[str, ...]:
    """The findings of a version after an audit.

    Args:
        audit: what was found now.
        host: the id of this host; empty where it alone uses the store.
        before: what was found before, by any host.
    """
    if not host:
        return audit.findings
    mine = f"{OF_A_HOST}{host}/"
    new = {f"{mine}{each}" if each.partition(":")[0] in audit.of_host else each for each in audit.findings}
    others = sorted(each for each in before if each.startswith(OF_A_HOST) and not each.startswith(mine))
    return tuple(sorted({*new, *others[:_MOST]}))


def stopping(artifact: InstalledArtifact, host: str) -> tuple[str, ...]:
    """The findings that stop a version on a host only, and that no person accepted, without the id of the host.

    Where this host alone uses the store, `host` is empty: then those of every host stop it, as after a copy of a store
    on a server, until the next audit replaces them.
    """
    new = (each for each in artifact.findings if _is_of(each, host) and each not in artifact.accepted)
    return tuple(each.split("/", 2)[2] for each in new)


def accepted_here(artifact: InstalledArtifact, host: str) -> tuple[str, ...]:
    """What is accepted of a version once a person on a host enables it: not what is found on other hosts only."""
    found = (each for each in artifact.findings if not each.startswith(OF_A_HOST) or _is_of(each, host))
    return tuple(sorted({*artifact.accepted, *found}))


def _is_of(finding: str, host: str) -> bool:
    return finding.count("/") > 1 and finding.startswith(f"{OF_A_HOST}{host}/" if host else OF_A_HOST)
