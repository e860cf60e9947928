"""Check the types of a skill with the TypeScript compiler that is installed.

Rules kept here:
- the compiler is `tsc` of the PATH or of a `node_modules` of the current folder or one above, and never one inside the
  folder of a skill, which is not trusted;
- it reads copies of the files in a temporary folder, with settings written here. Of the skill's `tsconfig.json` only
  switches count, such as `strict`: a skill names no file that is read or written;
- an import that does not resolve is no type error: the bundler refuses it, and drops one of types only;
- the compiler has a time limit; when it ends otherwise than with a list of errors, that is an error.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.skill_folder.snapshot import SkillSnapshot

_SECONDS = 60.0
_MAX_ERRORS = 50
_MAX_SETTINGS = 64 << 10
_DECLARED = "cortex-types"  # no folder of a skill: the sources are in their own
_SOURCES = "skill"
_ERROR = re.compile(r"skill/(?P<file>[^\n]+?)\((?P<line>\d+),(?P<column>\d+)\): error (?P<rule>TS\d+): (?P<message>.+)")
_UNRESOLVED = frozenset({"TS2307", "TS2792", "TS7016"})
_COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_SWITCH = re.compile(r'"(\w+)"\s*:\s*(true|false)')
_SWITCHES = frozenset(
    {
        *("strict", "alwaysStrict", "exactOptionalPropertyTypes", "noFallthroughCasesInSwitch", "noImplicitAny"),
        *("noImplicitOverride", "noImplicitReturns", "noImplicitThis", "noPropertyAccessFromIndexSignature"),
        *("noUncheckedIndexedAccess", "noUnusedLocals", "noUnusedParameters", "strictBindCallApply"),
        *("strictFunctionTypes", "strictNullChecks", "strictPropertyInitialization", "useUnknownInCatchVariables"),
    }
)
_OPTIONS: Mapping[str, Any] = {
    "target": "ES2023",
    "lib": ["ES2023"],
    "module": "ESNext",
    "moduleResolution": "Bundler",
    "moduleDetection": "force",
    "allowImportingTsExtensions": True,
    "allowJs": True,
    "checkJs": False,
    "noEmit": True,
    "skipLibCheck": True,
    "types": [],
    "typeRoots": [],
    "strict": False,
}


def find_compiler(folder: Path) -> str | None:
    """The path of `tsc`: on the PATH, or in a `node_modules` of a folder or one above; None when there is none.

    Args:
        folder: the current folder.
    """
    above = [folder, *folder.parents]
    skills = [place for place, each in enumerate(above) if (each / "SKILL.md").exists()]
    trusted = above[max(skills, default=-1) + 1 :]
    places = (os.environ.get("PATH"), *(str(each / "node_modules" / ".bin") for each in trusted))
    return next((found for place in places if place and (found := shutil.which("tsc", path=place))), None)


def typed_files(snapshot: SkillSnapshot, *, tests: bool) -> dict[str, str]:
    """The sources of a skill, with its tests or without, by path; empty when none is TypeScript."""
    files = {**snapshot.sources, **(snapshot.tests if tests else {})}
    return files if any(file.endswith((".ts", ".tsx", ".mts")) for file in files) else {}


@dataclass(frozen=True, slots=True)
class TypeCheck:
    """Checks the types of skills.

    Attributes:
        compiler: the path of `tsc`.
    """

    compiler: str

    def check(self, snapshot: SkillSnapshot, *, tests: bool) -> CortexError | None:
        """The type errors of a skill, as one error with `findings`; None when there are none.

        Args:
            snapshot: of the skill.
            tests: whether its tests are checked too.
        """
        files = typed_files(snapshot, tests=tests)
        if not files:
            return None
        with tempfile.TemporaryDirectory(prefix="cortex-types-") as scratch:
            work = Path(scratch)
            for file, text in files.items():
                _write(work / _SOURCES / file, text)
            for name in ("cortex-skill.d.ts", "cortex-test.d.ts"):
                shipped = resources.files("cortex_skills").joinpath("skill_types", name)
                _write(work / _DECLARED / name, shipped.read_text(encoding="utf-8"))
            _write(work / _DECLARED / "vitest.d.ts", 'declare module "vitest";\n')
            include = [f"{_DECLARED}/*.d.ts", f"{_SOURCES}/**/*"]
            settings = {"compilerOptions": {**_OPTIONS, **switches(snapshot.folder)}, "include": include}
            _write(work / "tsconfig.json", json.dumps(settings))
            return _error_of(snapshot.name, files, self._run(work))

    def _run(self, work: Path) -> str:
        """The compiler's output."""
        command = [self.compiler, "--pretty", "false", "--project", "tsconfig.json"]
        try:
            done = subprocess.run(command, cwd=work, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603
        except subprocess.TimeoutExpired:
            raise _failed(f"did not end within {_SECONDS:g} s") from None
        except OSError as error:
            raise _failed(f"cannot be run: {error.strerror}") from None
        output = done.stdout.decode("utf-8", "replace")
        if done.returncode and not _ERROR.search(output):
            lines = (output + done.stderr.decode("utf-8", "replace")).strip().splitlines() or [str(done.returncode)]
            raise _failed(f"failed: {lines[0][:300]}")
        return output


def switches(folder: Path) -> dict[str, bool]:
    """The switches for strictness in the `tsconfig.json` of a folder; none without a regular file of that name."""
    path = folder / "tsconfig.json"
    if path.is_symlink() or not path.is_file():
        return {}
    with path.open("rb") as file:
        text = file.read(_MAX_SETTINGS).decode("utf-8", "replace")
    plain = _COMMENTS.sub(lambda match: match[1] or " ", text)
    return {name: value == "true" for name, value in _SWITCH.findall(plain) if name in _SWITCHES}


def _error_of(skill: str, files: Mapping[str, str], output: str) -> CortexError | None:
    findings = []
    for match in [found for found in _ERROR.finditer(output) if found["rule"] not in _UNRESOLVED][:_MAX_ERRORS]:
        line, column = int(match["line"]), int(match["column"])
        lines = files.get(match["file"], "").split("\n")
        before = lines[line - 1] if line <= len(lines) else ""
        units = before.encode("utf-16-le", "surrogatepass")[: 2 * (column - 1)]
        column = len(units.decode("utf-16-le", "ignore")) + 1  # in characters
        place = {"file": match["file"], "line": line, "column": column}
        findings.append({**place, "rule": match["rule"], "message": match["message"], "hint": ""})
    if not findings:
        return None
    lines = [f"{each['file']}:{each['line']}:{each['column']}: {each['message']}" for each in findings]
    count = f"{len(findings)} type error{'' if len(findings) == 1 else 's'}"
    return CortexError(
        "transpile_error", "\n".join([f"{skill} has {count}", *lines]), details={"findings": findings, "skill": skill}
    )


def _failed(what: str) -> CortexError:
    return CortexError("transpile_error", f"the TypeScript compiler {what}", hint="--no-types checks no types")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
