"""The terms of standard vocabularies and of the Cortex ontology (`graph/ontology/cortex.ttl`) used in this package."""

from __future__ import annotations

from pyoxigraph import NamedNode

from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES

PROV, RDF, RDFS, SCHEMA, XSD = (WELL_KNOWN_VOCABULARIES[prefix] for prefix in ("prov", "rdf", "rdfs", "schema", "xsd"))
CORTEX = "urn:cortex-graph:ontology#"

TYPE = NamedNode(f"{RDF}type")
STATEMENT = NamedNode(f"{RDF}Statement")
SUBJECT = NamedNode(f"{RDF}subject")
PREDICATE = NamedNode(f"{RDF}predicate")
OBJECT = NamedNode(f"{RDF}object")
VALUE = NamedNode(f"{RDF}value")
LABEL = NamedNode(f"{RDFS}label")
ENTITY = NamedNode(f"{PROV}Entity")
AGENT = NamedNode(f"{PROV}Agent")
SOFTWARE_AGENT = NamedNode(f"{PROV}SoftwareAgent")
ATTRIBUTED_TO = NamedNode(f"{PROV}wasAttributedTo")
GENERATED_AT = NamedNode(f"{PROV}generatedAtTime")
INVALIDATED_AT = NamedNode(f"{PROV}invalidatedAtTime")
SPECIALIZATION_OF = NamedNode(f"{PROV}specializationOf")
REVISION_OF = NamedNode(f"{PROV}wasRevisionOf")
SOFTWARE_VERSION = NamedNode(f"{SCHEMA}softwareVersion")
DATE_TIME = NamedNode(f"{XSD}dateTime")
STRING = NamedNode(f"{XSD}string")

# Who withdrew an assertion (`withdrawals.py`).
WITHDRAWN_BY = NamedNode(f"{CORTEX}withdrawnBy")

# A proof, and the rules that it applies (`proofs.py`).
PROOF = NamedNode(f"{CORTEX}proof")
PROOF_CLASS = NamedNode(f"{CORTEX}Proof")
PROOF_KIND = NamedNode(f"{CORTEX}proofKind")
PROVES = NamedNode(f"{CORTEX}proves")
PREMISE = NamedNode(f"{CORTEX}premise")
RULES = NamedNode(f"{CORTEX}rules")
RULE_SET = NamedNode(f"{CORTEX}RuleSet")
CONTENT = NamedNode(f"{CORTEX}content")

# A memory (`cortex_skills/memory`): terms of the Cortex ontology, which no predicate of a skill equals by chance.
MEMORY_OWNER = NamedNode(f"{CORTEX}memoryOwner")
MEMORY_TEXT = NamedNode(f"{CORTEX}memoryText")
MEMORY_IMPORTANCE = NamedNode(f"{CORTEX}memoryImportance")
MEMORY_TAG = NamedNode(f"{CORTEX}memoryTag")
MEMORY_TIME = NamedNode(f"{CORTEX}memoryTime")
MEMORY_MINUTE = NamedNode(f"{CORTEX}memoryMinute")
MEMORY_SKILL = NamedNode(f"{CORTEX}memorySkill")
MEMORY_AUTHOR = NamedNode(f"{CORTEX}memoryAuthor")
MEMORY_KEY = NamedNode(f"{CORTEX}memoryKey")
MEMORY_DEPTH = NamedNode(f"{CORTEX}memoryDepth")
MEMORY_REFLECTS_ON = NamedNode(f"{CORTEX}reflectsOn")
MEMORY_USES = NamedNode(f"{CORTEX}memoryUses")
MEMORY_READ = frozenset(  # all but the key of their IDs
    {
        MEMORY_AUTHOR,
        MEMORY_DEPTH,
        MEMORY_IMPORTANCE,
        MEMORY_MINUTE,
        MEMORY_OWNER,
        MEMORY_REFLECTS_ON,
        MEMORY_SKILL,
        MEMORY_TAG,
        MEMORY_TEXT,
        MEMORY_TIME,
        MEMORY_USES,
    }
)
MEMORY_TERMS = MEMORY_READ | {MEMORY_KEY}
