"""Skills that the MCP tests load."""

from __future__ import annotations

from pathlib import Path

MANIFEST = """\
---
name: {name}
description: Knows about {name}.
type: semantic
semantic:
  version: 1
  permissions: {{graph: [{graph}]}}
  assertions: [{{predicate: hasStatus}}]
  queries: [{{predicate: hasStatus, scope: namespace}}]
  allowedTools: [{tools}]
  skillVersion: "1.0.0"
---

# How to use {name}

Ask for `hasStatus`.
"""

ADDS = """\
export default {{
  name: "{name}",
  onQuery({{ results, predicate }}: {{ results: unknown[]; predicate: string }}) {{
    logger.info("asked about " + predicate);
    logger.warn("for the tests");
    if (predicate === "mayros:forever") for (;;);
    return {{ additionalContext: {{ counted: results.length, version: 1 }} }};
  }},
}};
"""


def write(
    folder: Path,
    name: str = "status-desk",
    *,
    graph: str = "read, write",
    tools: str = "skill_graph_query, skill_assert",
    code: str = ADDS,
) -> Path:
    """A skill in a folder of that name."""
    skill = folder / name
    (skill / "references").mkdir(parents=True, exist_ok=True)
    (skill / "SKILL.md").write_text(MANIFEST.format(name=name, graph=graph, tools=tools))
    (skill / "references" / "codes.md").write_text("# Codes\n")
    (skill / "skill.ts").write_text(code.format(name=name))
    return skill
