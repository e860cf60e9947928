"""The candidates that may rise: learned skills whose outcomes are those of a reliable skill, for the inbox."""

from __future__ import annotations

from collections.abc import Iterator

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.display import OF_NAME, shown_name
from cortex_skills.doors.explorer.inbox import Attention
from cortex_skills.doors.explorer.page import PageCall
from cortex_skills.features.registry.pages.registered import success_words
from cortex_skills.features.registry.parts import finder_in, registry_in
from cortex_skills.features.registry.records.lifecycle import is_reliable

_READ = 20  # candidates, the most successful first


def attention(call: PageCall) -> Iterator[Attention]:
    """Each of them, for a caller who may promote it."""
    if "registry" not in call.principal.permissions:
        return
    host = call.service.host(call.service.plugin.graph.namespace)
    registry = host.part(registry_in)
    for listed in host.part(finder_in).listing().ordered("learned", "candidate", "success")[:_READ]:
        record = registry.find(listed.key)
        if record is None or not is_reliable(record.standing, record.evidence):
            continue
        href = addresses.address(f"{addresses.ROOT}/registry/{listed.key.name}")
        name, more = shown_name(listed.key.name, OF_NAME), success_words(record.quality)
        yield Attention("info", "may rise", "The learned skill", name, href, "registry", more=more)
