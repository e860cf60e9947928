"""Of which files all that is known here was made: those of this folder.

Rules kept here:
- the package imports this before anything else of the folder, so that the stamp is of no later files than the code that
  runs; imported later, it says that it may be;
- another Python, with other tables of Unicode, is another source.
"""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from pathlib import Path

FOLDER = Path(__file__).parent


def stamp() -> str | None:
    """What tells the files as they are now from others; None when one cannot be read."""
    digest = hashlib.sha256(f"{sys.version}|{unicodedata.unidata_version}".encode())
    try:
        for folder in (FOLDER, FOLDER / "words"):
            for path in sorted(folder.iterdir()):
                if path.suffix:
                    content = path.read_bytes()
                    digest.update(f"{path.name}|{len(content)}|".encode() + content)
    except OSError:
        return None
    return digest.hexdigest()


_ARE_IMPORTED = any(name.startswith(f"{__package__}.") and name != __name__ for name in sys.modules)
# Of the files as they were before anything of them was imported; None when that is not known.
BEFORE_IMPORT = None if _ARE_IMPORTED else stamp()
