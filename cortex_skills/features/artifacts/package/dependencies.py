"""What an author states that an artifact contains: package URLs, from a list and from lock files.

Rules kept here:
- a list has one package URL a line (`dependencies.txt`, `#` begins a comment); a lock file of npm (`package-lock.json`,
  versions 2 and 3) and a list of PyPI packages (`requirements.txt`) are read as they are;
- a package without a version is an error, except in `requirements.txt`, which many skills ship as a file of theirs:
  there a package that is not pinned (`name==1.2.3`) has no version in the bill;
- what npm needs only to develop is left out;
- the result is sorted and has each package once, so the same input gives the same bill.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json

LIST, NPM, PYPI = "dependencies.txt", "package-lock.json", "requirements.txt"
FILES = (LIST, NPM, PYPI)

_MAX_FILE = 4 << 20
_MAX_PACKAGES = 10_000
_PACKAGE = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[A-Za-z0-9,._ -]*\])?\s*(?:==\s*([A-Za-z0-9.!+_-]+)|[<>=!~][^;]*)?\s*(?:;.*)?"
)
_OPTION = re.compile(r"\s--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True, order=True)
class ContainedPackage:
    """A package: its package URL, and its digests by algorithm (`sha256`, `sha512`), in hexadecimal."""

    purl: str
    digests: tuple[tuple[str, str], ...] = ()


def read_dependencies(files: Mapping[str, bytes]) -> tuple[ContainedPackage, ...]:
    """The packages in the files of a project, by name of the file.

    Raises:
        ArtifactError: a file cannot be read, or has a package without a version.
    """
    readers = {LIST: _listed, NPM: _of_npm, PYPI: _of_pypi}
    found: dict[str, ContainedPackage] = {}
    for name, read in readers.items():
        if name in files:
            for dependency in read(_text(name, files[name])):
                if dependency.digests or dependency.purl not in found:
                    found[dependency.purl] = dependency
    if len(found) > _MAX_PACKAGES:
        raise ArtifactError(f"the project states more than {_MAX_PACKAGES:,} dependencies")
    return tuple(sorted(found.values()))


def _listed(text: str) -> Iterator[ContainedPackage]:
    from packageurl import PackageURL

    for number, line in enumerate(text.splitlines(), 1):
        given = line.partition(" #")[0].strip()
        if not given or given.startswith("#"):
            continue
        try:
            purl = PackageURL.from_string(given)
        except ValueError as error:
            raise _refused(LIST, f"line {number} is not a package URL: {shown(str(error))}") from None
        if not purl.version:
            raise _refused(LIST, f"line {number}, {shown(given)}, has no version")
        yield ContainedPackage(purl.to_string())


def _of_npm(text: str) -> Iterator[ContainedPackage]:
    from packageurl import PackageURL

    try:
        document = read_json(text, max_size=_MAX_FILE, max_depth=16)
    except ValueError as error:
        raise _refused(NPM, f"is not JSON: {error}") from None
    packages = document.get("packages") if isinstance(document, dict) else None
    if not isinstance(packages, dict):
        raise _refused(NPM, "has no packages: write it with npm 7 or later")
    for path, package in packages.items():
        if not path or not isinstance(package, dict) or package.get("dev") or package.get("link"):
            continue
        name = package.get("name") or path.rpartition("node_modules/")[2]
        version = package.get("version")
        if not isinstance(name, str) or not isinstance(version, str) or not name or not version:
            raise _refused(NPM, f"the package {shown(path)} has no name or version")
        namespace, _, last = name.rpartition("/")
        try:
            purl = PackageURL("npm", namespace or None, last, version).to_string()
        except ValueError:
            raise _refused(NPM, f"the package {shown(path)} has no valid name") from None
        yield ContainedPackage(purl, _integrity(package.get("integrity")))


def _integrity(value: Any) -> tuple[tuple[str, str], ...]:
    """The digest in a Subresource Integrity value; empty for one that is none."""
    algorithm, _, encoded = value.partition("-") if isinstance(value, str) else ("", "", "")
    if algorithm not in ("sha256", "sha512"):
        return ()
    try:
        return ((algorithm, base64.b64decode(encoded, validate=True).hex()),)
    except (binascii.Error, ValueError):
        return ()


def _of_pypi(text: str) -> Iterator[ContainedPackage]:
    from packageurl import PackageURL

    for number, line in enumerate(text.replace("\\\n", " ").splitlines(), 1):
        given = line.partition(" #")[0].strip()
        if not given or given.startswith("#"):
            continue
        hashes = _OPTION.findall(given)
        package = _PACKAGE.fullmatch(_OPTION.sub("", given).strip())
        if package is None:
            raise _refused(PYPI, f"line {number}, {shown(given)}, is not a package such as NAME==VERSION")
        purl = PackageURL("pypi", None, package[1].lower().replace("_", "-"), package[2] or None).to_string()
        yield ContainedPackage(purl, (("sha256", hashes[0]),) if len(hashes) == 1 else ())


def _text(name: str, data: bytes) -> str:
    if len(data) > _MAX_FILE:
        raise _refused(name, f"is larger than {_MAX_FILE >> 20} MiB")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise _refused(name, "is not UTF-8") from None


def _refused(name: str, problem: str) -> ArtifactError:
    return ArtifactError(f"{name}: {problem}", hint="correct it: the bill of materials is made from it")
