"""How many proofs were verified since the plugin opened, by namespace and verdict. No verdict is cached."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict

from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.host import Host

_MAX_NAMESPACES = 1024


class VerificationCounts:
    """The counts. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: OrderedDict[str, Counter[Verdict]] = OrderedDict()

    def add(self, namespace: str, verdict: Verdict) -> None:
        """Count a verdict."""
        with self._lock:
            self._counts.setdefault(namespace, Counter())[verdict] += 1
            self._counts.move_to_end(namespace)
            if len(self._counts) > _MAX_NAMESPACES:
                self._counts.popitem(last=False)

    def of(self, namespace: str) -> Counter[Verdict]:
        """The counts of a namespace."""
        with self._lock:
            return Counter(self._counts.get(namespace, ()))


def counts_of(_: Host) -> VerificationCounts:
    """The counts of a plugin: `host.shared(counts_of)`."""
    return VerificationCounts()
