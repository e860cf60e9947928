"""Fetches the test suites of the W3C: `python -m tests.graph.w3c.fetch`.

They are part of the source distribution of rdflib, which pip downloads and checks by its hash (`requirements.txt`).
Only the suites are unpacked, beside this file; git ignores them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE / ".suites"
_INSIDE = "test/data/suites/w3c/"


def main() -> None:
    """Download and unpack the suites, unless they are there."""
    requirements = HERE / "requirements.txt"
    mark = TARGET / "requirements.txt"
    if mark.exists() and mark.read_bytes() == requirements.read_bytes():
        return
    shutil.rmtree(TARGET, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=HERE, prefix=".suites-") as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        options = ["--no-deps", "--no-binary", "rdflib", "--require-hashes", "--dest", folder]
        subprocess.run([*pip, *options, "--requirement", str(requirements)], check=True)
        (archive,) = Path(folder).glob("rdflib-*.tar.gz")
        found = Path(folder) / "w3c"
        with tarfile.open(archive) as files:
            for member in files:
                _, _, inside = member.name.partition(_INSIDE)
                if member.isfile() and inside:
                    (found / inside).parent.mkdir(parents=True, exist_ok=True)
                    content = files.extractfile(member)
                    assert content is not None
                    (found / inside).write_bytes(content.read())
        TARGET.mkdir()
        found.rename(TARGET / "w3c")
    shutil.copyfile(requirements, mark)


if __name__ == "__main__":
    main()
