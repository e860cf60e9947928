"""Which files of a skill are its tests.

Rules kept here:
- a test file is told by its name: `*.test.ts`, or another ending of TypeScript or JavaScript;
- it is no part of the skill: it is not bundled, cannot be imported by what is, and a save of it reloads nothing;
- it is scanned like any other source, for it may be run, and in the direct mode Node.js could load it.
"""

from __future__ import annotations

import re

_TEST_FILE = re.compile(r"\.test\.[cm]?[jt]sx?$", re.IGNORECASE)


def is_test_file(path: str) -> bool:
    """Whether a file is a test, by its name.

    >>> [is_test_file(name) for name in ("skill.test.ts", "rules/a.test.js", "test.ts", "latest.ts")]
    [True, True, False, False]
    """
    return _TEST_FILE.search(path) is not None
