"""Fetches the test suites of the W3C: `python -m tests.graph.w3c.fetch`.

They are parts of the source distributions of rdflib and of pySHACL, which pip downloads and checks by their hashes
(`requirements.txt`). Only the suites are unpacked, beside this file; git ignores them.
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
# Where the suites are in an archive, and the folder that they get.
_INSIDE = {"rdflib": ("test/data/suites/w3c/", "w3c"), "pyshacl": ("test/resources/sht_tests/", "shacl")}


def main() -> None:
    """Download and unpack the suites, unless they are there."""
    requirements = HERE / "requirements.txt"
    mark = TARGET / "requirements.txt"
    if mark.exists() and mark.read_bytes() == requirements.read_bytes():
        return
    shutil.rmtree(TARGET, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=HERE, prefix=".suites-") as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        options = ["--no-deps", "--no-binary", ",".join(_INSIDE), "--require-hashes", "--dest", folder]
        subprocess.run([*pip, *options, "--requirement", str(requirements)], check=True)
        found = Path(folder) / "suites"
        for package, (inside, name) in _INSIDE.items():
            (archive,) = Path(folder).glob(f"{package}-*.tar.gz")
            _unpack(archive, inside, found / name)
        found.rename(TARGET)
    shutil.copyfile(requirements, mark)


def _unpack(archive: Path, inside: str, to: Path) -> None:
    with tarfile.open(archive) as files:
        for member in files:
            _, _, name = member.name.partition(inside)
            if member.isfile() and name:
                (to / name).parent.mkdir(parents=True, exist_ok=True)
                content = files.extractfile(member)
                assert content is not None
                (to / name).write_bytes(content.read())


if __name__ == "__main__":
    main()
