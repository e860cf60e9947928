"""The project of an artifact that a builder made, as text by relative path: `package scaffold`.

Rules kept here:
- it is experimental, so the security audit quarantines it until a person has looked at it;
- it requests what its scaffold needs, and `capabilities.json` declares that with `requires_review: true`;
- the text that it was made from is in SKILL.md as it was, below a heading that says where it came from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import tomli_w

from cortex_skills.features.artifacts.package.entry_paths import SKILL_FILES
from cortex_skills.features.artifacts.package.project import document_of_skill
from cortex_skills.features.scaffold.content import Plan, files_of
from cortex_skills.manifest import parse_manifest

CAPABILITIES = "capabilities.json"
SWITCH = "artifacts.builder"


@dataclass(frozen=True, slots=True)
class BuiltFrom:
    """What a scaffold is made from.

    Attributes:
        kind: `learned_skill` or `prompt`.
        reference: the name and version of the skill, or the beginning of the prompt.
        description: what the new skill does and when to use it.
        text: the instructions of the skill, or the prompt.
    """

    kind: str
    reference: str
    description: str
    text: str


def built_project(name: str, publisher: str, source: BuiltFrom) -> dict[str, str]:
    """The files of a new project.

    Args:
        name: of the skill, without its publisher.
        publisher: who will sign it.
        source: what it is made from.

    Raises:
        CortexError: `manifest_invalid`: the name, the publisher or the description is malformed.
    """
    skill = files_of(Plan(name, source.description))
    skill["SKILL.md"] += f"\n## From {source.kind.replace('_', ' ')}\n\n{source.text.strip()}\n"
    document = document_of_skill(parse_manifest(skill["SKILL.md"], name), publisher)
    document["builder"] = {
        "experimental": True,
        "source_kind": source.kind,
        "source_ref": source.reference,
        "rollout_flag": SWITCH,
        "review_status": "not reviewed",
        "checklist": {
            "capability_declaration_path": f"{SKILL_FILES}{CAPABILITIES}",
            "provenance_path": "provenance.json",
            "test_harness_path": f"{SKILL_FILES}skill.test.ts",
        },
    }
    declared = {"requires_review": True, "capabilities": document.get("capabilities", {})}
    return {
        "skill.toml": tomli_w.dumps(document),
        CAPABILITIES: json.dumps(declared, indent=2) + "\n",
        "README.md": _README.format(id=document["skill_id"], file=f"{name}.palyra-skill", version=document["version"]),
        **skill,
    }


_README = """\
# {id}

A scaffold that a builder made. Before you publish it: read the text that it was made from in `SKILL.md`, write what
`skill.ts` is to do, extend `skill.test.ts`, and compare `capabilities.json` with what it needs.

```sh
cortex-skills test .
cortex-skills key create publishing
cortex-skills package build . -o {file} --key publishing
cortex-skills install {file} --allow-tofu --grant graph=read   # trusts the key that signed it, your own
```

`package build` writes the bill of materials and the provenance. `install` quarantines the artifact, and its exit code
is 1. Enable it after you have looked at it:

```sh
cortex-skills enable {id} --version {version} --override --reason "I have read and tested it."
```
"""
