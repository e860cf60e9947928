"""The faults of a skill that an error reports, each with its location and source line.

Rules kept here:
- a fault names file, line and column where they are known, and shows the source line with a caret, as a compiler does;
- the line of a field of the manifest is looked up in the file; nothing more precise is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cortex_skills.doors.cli.output import Output, style_of
from cortex_skills.errors import CortexError

_MAX_BYTES = 1 << 20
_MANIFEST = "SKILL.md"
_EXCERPT = re.compile(r"((.+):(\d+):(\d+))\n")  # its first line
_LINE_END = re.compile("\r\n|[\n\r\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a skill; unknown attributes are empty.

    Attributes:
        code, message, hint: of the error.
        field: of the manifest.
        file: relative to the skill's folder.
        line, column: from 1.
        excerpt: the source line and the caret below it.
    """

    code: str
    message: str
    hint: str = ""
    field: str = ""
    file: str = ""
    line: int | None = None
    column: int | None = None
    excerpt: str = ""

    def to_json(self) -> dict[str, Any]:
        """The fault as JSON."""
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "field": self.field,
            "file": self.file,
            "line": self.line,
            "column": self.column,
        }

    def show(self, out: Output, folder: Path) -> None:
        """Write the fault in the format of a compiler."""
        place = ":".join(str(part) for part in (folder / self.file, self.line, self.column) if part)
        about = f"{self.field}: " if self.field else ""
        first, *more = self.message.split("\n")
        out.line(f"{place}: ", (f"error[{self.code}]", style_of("error")), f": {about}{first}")
        for line in (*more, *self.excerpt.splitlines()):
            out.line(line if line.startswith("  ") else f"  {line}")
        if self.hint:
            out.line(f"    hint: {self.hint}")


def faults_of(error: CortexError, folder: Path) -> list[Fault]:
    """The faults that an error reports about the skill in `folder`."""
    details = error.details
    if problems := details.get("errors"):
        return [_placed(Fault(error.code, **problem), folder) for problem in problems]
    if findings := details.get("findings"):
        return [_found(error.code, finding, folder) for finding in findings]
    if frames := details.get("frames"):
        inner, where = frames[0], f"{frames[0]['file']}:{frames[0]['line']}:{frames[0]['column']}"
        message = error.message.replace(f" at {where}", "", 1).removeprefix(f"{where}: ")
        _, *shown = str(details.get("excerpt", "")).expandtabs(4).split("\n")
        fault = Fault(error.code, message, error.hint, "", inner["file"], inner["line"], inner["column"])
        return [replace(fault, excerpt="\n".join(shown))]
    if place := _EXCERPT.match(str(details.get("excerpt", ""))):
        fault = Fault(error.code, error.message.replace(f" at {place[1]}", "", 1), error.hint, "", place[2])
        _, *shown = str(details["excerpt"]).expandtabs(4).split("\n")
        return [replace(fault, line=int(place[3]), column=int(place[4]), excerpt="\n".join(shown))]
    field = details.get("field")
    fault = Fault(error.code, error.message, error.hint, field=field or "", file=_MANIFEST if field else "")
    return [_placed(fault, folder)]


def _found(code: str, finding: dict[str, Any], folder: Path) -> Fault:
    message = f"{finding['message']} [{finding['rule']}]"
    fault = Fault(code, message, finding["hint"], "", finding["file"], finding["line"], finding["column"])
    return replace(fault, excerpt=excerpt_at(folder, fault.file, finding["line"], finding["column"]))


def excerpt_at(folder: Path, file: str, line: int, column: int) -> str:
    """The source line of a finding and a caret below it; empty when the file or line does not exist.

    Args:
        folder: of the skill.
        file: relative to the folder.
        line: from 1; line terminators are those of ECMAScript (§12.3).
        column: from 1, in code points.
    """
    lines = _LINE_END.split(_text(folder, file).removeprefix("\ufeff"))
    if not 1 <= line <= len(lines):
        return ""
    before = lines[line - 1][: column - 1]
    units = len(before.encode("utf-16-le", "surrogatepass")) // 2
    return _excerpt("\n".join(lines), Fault("", "", line=line, column=units + 1))


def _placed(fault: Fault, folder: Path) -> Fault:
    """A fault of the manifest with its line, column and excerpt."""
    file = _MANIFEST if fault.file.endswith(f"/{_MANIFEST}") else fault.file
    text = _text(folder, file)
    if fault.field and Path(file).name == _MANIFEST and fault.line is None:
        fault = replace(fault, line=_line_of(text, fault.field))
    lines = text.split("\n")
    if fault.line is None or fault.line > len(lines):
        return replace(fault, file=file)
    key = re.split(r"[.\[]", re.sub(r"(\[\d+\])+$", "", fault.field))[-1]
    match = re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", lines[fault.line - 1]) or re.search(r"\S", lines[0])
    fault = replace(fault, file=file, column=match.start() + 1 if match else 1)
    return replace(fault, excerpt=_excerpt(text, fault))


def _line_of(text: str, field: str) -> int | None:
    """The line of a field in the manifest; None when it cannot be found."""
    from cortex_skills.manifest.frontmatter import read_frontmatter

    try:
        path: tuple[str | int, ...] = tuple(
            int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]]+", field)
        )
        return read_frontmatter(text).document.mark(path).line
    except CortexError:
        return None


def _text(folder: Path, file: str) -> str:
    """The text of a regular file of the skill; empty for anything else."""
    path = folder / file
    if not file or Path(file).is_absolute() or ".." in Path(file).parts or path.is_symlink() or not path.is_file():
        return ""
    try:
        with path.open("rb") as source:
            return source.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _excerpt(text: str, fault: Fault) -> str:
    from cortex_sandbox import Frame
    from cortex_sandbox.excerpt import excerpt

    if fault.line is None or fault.column is None:
        return ""
    _, *lines = excerpt([Frame("", "it", fault.line, fault.column)], {"it": text}).expandtabs(4).split("\n")
    return "\n".join(lines)
