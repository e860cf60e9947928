"""The project of a TypeScript skill that becomes an artifact, as text by relative path: `package init NAME`.

Rules kept here:
- the skill is that of `init`, with its test;
- its `skill.toml` states what its SKILL.md states.
"""

from __future__ import annotations

import tomli_w

from cortex_skills.features.artifacts.package.project import document_of_skill
from cortex_skills.features.scaffold.content import Plan, files_of
from cortex_skills.manifest import parse_manifest

_DESCRIPTION = "Counts which values things have. Use it when asked how many there are of each."


def package_project(name: str, publisher: str) -> dict[str, str]:
    """The files of a new project.

    Args:
        name: of the skill, without its publisher.
        publisher: who will sign it.

    Raises:
        CortexError: `manifest_invalid`: the name or the publisher is malformed.
    """
    skill = files_of(Plan(name, _DESCRIPTION))
    document = document_of_skill(parse_manifest(skill["SKILL.md"], name), publisher)
    return {
        "skill.toml": tomli_w.dumps(document),
        "README.md": _README.format(id=document["skill_id"], file=f"{name}.palyra-skill"),
        **skill,
    }


_README = """\
# {id}

A TypeScript skill that becomes an artifact. `SKILL.md` and `skill.ts` are the skill, `skill.test.ts` is its test, and
`skill.toml` is the manifest of the artifact, which states the same version as `SKILL.md`.

```sh
cortex-skills test .
cortex-skills key create publishing
cortex-skills package build . -o {file} --key publishing
cortex-skills package inspect {file}
cortex-skills install {file} --allow-tofu --grant graph=read   # trusts the key that signed it, your own
```

Packages that the skill contains are listed in `dependencies.txt`, one package URL a line (`pkg:npm/left-pad@1.3.0`), or
in the `package-lock.json` or `requirements.txt` beside `skill.toml`: the bill of materials names them.
"""
