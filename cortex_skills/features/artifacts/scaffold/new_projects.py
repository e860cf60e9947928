"""The projects of new artifacts, as text by relative path: `package init NAME`, and with `--wasm`.

Rules kept here:
- the skill of a TypeScript project is that of `init`, with its test; its `skill.toml` states what its SKILL.md states;
- a project in C is the example `hello` of `sdk/c`, or `handles` for a core module, with other names; they are part of
  the wheel. It is compiled with one command, without a change, and `cortex-skills package build` makes the component.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import tomli_w

from cortex_skills.features.artifacts.package.project import document_of_skill
from cortex_skills.features.scaffold.content import Plan, files_of
from cortex_skills.manifest import parse_manifest

_DESCRIPTION = "Counts which values things have. Use it when asked how many there are of each."
_PACKED = "sdk_files"  # in a wheel, see pyproject.toml
_HEADERS = ("palyra.h", "palyra_json.h")
_OUTPUT = ("-I.", "tool.c", "-o", "modules/tool.wasm")


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
        "README.md": _README_OF_SKILL.format(id=document["skill_id"], file=f"{name}.palyra-skill"),
        **skill,
    }


def wasm_project(name: str, publisher: str, *, is_core: bool = False) -> dict[str, str]:
    """The files of a new project.

    Args:
        name: of the skill, without its publisher: a-z, 0-9, _ and -.
        publisher: who will sign it.
        is_core: whether it is a core module, which takes nothing and answers with a number; else a component.
    """
    title = "handles" if is_core else "hello"
    packed: Traversable = files("cortex_skills") / _PACKED / "c"
    sdk = packed if packed.is_dir() else Path(__file__).parents[4] / "sdk" / "c"
    example = sdk / title
    skill_id = f"{publisher}.{name}"
    manifest = example.joinpath("skill.toml").read_text(encoding="utf-8")
    manifest = manifest.replace('publisher = "acme"', f'publisher = "{publisher}"').replace(f"acme.{title}", skill_id)
    return {
        "skill.toml": manifest.replace(f'"{title.title()}"', f'"{name}"'),
        "tool.c": example.joinpath("tool.c").read_text(encoding="utf-8"),
        **{header: sdk.joinpath(header).read_text(encoding="utf-8") for header in (() if is_core else _HEADERS)},
        "compile.txt": sdk.joinpath("compile.txt").read_text(encoding="utf-8") + "".join(f"{e}\n" for e in _OUTPUT),
        "README.md": (_README_OF_CORE if is_core else _README_OF_TOOL).format(id=skill_id, file=f"{name}.palyra-skill"),
    }


_README_OF_SKILL = """\
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

_README_OF_CORE = """\
# {id}

A core module in C. `tool.c` is its source, `skill.toml` its manifest. It takes no input, answers with a number, and
runs in Palyra, too: `--form palyra` writes the provenance that Palyra reads.

```sh
python -m pip install ziglang==0.17.1   # a C compiler for WebAssembly
mkdir -p modules
python -m ziglang cc @compile.txt
cortex-skills package build . -o {file} --form palyra
cortex-skills install {file} --allow-tofu   # trusts the key that signed it, your own
cortex-skills call {id}   # the tool that operator.plugin.default_tool_id names
```
"""

_README_OF_TOOL = """\
# {id}

A tool in C. `tool.c` is its source, `skill.toml` its manifest, `palyra.h` declares what the host offers.

```sh
python -m pip install ziglang==0.17.1   # a C compiler for WebAssembly
mkdir -p modules
python -m ziglang cc @compile.txt
cortex-skills package build . -o {file}
```

`tool.c` is compiled to a core module; `package build` makes a component of it and signs the artifact. To try it:

```sh
cortex-skills install {file} --allow-tofu --grant write=greeted   # trusts the key that signed it, your own
cortex-skills call {id}.greet '{{"name": "Ada"}}'   # waits for a person: the answer has the id of the request
cortex-skills approvals list
```

`cortex-skills approvals approve ID` runs the request with that id.
"""
