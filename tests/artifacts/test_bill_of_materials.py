"""`sbom.cdx.json`: components of every version, and bills that are not CycloneDX."""

from __future__ import annotations

import json

import pytest

from cortex_skills.features.artifacts.package import ArtifactError
from cortex_skills.features.artifacts.package.bill_of_materials import SbomComponent, read_bill
from tests.artifacts.samples import BILL

COMPONENT = BILL["components"][0]  # type: ignore[index]


def bill(**changes: object) -> bytes:
    return json.dumps({**BILL, **changes}).encode()


@pytest.mark.parametrize("version", ["1.2", "1.3", "1.4", "1.5", "1.6", "1.7"])
def test_components_of_every_version_are_read_with_those_inside_them(version: str) -> None:
    inner = {"type": "library", "name": "inner", "version": "2", "purl": "pkg:pypi/inner@2"}
    outer = {"type": "file", "name": "outer", "version": "", "components": [inner]}
    assert read_bill(bill(specVersion=version, version=1, components=[outer, COMPONENT])) == (
        SbomComponent("outer", "", ""),
        SbomComponent("inner", "2", "pkg:pypi/inner@2"),
        SbomComponent("left-pad", "1.3.0", "pkg:npm/left-pad@1.3.0"),
    )


def test_a_bill_without_components_is_valid() -> None:
    assert read_bill(b'{"bomFormat":"CycloneDX","specVersion":"1.6"}') == ()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not JSON"),
        (b"[]", "bomFormat"),
        (b"{}", "bomFormat"),
        (b'{"bomFormat":"CycloneDX","bomFormat":"CycloneDX"}', "twice"),
        (bill(bomFormat="SPDX"), "bomFormat"),
        (bill(specVersion="1.8"), r"specVersion is '1\.8'"),
        (bill(specVersion="../1.6"), "specVersion"),
        (bill(specVersion=1.6), "specVersion"),
        (bill(unknown=1), "unknown"),
        (bill(components={}), "components"),
        (bill(components=[{"type": "library"}]), "components/0"),
        (bill(components=[{**COMPONENT, "type": "thing"}]), "components/0/type"),
        (bill(components=[{**COMPONENT, "name": 1}]), "components/0/name"),
        (bill(components=[COMPONENT, COMPONENT]), "components"),
        (bill(components=[{**COMPONENT, "licenses": [{"license": {"id": "No-Such-Licence"}}]}]), "licenses"),
        (bill(components=[{**COMPONENT, "purl": "left-pad"}]), "not a package URL"),
        (bill(components=[{**COMPONENT, "purl": "pkg:npm"}]), "not a package URL"),
        (bill(components=[{**COMPONENT, "name": "\ud800"}]), "cannot be printed"),
        (bill(components=[{**COMPONENT, "name": "a\u202eb"}]), "cannot be printed"),
        (b'{"bomFormat":"CycloneDX","specVersion":"1.6","x":' + b"[" * 200 + b"]" * 200 + b"}", "nested"),
        (b" " * ((4 << 20) + 1), "longer"),
    ],
)
def test_what_is_not_such_a_bill_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(ArtifactError, match=says):
        read_bill(data)
