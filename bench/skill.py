"""The skills that the rows run."""

from __future__ import annotations

from typing import Any

MANIFEST = """---
name: bench
description: The skill of the benchmarks.
type: semantic
semantic:
  version: 1
  permissions: {graph: [read, write]}
  assertions:
    - {predicate: hasStatus}
---
"""

SOURCE = """export default {
  name: "bench",
  onQuery({ results }) {
    const open = results.filter((r) => r.object !== "approved");
    return { results, additionalContext: JSON.stringify({ open: open.length }) };
  },
  hostCalls({ calls }) {
    let sum = 0;
    for (let i = 0; i < calls; i++) sum += echo(i);
    return sum;
  },
};
"""


def result_rows(count: int) -> list[dict[str, Any]]:
    """Rows as `onQuery` gets them."""
    return [
        {
            "subject": f"mayros:customer:{i}",
            "predicate": "mayros:hasStatus",
            "object": "approved" if i % 2 else "pending",
        }
        for i in range(count)
    ]


def two_hundred_lines() -> str:
    """A TypeScript skill of 200 lines, of the kind that people write."""
    lines = [
        "interface Row { subject: string; predicate: string; object: unknown }",
        "type Tally = Record<string, number>;",
    ]
    for i in range(28):
        lines += [
            f"function rule{i}(row: Row, tally: Tally): boolean {{",
            f"  const key = `rule{i}:${{row.predicate}}`;",
            "  tally[key] = (tally[key] ?? 0) + 1;",
            f"  if (typeof row.object === 'number' && row.object > {i}) return true;",
            "  return row.subject.startsWith('mayros:') && row.predicate.length > 3;",
            "}",
            "",
        ]
    return "\n".join([*lines, "export default { name: 'bench', onQuery() { return {}; } };"])
