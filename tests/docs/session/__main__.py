"""`python -m tests.docs.session`: record the session, and write `docs/session.md`, `.cast` and `.svg`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.docs.session.page import page, picture
from tests.docs.session.story import played

DOCS = Path(__file__).parents[3] / "docs"
_KEY_S, _READING_S = 0.03, 1.5


def main() -> None:
    """Record the session and write its files."""
    with tempfile.TemporaryDirectory() as folder:
        cast = played(Path(folder), key_s=_KEY_S, reading_s=_READING_S)
    for name, text in (("session.cast", cast.to_text()), ("session.md", page(cast)), ("session.svg", picture(cast))):
        (DOCS / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote docs/{name}\n")


main()
