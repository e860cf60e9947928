"""What needs a look in the graph, its proofs and the skills: for the inbox.

Rules kept here:
- everything was counted or noticed before, but for the store and its disk: these are asked whether they answer.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import Addresses
from cortex_skills.doors.explorer.display import OF_NAME, shown_name, shown_text
from cortex_skills.doors.explorer.inbox import Attention
from cortex_skills.doors.explorer.page import PageCall
from cortex_skills.features.finder.embedder_choice import embedder_of
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.features.proofs.verification_counts import counts_of

_LEAST_FREE = 200 << 20  # bytes on the disk of the store


def attention(call: PageCall) -> Iterator[Attention]:
    """Refuted and unchecked proofs, skills that stopped or were refused, a store in trouble, and a failing embedder."""
    plugin = call.service.plugin
    namespace = plugin.graph.namespace
    to = Addresses(namespace)
    verdicts = call.service.host(namespace).shared(counts_of).of(namespace)
    for verdict, kind, more in (
        (Verdict.REFUTED, "bad", "since this server started"),
        (Verdict.NOT_CHECKED, "half", "since this server started"),
    ):
        if number := verdicts[verdict]:
            words, href = verdict.value, to.page("proofs", verdict=verdict.value)
            yield Attention(kind, words, f"{number:,} verifications of", "proofs", href, "proofs", 1, more)
    for skill in plugin.skills.values():
        runtime = skill.runtime
        if runtime is not None and (runtime.fault or runtime.degraded):
            kind, words = ("bad", "stopped") if runtime.fault else ("warn", "degraded")
            name = shown_name(skill.name, OF_NAME)
            yield Attention(kind, words, "The skill", name, addresses.skill(skill.name), "skills")
    for rejected in plugin.rejected:
        words = "reload refused" if rejected.answering else "not loaded"
        name = shown_name(rejected.name, OF_NAME)
        more = f"version {rejected.answering} answers" if rejected.answering else ""
        yield Attention("warn", words, "The skill", name, addresses.skill(rejected.name), "skills", more=more)
    yield from _store(call)
    yield from _embedder(call)


def _embedder(call: PageCall) -> Iterator[Attention]:
    """An embedder that failed when it was last used, so that words alone are found."""
    namespace = call.service.plugin.graph.namespace
    host = call.service.host(namespace)
    host = host.main or host
    embedder = host.part(embedder_of) if host.has_part(embedder_of) else None  # nothing is opened for a page
    if embedder is not None and embedder.problem:
        reason = shown_text(embedder.problem, 300).plain if "audit" in call.principal.permissions else ""
        more = reason or "its reason is shown to those who may read the audit"
        href = f"{addresses.namespace_root(namespace)}/find"
        yield Attention(
            "warn", "embedder failed", "Words alone are found, without their meaning, by", "find", href, more=more
        )


def _store(call: PageCall) -> Iterator[Attention]:
    """What is wrong with the store, and with its disk, for those who may see the state of this machine."""
    plugin = call.service.plugin
    href = addresses.namespace_root(plugin.graph.namespace)
    if fault := call.service.store_health.wrong_with(plugin):
        yield Attention("bad", "damaged", "Something is wrong with", "the store", href, more=fault)
    folder = plugin.config.store_folder
    if folder is not None and "audit" in call.principal.permissions and folder.is_dir():
        free = shutil.disk_usage(folder).free
        if free < _LEAST_FREE:
            yield Attention("bad", "disk nearly full", f"{free >> 20} MB are free on the disk of", "the store", href)
