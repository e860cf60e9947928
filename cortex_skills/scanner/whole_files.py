"""Rules about whole files and folders: unreadable files, and limits."""

from __future__ import annotations

from cortex_skills.scanner.rule import Rule

_SMALLER = "Remove files that the skill does not need."


def _rule(name: str, title: str, finds: str, remedy: str, trips: str, passes: str) -> Rule:
    return Rule(name, "critical", title, finds, remedy, trips, passes, "text")


FILE_TOO_LARGE = _rule(
    "file-too-large",
    "A file that is too large to be scanned",
    "A source file or document of more than 512 KiB.",
    "Split the file, and remove code that the skill does not need.",
    "a `skill.ts` of 513 KiB",
    "a `skill.ts` of 512 KiB",
)
FILE_TOO_COMPLEX = _rule(
    "file-too-complex",
    "A source that is too expensive to parse",
    "Text that a parser cannot read in linear time: badly invalid code, or code with 2,001 `<`.",
    "Correct its syntax, or split the file.",
    "a source with `&!` 6,000 times",
    "a table of 20,000 rows",
)
FOLDER_TOO_LARGE = _rule(
    "folder-too-large",
    "A folder that is too large to be scanned",
    "Source files and documents of more than 4 MiB together.",
    _SMALLER,
    "nine source files of 512 KiB",
    "eight source files of 512 KiB",
)
TOO_MANY_FILES = _rule(
    "too-many-files",
    "More files than are scanned",
    "More than 200 source files and documents, 5,000 entries or 32 levels of folders.",
    _SMALLER,
    "201 source files",
    "200 source files",
)
TOO_MANY_FINDINGS = _rule(
    "too-many-findings",
    "More findings than are reported",
    "More than 200 findings in a file, or in a folder.",
    "Correct the findings that are shown, then scan again.",
    "a file with 201 findings",
    "a file with 200 findings",
)
SYMLINK = _rule(
    "symlink",
    "A symbolic link",
    "A link as the folder or as an entry in it; links are not followed.",
    "Replace the link by a copy of the file.",
    "`lib.ts`, a link to a file elsewhere",
    "`lib.ts`, a copy of that file",
)
UNREADABLE = _rule(
    "unreadable-file",
    "A file that cannot be read",
    "A source file or document that is not a regular file or not readable; a folder that cannot be listed.",
    "Replace it by a readable regular file, or remove it.",
    "a pipe called `lib.ts`",
    "an empty file called `lib.ts`",
)
NOT_UTF8 = _rule(
    "not-utf8",
    "A file that is not UTF-8",
    "A source file or document with invalid UTF-8, which programs decode differently.",
    "Save it as UTF-8.",
    "a source saved in UTF-16",
    "a source in UTF-8, with or without a byte order mark",
)

RULES = (
    FILE_TOO_LARGE,
    FILE_TOO_COMPLEX,
    FOLDER_TOO_LARGE,
    TOO_MANY_FILES,
    TOO_MANY_FINDINGS,
    SYMLINK,
    UNREADABLE,
    NOT_UTF8,
)
