"""The files of a new skill, as text by relative path. Reads only files of the package.

Rules kept here:
- the new skill is valid, loads, answers, and passes its own test and the TypeScript compiler without changes;
- values given by the user are escaped for YAML, TypeScript and Turtle;
- the types and schemas for an editor are copied into `.cortex`, so that the folder can be moved; the skill itself uses
  nothing in there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any
from urllib.parse import quote

from cortex_skills.safe_io.schemas import schema

SUPPORT = ".cortex"
_SCHEMA_LINE = "# yaml-language-server: $schema={}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a new skill.

    Attributes:
        name: of the skill and its folder.
        description: what it does and when to use it.
        reads: predicates that it queries; its code and test use the first.
        writes: predicates that it may assert.
        two_files: whether the semantic block is in `semantic.yaml`, for strict validators of agentskills.io.
    """

    name: str
    description: str
    reads: tuple[str, ...] = ("hasStatus",)
    writes: tuple[str, ...] = ()
    two_files: bool = False


def files_of(plan: Plan) -> dict[str, str]:
    """The files of the new skill."""
    files = {
        "SKILL.md": _manifest(plan),
        "skill.ts": _code(plan),
        "skill.test.ts": _test(plan),
        "skill.test.ttl": _data(plan),
        **editor_files(two_files=plan.two_files),
    }
    if plan.two_files:
        line = _SCHEMA_LINE.format(f"{SUPPORT}/semantic.schema.json")
        files["semantic.yaml"] = "\n".join([line, *_block(plan)]) + "\n"
    return files


def editor_files(*, two_files: bool = False) -> dict[str, str]:
    """The settings, types and schemas for an editor."""
    return {
        "tsconfig.json": _json(_TSCONFIG),
        ".vscode/settings.json": _json(_settings(two_files=two_files)),
        f"{SUPPORT}/skill.schema.json": _json(schema("skill")),
        f"{SUPPORT}/semantic.schema.json": _json(semantic_schema()),
        f"{SUPPORT}/cortex-skill.d.ts": _shipped("cortex-skill.d.ts"),
        f"{SUPPORT}/cortex-test.d.ts": _shipped("cortex-test.d.ts"),
    }


def semantic_schema() -> dict[str, Any]:
    """The JSON Schema of `semantic.yaml`, which is that of the semantic block."""
    block = schema("skill")["properties"]["semantic"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The semantic block of a skill",
        **block,
    }


def _manifest(plan: Plan) -> str:
    head = [f"name: {_scalar(plan.name)}", f"description: {_scalar(plan.description)}"]
    if plan.two_files:
        head += ["metadata:", "  semantic: semantic.yaml"]
    else:
        head.insert(0, _SCHEMA_LINE.format(f"{SUPPORT}/skill.schema.json"))
        head += ["type: semantic", "semantic:", *(f"  {line}" for line in _block(plan))]
    first = plan.reads[0]
    body = [
        f"# {plan.name}",
        "",
        f"Ask `skill_graph_query` for `{_inline(first)}` with scope `namespace`: without a scope, the answer has only",
        "triples about the agent itself. The enrichment counts the values of the triples that the answer shows.",
        *(f"Assert `{_inline(written)}` with `skill_assert`." for written in plan.writes),
    ]
    return "\n".join(["---", *head, "---", *body]) + "\n"


def _block(plan: Plan) -> list[str]:
    lines = ["version: 1", "permissions:", f"  graph: [{'read, write' if plan.writes else 'read'}]", "queries:"]
    for predicate in plan.reads:
        lines += [f"  - predicate: {_scalar(predicate)}", "    scope: namespace"]
    if plan.writes:
        lines += ["assertions:", *(f"  - predicate: {_scalar(predicate)}" for predicate in plan.writes)]
    # What skill.ts adds to an answer: {enum: [...]} where the values are known, {text: true} for text.
    lines += ["enrichment:", "  fields:", "    counts: {text: true}"]
    return [*lines, 'skillVersion: "0.1.0"']


def _code(plan: Plan) -> str:
    return f"""\
/** Counts the values of the queried predicate. */
export default {{
  name: {_scalar(plan.name)},

  onQuery({{ results }}) {{
    const counts: Record<string, number> = {{}};
    for (const {{ object }} of results) {{
      const value = typeof object !== "object" ? String(object) : "node" in object ? object.node : object.value;
      counts[value] = (counts[value] ?? 0) + 1;
    }}
    return {{ additionalContext: {{ counts }} }};
  }},
}} satisfies Skill;
"""


def _test(plan: Plan) -> str:
    first = _scalar(plan.reads[0])
    texts = f"""\
test("counts the values", async (t) => {{
  await t.load("skill.test.ttl");
  const answer = await t.query({{ predicate: {first}, scope: "namespace" }});
  t.equal(answer.details.total, 3);
  t.equal(answer.said, {{ counts: {{ good: 2, bad: 1 }} }});
}});

test("has nothing to count in an empty graph", async (t) => {{
  const answer = await t.query({{ predicate: {first}, scope: "namespace" }});
  t.equal(answer.text.split("\\n")[0], "No matching triples.");
}});
"""
    if plan.writes:
        texts += f"""
test("may assert what it declares, and nothing else", async (t) => {{
  const made = await t.call("skill_assert", {{ subject: "a", predicate: {_scalar(plan.writes[0])}, object: true }});
  t.ok(made.details.created, made.text);
  const refused = await t.call("skill_assert", {{ subject: "a", predicate: "undeclared", object: true }});
  t.equal(refused.code, "undeclared_predicate");
}});
"""
    else:
        texts += """
test("may not write", async (t) => {
  const refused = await t.call("skill_assert", { subject: "a", predicate: "p", object: true });
  t.equal(refused.code, "permission_denied");
});
"""
    return texts


def _data(plan: Plan) -> str:
    """Three statements with full IRIs in the namespace of tests."""
    from cortex_graph import Names
    from cortex_skills.features.skill_testing import NAMESPACE

    names = Names(NAMESPACE)
    predicate = names.node(plan.reads[0], "predicate").value
    lines = [f"<{names.node(thing, 'subject').value}> <{predicate}> {value} ." for thing, value in _THINGS]
    return "\n".join(["# Loaded into the graph of a test by `t.load`.", *lines]) + "\n"


_THINGS = (("one", '"good"'), ("two", '"good"'), ("three", '"bad"'))

_TSCONFIG: Mapping[str, Any] = {
    "compilerOptions": {
        "target": "ES2023",
        "lib": ["ES2023"],
        "types": [],
        "module": "ESNext",
        "moduleResolution": "Bundler",
        "strict": True,
        "noUncheckedIndexedAccess": True,
        "noEmit": True,
    },
    "include": ["**/*.ts", f"{SUPPORT}/*.d.ts"],
}


def _settings(*, two_files: bool) -> dict[str, Any]:
    """Settings of VS Code, for its YAML extension."""
    block = {f"./{SUPPORT}/semantic.schema.json": "semantic.yaml"} if two_files else {}
    return {"yaml.schemas": {f"./{SUPPORT}/skill.schema.json": "SKILL.md", **block}}


def _shipped(name: str) -> str:
    return resources.files("cortex_skills").joinpath("skill_types", name).read_text(encoding="utf-8")


def _scalar(text: str) -> str:
    """A double-quoted scalar that YAML, JSON and TypeScript read alike."""
    quoted = json.dumps(text, ensure_ascii=False)
    # Invisible characters are escaped; beyond U+FFFF the three languages have no escape in common.
    return "".join(c if c.isprintable() or c > "\uffff" else f"\\u{ord(c):04x}" for c in quoted)


def _inline(text: str) -> str:
    """A text that is safe between backquotes in Markdown."""
    return quote(text, safe=" :/#?&=+,;.-_~()!*@'")


def _json(document: Any) -> str:
    return json.dumps(document, indent=2) + "\n"
