import logging
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path

import pytest
from distributions import Package, described

Installed = Callable[..., list[Package]]


@pytest.fixture
def install(tmp_path: Path) -> Callable[..., None]:
    """A function that writes the metadata of a distribution into a folder, as an installer does."""

    def install(*fields: str, name: str = "pkg", folder: str = "site") -> None:
        place = tmp_path / folder / f"{name}-1.0.dist-info"
        place.mkdir(parents=True)
        lines = ["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *fields]
        (place / "METADATA").write_text("\n".join(lines) + "\n\n", encoding="utf-8")

    return install


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    def installed(*folders: str) -> list[Package]:
        return list(described(distributions(path=[str(tmp_path / folder) for folder in folders or ("site",)])))

    return installed


@pytest.mark.parametrize(
    ("fields", "license_", "statement"),
    [
        (["License-Expression: MIT OR Apache-2.0"], "MIT OR Apache-2.0", None),
        (["License-Expression: MIT", "License: GPLv3"], "MIT", None),
        (["License: Apache License 2.0"], "Apache-2.0", None),
        (["License: MIT License", "        Copyright (c) the authors", "        more"], "MIT", None),
        (["License: BSD", "Classifier: License :: OSI Approved :: MIT License"], "MIT", None),
        (["Classifier: License :: OSI Approved", "Classifier: License :: OSI Approved :: MIT License"], "MIT", None),
        (["License: BSD"], None, "BSD"),
        (["Classifier: License :: OSI Approved :: BSD License"], None, "BSD License"),
        (["Classifier: License :: Other/Proprietary License"], None, "Other/Proprietary License"),
        (["License-Expression: LicenseRef-Own"], None, "LicenseRef-Own"),
        (["License: " + "x" * 200], None, "x" * 80),
        (["License:   "], None, None),
        (["Classifier: Programming Language :: Python"], None, None),
        ([], None, None),
    ],
)
def test_the_licence_comes_from_the_newest_field_or_the_statement(install, installed, fields, license_, statement):
    install(*fields)

    assert [(package.license, package.statement) for package in installed()] == [(license_, statement)]


def test_classifiers_that_disagree_name_no_licence(install, installed):
    install("Classifier: License :: OSI Approved :: MIT License", "Classifier: License :: OSI Approved :: ISC License")

    assert installed()[0].license is None


def test_requirements_follow_their_markers_without_extras(install, installed, caplog):
    install(
        "Requires-Dist: Zope.Interface>=5",
        "Requires-Dist: always; python_version >= '3'",
        "Requires-Dist: never; python_version < '3'",
        "Requires-Dist: tested; extra == 'test'",
        "Requires-Dist: always[more]",
        "Requires-Dist: ??",
        "Provides-Extra: test",
    )

    assert installed()[0].requirements == ("always", "zope-interface")
    assert "'??'" in caplog.text


def test_the_first_distribution_of_a_name_is_used(install, installed):
    install("License: MIT", name="Some_Name", folder="first")
    install("License: ISC", name="some.name", folder="second")

    assert installed("first", "second") == [Package("some-name", "1.0", "MIT", None, ())]


def test_unreadable_metadata_is_skipped_with_a_warning(install, installed, tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    install("License: MIT", name="good")
    for name, content in {"binary": b"Name: \xff\xfe\n\n", "empty": b"", "nameless": b"Version: 1.0\n\n"}.items():
        (tmp_path / "site" / f"{name}-1.0.dist-info").mkdir()
        (tmp_path / "site" / f"{name}-1.0.dist-info" / "METADATA").write_bytes(content)
    (tmp_path / "site" / "hollow-1.0.dist-info").mkdir()

    assert [package.name for package in installed()] == ["good"]
    assert len(caplog.records) == 4
