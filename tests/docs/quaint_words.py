"""Count quaint words in docstrings, comments, schemas, pages and tests.

    python -m tests.docs.quaint_words [--worst 30] [--show FILE]

Rules kept here:
- the word list is the one of `docs/words.md`, section "Words that are not used";
- code is not prose: names in backticks, code blocks and doctest lines are left out;
- all are read by patterns, which take a fifth of the time of a syntax tree: a docstring is a string with three quotes
  that begins a line;
- of schemas and ontologies the descriptions count.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("cortex_skills", "graph", "sandbox")
TESTS = ("tests", "fuzz", "eval", "bench", "examples")
_SECTION = re.compile(r"^## Words that are not used$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_LISTED = re.compile(r"`([^`]+)`")
_CODE = re.compile(r"```.*?```|`[^`]*`|^\s*>>> .*$|^    .*$", re.MULTILINE | re.DOTALL)
_DOCSTRING_CODE = re.compile(r"``[^`]*``|`[^`]*`|^\s*(?:>>>|\.\.\.) .*$", re.MULTILINE)
_SCRIPT_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", re.DOTALL)
# A docstring, another string, which may contain `#`, or a comment; ten times as fast as `tokenize`.
_STRING_OR_COMMENT = re.compile(
    r'''^[ ]*r?"""((?:\\.|[^\\])*?)"""|'''
    r'''"""(?:\\.|[^\\])*?"""|\'{3}(?:\\.|[^\\])*?\'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(#[^\n]*)''',
    re.DOTALL | re.MULTILINE,
)
_DESCRIPTION = re.compile(
    r'"description": "((?:[^"\\]|\\.)*)"|(?:rdfs:comment|dcterms:description|sh:message) "([^"]*)"',
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")


@dataclass(frozen=True)
class Count:
    """Words of a text, and the quaint ones among them."""

    words: int
    quaint: tuple[str, ...]

    @property
    def per_thousand(self) -> float:
        """Quaint words in 1,000 words."""
        return 1000 * len(self.quaint) / max(1, self.words)


def quaint_pattern() -> re.Pattern[str]:
    """The pattern of all words that `docs/words.md` lists as not used."""
    found = _SECTION.search((ROOT / "docs" / "words.md").read_text(encoding="utf-8"))
    assert found is not None, "docs/words.md has lost its section"
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, _LISTED.findall(found[1])))})\b", re.IGNORECASE)


def count(text: str, pattern: re.Pattern[str]) -> Count:
    """The words of a text, and which of them are quaint."""
    return Count(len(_WORD.findall(text)), tuple(match.group().lower() for match in pattern.finditer(text)))


def docstrings(path: Path) -> str:
    """Every docstring of a Python file, without code."""
    return _DOCSTRING_CODE.sub(" ", "\n".join(text for text, _ in _strings_and_comments(path) if text))


def comments(path: Path) -> str:
    """Every comment of a Python file."""
    return "\n".join(_DOCSTRING_CODE.sub(" ", comment) for _, comment in _strings_and_comments(path) if comment)


@functools.cache
def _strings_and_comments(path: Path) -> list[tuple[str, str]]:
    """The docstrings and the comments of a Python file: pairs, of which one is empty."""
    return [pair for pair in _STRING_OR_COMMENT.findall(path.read_text(encoding="utf-8")) if any(pair)]


def script_comments(path: Path) -> str:
    """Every comment of a TypeScript, JavaScript or C file, without the code in it."""
    found = _SCRIPT_COMMENT.findall(path.read_text(encoding="utf-8"))
    return re.sub(r"`[^`]*`|^ \*     .*$", " ", "\n".join(found), flags=re.MULTILINE)


def descriptions(path: Path) -> str:
    """Every description of a JSON schema or of an ontology in Turtle."""
    return re.sub("`[^`]*`", " ", "\n".join(map("".join, _DESCRIPTION.findall(path.read_text(encoding="utf-8")))))


def page(path: Path) -> str:
    """A Markdown page without its code."""
    return _CODE.sub(" ", path.read_text(encoding="utf-8"))


def files(folders: Iterable[str], *suffixes: str) -> Iterator[Path]:
    """The files with these suffixes below folders of the repository, without those of npm packages."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and "node_modules" not in path.parts:
                yield path


def pages() -> Iterator[Path]:
    """The Markdown pages; the changelog and the page that lists the words are left out."""
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]):
        if path.name not in ("CHANGELOG.md", "words.md", "session.md"):
            yield path


def _product_comments() -> dict[Path, str]:
    python = {path: comments(path) for path in files(PRODUCT, ".py")}
    return python | {path: script_comments(path) for path in files(PRODUCT, ".ts", ".mjs", ".c")}


# The prose of the repository: the kind of text, and a function that reads it: the text without code of each file.
TEXTS: dict[str, Callable[[], dict[Path, str]]] = {
    "docstrings": lambda: {path: docstrings(path) for path in files(PRODUCT, ".py")},
    "comments": _product_comments,
    "schemas": lambda: {path: descriptions(path) for path in files(PRODUCT, ".json", ".ttl")},
    "pages": lambda: {path: page(path) for path in pages()},
    "tests": lambda: {path: f"{docstrings(path)}\n{comments(path)}" for path in files(TESTS, ".py")},
}


def total(counts: Iterable[Count]) -> Count:
    """The sum of counts."""
    words, quaint = 0, []
    for counted in counts:
        words += counted.words
        quaint += counted.quaint
    return Count(words, tuple(quaint))


def main() -> None:
    """Print the count of each kind of text, and the worst files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--show", type=Path)
    options = parser.parse_args()
    pattern = quaint_pattern()
    if options.show:
        for number, line in enumerate(options.show.read_text(encoding="utf-8").splitlines(), 1):
            if pattern.search(_DOCSTRING_CODE.sub(" ", line)):
                sys.stdout.write(f"{number}: {line}\n")
        return
    for kind, read in TEXTS.items():
        counts = {path: count(text, pattern) for path, text in read().items()}
        whole = total(counts.values())
        rate = f"{whole.per_thousand:.2f} in 1,000"
        sys.stdout.write(f"{kind:<11} {len(whole.quaint):>5} in {whole.words:>7} words: {rate}\n")
        worst = sorted(counts.items(), key=lambda item: -len(item[1].quaint))
        for path, counted in worst[: options.worst]:
            if counted.quaint:
                words = ", ".join(f"{word} {times}" for word, times in Counter(counted.quaint).most_common())
                sys.stdout.write(f"  {len(counted.quaint):>4}  {path.relative_to(ROOT)}: {words}\n")


if __name__ == "__main__":
    main()
