"""The shapes of the 17 skills of a public collection: front matter, bodies and files as there, texts of our own.

Rules kept here:
- what is kept of an original: its name, the YAML style and the length of its description, its other keys, its folders,
  the kinds of its files, and what is unusual in its body.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

TERMS = "Complete terms in LICENSE.txt"
OWNED = "Proprietary. LICENSE.txt has complete terms"
LONGEST = 1_075  # characters: of the description of `claude-api` in one of its versions; the format allows 1,024
_SENTENCE = "Makes `*.x` (y, z & more) from 'notes' — when asked, e.g. by name/path; not for a: b, [c] or #d. "
RULES = "\n# Title\n\n---\n\n## Part\n\n```yaml\n---\na: 1\n---\n```\n\n---\n"
STEPS = "\n## How\n\n1. **Read the request** and its files\n2. **Load the guide** from `examples/`:\n    - `a.md`\n"
TABLE = "\n# 🚀 Title\n\n| a | b |\n|---|---|\n| `|` | <b>c</b> |\n\n- [ ] ✅ **Check**: 2–3 `$#,##0;($#,##0);-`\n"
NO_LINE_END = "\n# Title\n\n<style>a { b: c }</style>\n\n- Last line"
BLANK_LINES = "\n\n\n# Title\n\n1. **First** - a theme\n"
SCHEMAS = ("ecma/fouth-edition/opc-contentTypes.xsd", "ISO-IEC29500-4_2016/dml-main.xsd", "microsoft/wml-2010.xsd")
OFFICE = tuple(
    f"scripts/office/{name}" for name in ("pack.py", "helpers/__init__.py", *(f"schemas/{n}" for n in SCHEMAS))
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a skill: the YAML style and length of its description, its licence, body, and files."""

    style: str
    length: int
    files: tuple[str, ...] = ()
    license: str | None = TERMS
    body: str = TABLE


COLLECTION = {
    "algorithmic-art": Shape("plain", 362, ("templates/viewer.html", "templates/generator_template.js"), body=RULES),
    "brand-guidelines": Shape("plain", 236),
    "canvas-design": Shape("plain", 268, ("canvas-fonts/Lora-Bold.ttf", "canvas-fonts/Lora-OFL.txt"), body=RULES),
    "claude-api": Shape(
        "block",
        1_024,
        ("python/claude-api/README.md", "shared/evals/build-eval.md", "csharp/claude-api.md", "curl/examples.md"),
        body=RULES,
    ),
    "doc-coauthoring": Shape("plain", 374, license=None, body=STEPS),
    "docx": Shape("quoted", 852, ("scripts/comment.py", "scripts/templates/comments.xml", *OFFICE), OWNED),
    "frontend-design": Shape("plain", 212),
    "internal-comms": Shape("plain", 322, ("examples/3p-updates.md", "examples/faq-answers.md"), body=STEPS),
    "mcp-builder": Shape(
        "plain", 277, ("reference/evaluation.md", "scripts/example_evaluation.xml", "scripts/requirements.txt")
    ),
    "pdf": Shape("plain", 430, ("forms.md", "reference.md", "scripts/check_bounding_boxes.py"), OWNED),
    "pptx": Shape("quoted", 640, ("editing.md", "scripts/html2pptx.js", *OFFICE), OWNED, RULES),
    "skill-creator": Shape(
        "plain",
        312,
        (
            "agents/grader.md",
            "assets/eval_review.html",
            "eval-viewer/viewer.html",
            "scripts/__init__.py",
            "scripts/utils.py",
        ),
        None,
        STEPS,
    ),
    "slack-gif-creator": Shape("plain", 232, ("core/easing.py", "requirements.txt")),
    "theme-factory": Shape("plain", 251, ("theme-showcase.pdf", "themes/ocean-depths.md"), body=BLANK_LINES),
    "web-artifacts-builder": Shape(
        "plain", 307, ("scripts/bundle-artifact.sh", "scripts/shadcn-components.tar.gz"), body=NO_LINE_END
    ),
    "webapp-testing": Shape("plain", 205, ("examples/element_discovery.py", "scripts/with_server.py")),
    "xlsx": Shape("quoted", 969, ("scripts/recalc.py", "scripts/office/soffice.py", *OFFICE), OWNED, NO_LINE_END),
}
_CONTENTS = {
    ".ttf": b"\0\1\0\0\xff",
    ".pdf": b"%PDF-1.7\n\xe2\xe3",
    ".gz": b"\x1f\x8b\x08\0" + bytes(300_000),
    ".py": b"",
}


def description(style: str, length: int) -> str:
    """A description in the characters that a style allows."""
    sentence = _SENTENCE.replace(": ", " ").replace(" #", " ") if style == "plain" else _SENTENCE
    text = (sentence * (length // len(sentence) + 1))[:length]
    return text[:-1] + "."


def write_collection(root: Path) -> list[Path]:
    """Write the skills to folders; returns these."""
    return [write_skill(root, name, shape) for name, shape in COLLECTION.items()]


def write_skill(root: Path, name: str, shape: Shape) -> Path:
    """Write a skill to a folder, which is returned."""
    text = description(shape.style, shape.length)
    written = {"plain": text, "quoted": json.dumps(text, ensure_ascii=False), "block": f"|-\n  {text}"}[shape.style]
    licence = f"license: {shape.license}\n" if shape.license else ""
    manifest = f"---\nname: {name}\ndescription: {written}\n{licence}---\n{shape.body}"
    files = {"SKILL.md": manifest.encode()} | {path: _content(path) for path in shape.files}
    if shape.license:
        files["LICENSE.txt"] = b"Terms.\n"
    for path, data in files.items():
        place = root / name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return root / name


def _content(path: str) -> bytes:
    known = _CONTENTS.get(Path(path).suffix)
    return f"The file {path}.\n".encode() if known is None else known
