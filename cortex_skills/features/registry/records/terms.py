"""The terms of the Cortex ontology for registered skills (`graph/ontology/cortex.ttl`)."""

from __future__ import annotations

from pyoxigraph import NamedNode

from cortex_graph.naming.vocabulary import CORTEX, PROV, XSD
from cortex_graph.naming.vocabulary import REVISION_OF as REVISION_OF


def _term(name: str) -> NamedNode:
    return NamedNode(f"{CORTEX}{name}")


# A record: the mutable part.
REGISTERED_SKILL = _term("RegisteredSkill")
SKILL_NAMESPACE = _term("skillNamespace")
CURRENT_VERSION = _term("currentVersion")
ORIGIN = _term("origin")
LIFECYCLE = _term("lifecycle")
TRUST_TIER = _term("trustTier")
REASON = _term("reason")
INVOCATIONS = _term("invocations")
SUCCESSES = _term("successes")
UTILITY = _term("utility")
CURRENT_INVOCATIONS = _term("currentInvocations")
CURRENT_SUCCESSES = _term("currentSuccesses")
WORKED_FOR = _term("workedFor")
FAILED_FOR = _term("failedFor")
REPORTED_WORKING = _term("reportedWorkingBy")
REPORTED_FAILING = _term("reportedFailingBy")
AUTHOR = _term("author")
# Of records that were written before the outcomes of the current version were counted.
MEASURED = _term("measuredInvocations")
MEASURED_SUCCESSES = _term("measuredSuccesses")
LOADS = _term("loads")
LOADED_TOKENS = _term("loadedTokens")
LAST_USED = _term("lastUsedAt")
VALIDATED = _term("validatedAt")
DEPENDS_ON = _term("dependsOn")
CONFLICTS_WITH = _term("conflictsWith")
MERGED_INTO = _term("mergedInto")
SUPERSEDES = _term("supersedes")
DERIVED_FROM_MEMORY = _term("derivedFromMemory")
DERIVED_FROM = NamedNode(f"{PROV}wasDerivedFrom")

# A version: never changed.
SKILL_VERSION = _term("SkillVersion")
VERSION_NUMBER = _term("versionNumber")
DIGEST = _term("digest")
COMPAT_DIGEST = _term("compatDigest")
SKILL_KIND = _term("skillKind")
FRONT_MATTER = _term("frontMatter")
SIGNATURE = _term("signature")
PUBLIC_KEY = _term("publicKey")
LEARNED_SESSION = _term("learnedInSession")
LEARNED_BY = _term("learnedByAgent")
LEARNED_AT = _term("learnedAt")

# The content of files, named by its SHA-256.
BLOB = _term("Blob")
BYTES = _term("bytes")

# Sessions that have ended, by the tools that were called in them.
TOOL_USE = _term("ToolUse")
TOOLS = _term("tools")
SESSIONS = _term("sessions")

# An event of the chain.
EVENT = _term("Event")
SEQUENCE = _term("sequence")
EVENT_KIND = _term("eventKind")
ACTOR = _term("actor")
PAYLOAD = _term("payload")
HASH = _term("hash")
PREV_HASH = _term("prevHash")
ATTEST = _term("attestLevel")

BASE64 = NamedNode(f"{XSD}base64Binary")
INTEGER = NamedNode(f"{XSD}integer")
DOUBLE = NamedNode(f"{XSD}double")
