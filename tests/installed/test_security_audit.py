"""The checks of the security audit, each with what passes and what fails it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from wasmtime import wat2wasm

from cortex_skills import CortexError
from cortex_skills.features.artifacts.installed import InstalledArtifacts
from cortex_skills.features.artifacts.installed.installed_audit import audit_all, audit_installed, check_files
from cortex_skills.features.artifacts.installed.security_audit import SecurityAudit, audit_artifact
from cortex_skills.features.artifacts.installed.vulnerability_feed import read_feed
from cortex_skills.features.artifacts.package import HOST_VERSIONS, verify_artifact
from cortex_skills.signatures import TrustFile
from tests.artifacts.samples import BILL, trusts_acme
from tests.installed.samples import NETWORK, artifact, install, judge, place
from tests.wasm.modules import CORE, core

ID = "acme.echo_http"
SEMANTIC = '[operator.plugin]\nkind = "semantic"\n'
SKILL_MD = b"---\nname: echo-http\ndescription: Echoes.\n---\nEchoes.\n"
CHECKS = (
    "signature_validity sbom_presence provenance_presence manifest_sanity sbom_matches provenance_matches "
    "manifest_filesystem_scopes manifest_http_egress_scopes manifest_secret_scopes manifest_graph_scopes "
    "forbidden_device_capabilities forbidden_wildcard_capabilities wasm_module_presence wasm_module_size_limit "
    "wasm_module_validation wasm_exported_function_limit wasm_imports "
    "wasm_module_start skill_scan filesystem_safety vulnerability_feed"
)


def audited(data: bytes, **settings: Any) -> SecurityAudit:
    return audit_artifact(verify_artifact(data, HOST_VERSIONS, trusts_acme), **settings)


def statuses(audit: SecurityAudit) -> dict[str, str]:
    return {check.id: check.status for check in audit.checks}


def module(text: str) -> Mapping[str, bytes]:
    return {"modules/echo.wasm": bytes(wat2wasm(text))}


def test_every_check_is_reported_and_a_good_artifact_passes() -> None:
    audit = audited(artifact(more=NETWORK))
    assert [check.id for check in audit.checks] == CHECKS.split()
    assert audit.passed
    assert {name: status for name, status in statuses(audit).items() if status != "passed"} == {
        "filesystem_safety": "skipped",
        "vulnerability_feed": "warned",
    }
    assert json.loads(json.dumps(audit.to_json()))["passed"] is True


def test_an_artifact_that_is_not_valid_is_not_examined_further() -> None:
    data = bytearray(artifact())
    data[60] ^= 1
    audit = audited(bytes(data))
    assert audit.findings == ("signature_validity",)
    assert set(statuses(audit).values()) == {"failed", "skipped"}


@pytest.mark.parametrize(
    ("content", "finding"),
    [
        (module('(module (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32))))'),
         "wasm_imports:modules/echo.wasm"),
        (module('(module (import "wasi:filesystem/types@0.2.0" "drop" (func)) (func (export "run") (result i32) '
                "(i32.const 0)))"), "wasm_imports:modules/echo.wasm"),
        (module(f'(module (import "{CORE}" "http-count" (func (param i64))) (func (export "run") (result i32) '
                "(i32.const 0)))"), "wasm_imports:modules/echo.wasm"),
        (module('(component (import "wasi:sockets/tcp@0.2.0" (instance)))'), "wasm_imports:modules/echo.wasm"),
        (module("(module)"), "wasm_module_validation:modules/echo.wasm"),
        ({"modules/echo.wasm": b"\0asm\1\0\0\0\xff"}, "wasm_module_validation:modules/echo.wasm"),
        ({"modules/echo.wasm": b"not a module"}, "wasm_module_validation:modules/echo.wasm"),
        (module("(module " + "".join(f'(func (export "f{n}"))' for n in range(129)) + ")"),
         "wasm_exported_function_limit:modules/echo.wasm"),
        (module('(module (start $s) (func $s unreachable) (func (export "run") (result i32) i32.const 0))'),
         "wasm_module_start:modules/echo.wasm"),
        (module('(module (start $s) (func $s (loop (br 0))) (func (export "run") (result i32) i32.const 0))'),
         "wasm_module_start:modules/echo.wasm"),
        (module('(module (memory 1100) (func (export "run") (result i32) i32.const 0))'),
         "wasm_module_start:modules/echo.wasm"),
        (module("(module" + "(memory 1)" * 5 + '(func (export "run") (result i32) i32.const 0))'),
         "wasm_module_start:modules/echo.wasm"),
        ({"modules/a.wasm": core("(i32.const 0)"), "assets/a.md": b"\xff\xfe"}, "skill_scan:assets/a.md"),
    ],
)  # fmt: skip
def test_what_cannot_run_here_fails(content: Mapping[str, bytes], finding: str) -> None:
    assert audited(artifact(content=content)).findings == (finding,)


def test_a_module_above_the_limit_of_palyra_is_a_warning() -> None:
    size = 8 << 20
    padding = b"\0" + bytes([size >> shift & 0x7F | (0x80 if shift < 28 else 0) for shift in (0, 7, 14, 21, 28)])
    large = core("(i32.const 0)") + padding + b"\1x" + bytes(size - 2)
    audit = audited(artifact(content={"modules/echo.wasm": large}))
    assert audit.passed
    (check,) = (each for each in audit.checks if each.id == "wasm_module_size_limit")
    assert (check.status, check.message) == ("warned", "above 8 MiB, which Palyra refuses: 'modules/echo.wasm'")


def test_modules_are_started_with_the_quotas_of_their_manifest_and_checked_for_their_entrypoint() -> None:
    slow = module(
        "(module (start $s) (func $s (local i32) (local.set 0 (i32.const 100000)) (loop (br_if 0 (local.tee 0 (i32.sub "
        '(local.get 0) (i32.const 1)))))) (func (export "go") (result i32) i32.const 0))'
    )
    quotas = "[capabilities.quotas]\nfuel_budget = {}\n[operator.plugin]\ndefault_entrypoint = '{}'\n"
    assert audited(artifact(more=quotas.format(10_000_000, "go"), content=slow)).passed
    few = audited(artifact(more=quotas.format(10_000, "go"), content=slow))
    assert few.findings == ("wasm_module_start:modules/echo.wasm",)
    other = audited(artifact(more=quotas.format(10_000_000, "run"), content=slow))
    assert other.findings == ("wasm_module_validation:modules/echo.wasm",)


@pytest.mark.parametrize(
    ("more", "finding"),
    [
        ('[capabilities]\ndevice_capabilities = ["camera"]\n', "forbidden_device_capabilities:camera"),
        ('[capabilities]\nhttp_egress_allowlist = ["*"]\nwildcard_opt_in = { http_egress = true }\n',
         "forbidden_wildcard_capabilities:http_egress"),
    ],
)  # fmt: skip
def test_capabilities_that_no_artifact_gets_fail(more: str, finding: str) -> None:
    assert audited(artifact(more=more)).findings == (finding,)


def test_warnings_of_the_manifest_have_checks_of_their_own() -> None:
    more = "[operator.config]\nschema_version = 1\n"
    assert statuses(audited(artifact(more=more)))["manifest_warning:empty_operator_config_contract"] == "warned"


def test_a_bill_with_another_hash_of_a_file_or_of_another_version_fails() -> None:
    component = {"type": "file", "name": "modules/echo.wasm", "hashes": [{"alg": "SHA-256", "content": "0" * 64}]}
    assert audited(artifact(bill=BILL | {"components": [component]})).findings == ("sbom_matches:modules/echo.wasm",)
    about = {"metadata": {"component": {"type": "application", "name": ID, "version": "1.1.0"}}}
    assert audited(artifact(bill=BILL | about)).findings == ("sbom_matches",)


def test_code_of_a_typescript_skill_is_scanned_and_other_sources_are_data() -> None:
    code = b"export default { name: 'echo-http', onQuery: () => eval('1') };"
    content = {"assets/skill/SKILL.md": SKILL_MD, "assets/skill/skill.ts": code}
    assert audited(artifact(more=SEMANTIC, content=content)).findings == (
        "skill_scan:dynamic-code@assets/skill/skill.ts",
    )
    data = audited(artifact(content={"modules/echo.wasm": core("(i32.const 0)"), "assets/lib.js": code}))
    assert statuses(data)["skill_scan"] == "warned"
    assert data.passed


def test_the_kinds_of_grants_that_a_module_can_use_are_known() -> None:
    imports = f'(module (import "{CORE}" "secret-count" (func (result i32))) (func (export "run") (result i32) '
    assert audited(artifact(content=module(f"{imports} (i32.const 0)))"))).used == {"secret"}


def feed(folder: Path, *records: Mapping[str, Any]) -> Path:
    file = folder / "feed.json"
    file.write_text(json.dumps(list(records)))
    return file


def record(name: str, *ranges: Mapping[str, Any], ecosystem: str = "npm", **more: Any) -> dict[str, Any]:
    affected = {"package": {"ecosystem": ecosystem, "name": name}, "ranges": ranges, **more}
    return {"id": f"TEST-{name}", "affected": [affected]}


def events(*given: Mapping[str, str]) -> dict[str, Any]:
    return {"type": "SEMVER", "events": given}


@pytest.mark.parametrize(
    ("ranges", "more", "is_affected"),
    [
        ([events({"introduced": "0"}, {"fixed": "1.3.1"})], {}, True),
        ([events({"introduced": "0"}, {"fixed": "1.3.0"})], {}, False),
        ([events({"introduced": "1.3.1"})], {}, False),
        ([events({"introduced": "1.0.0"}, {"last_affected": "1.3.0"})], {}, True),
        ([events({"introduced": "1.0.0"}, {"last_affected": "1.2.9"})], {}, False),
        ([events({"introduced": "1.0.0"}, {"fixed": "1.1.0"}, {"introduced": "1.2.0"}, {"fixed": "1.10.0"})], {}, True),
        ([], {"versions": ["1.3.0"]}, True),
        ([], {"versions": ["1.3"]}, False),
        ([{"type": "GIT", "events": [{"introduced": "0"}]}], {}, False),
        ([events({"introduced": "0"})], {"package": {"ecosystem": "PyPI", "name": "left-pad"}}, False),
    ],
)
def test_components_are_compared_with_a_feed(
    tmp_path: Path, ranges: list[Any], more: Mapping[str, Any], is_affected: bool
) -> None:
    known = read_feed(feed(tmp_path, record("left-pad", *ranges, **more)))
    found = audited(artifact(), feed=known).findings
    assert found == (("vulnerability_feed:TEST-left-pad@pkg:npm/left-pad@1.3.0",) if is_affected else ())


def test_what_a_feed_cannot_compare_is_a_warning(tmp_path: Path) -> None:
    known = read_feed(feed(tmp_path, record("left-pad", events({"introduced": "0"}, {"fixed": "not a version"}))))
    audit = audited(artifact(), feed=known)
    assert (audit.passed, statuses(audit)["vulnerability_feed"]) == (True, "warned")


@pytest.mark.parametrize("text", ["{", '[{"affected": []}]', '{"id": "A", "affected": 1}', '{"id": "A\\u0007"}', "[1]"])
def test_a_feed_that_is_none_is_an_error_and_quarantines_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "feed.json"
    file.write_text("[]")
    installed = place(tmp_path, artifacts={"folder": str(tmp_path / "artifacts"), "vulnerabilityFeed": str(file)})
    install(installed, artifact())
    file.write_text(text)
    with pytest.raises(CortexError, match="vulnerability feed"):
        audit_installed(installed, ID, actor="ada")
    assert audit_all(installed, judge(installed)) == []
    assert installed.find(ID).status == "active"


def test_a_new_vulnerability_quarantines_exactly_that_version(tmp_path: Path) -> None:
    file = feed(tmp_path)
    installed = place(tmp_path, artifacts={"folder": str(tmp_path / "artifacts"), "vulnerabilityFeed": str(file)})
    install(installed, artifact())
    fixed = {**BILL, "components": [{**BILL["components"][0], "version": "2.0.0", "purl": "pkg:npm/left-pad@2.0.0"}]}  # type: ignore[index]
    install(installed, artifact("1.3.0", bill=fixed))
    revision = installed.revision()
    assert [each.passed for each in audit_all(installed, judge(installed))] == [True, True]
    assert installed.revision() == revision
    feed(tmp_path, record("left-pad", events({"introduced": "0"}, {"fixed": "2.0.0"})))
    audit_all(installed, judge(installed))
    assert [(each.key.version, each.status) for each in installed.list()] == [
        ("1.2.0", "quarantined"),
        ("1.3.0", "active"),
    ]
    assert "TEST-left-pad" in installed.find(ID, "1.2.0").reason
    installed.enable(ID, "1.2.0", actor="ada", override=True, reason="not reachable")
    audit_all(installed, judge(installed))
    assert installed.find(ID, "1.2.0").status == "active"
    feed(
        tmp_path,
        record("left-pad", events({"introduced": "0"})),
        {**record("left-pad", events({"introduced": "0"})), "id": "NEW"},
    )
    audit_all(installed, judge(installed))
    assert installed.find(ID, "1.2.0").status == "quarantined"


def test_an_artifact_that_fails_its_audit_is_installed_quarantined(installed: InstalledArtifacts) -> None:
    found = install(installed, artifact(content=module("(module)")))
    assert (found.status, found.findings) == ("quarantined", ("wasm_module_validation:modules/echo.wasm",))
    with pytest.raises(CortexError) as caught:
        installed.open(ID)
    assert caught.value.code == "artifact_quarantined"


def test_a_revoked_publisher_quarantines_what_is_installed(installed: InstalledArtifacts, trust: TrustFile) -> None:
    install(installed, artifact())
    trust.change(lambda known: known.without_publisher("acme"))
    assert [each.findings for each in audit_all(installed, judge(installed))] == [("signature_validity",)]


@pytest.mark.parametrize("damage", ["missing", "changed", "writable", "link", "added", "open folder"])
def test_damaged_files_are_found_and_quarantined(installed: InstalledArtifacts, damage: str) -> None:
    content = {"assets/skill/SKILL.md": SKILL_MD, "assets/skill/skill.ts": b"export default { name: 'echo-http' };"}
    key = install(installed, artifact(more=SEMANTIC, content=content)).key
    assert (audit_installed(installed, ID, actor="ada").audit.passed, check_files(installed)) == (True, [])
    folder = installed.files.place(key)
    (code,) = folder.glob("skill/*/skill.ts")
    match damage:
        case "missing":
            code.unlink()
        case "changed":
            code.write_bytes(b"eval('1')")
        case "writable":
            code.chmod(0o666)
        case "link":
            code.unlink()
            code.symlink_to("/etc/passwd")
        case "added":
            (folder / "skill/more.ts").write_text("")
        case _:
            folder.chmod(0o777)
    (problem,) = check_files(installed)
    assert problem.startswith(f"{ID} 1.2.0: ")
    after = audit_installed(installed, ID, actor="ada").installed
    assert (after.status, after.findings) == ("quarantined", ("filesystem_safety",))


def test_folders_that_belong_to_nothing_are_reported(installed: InstalledArtifacts) -> None:
    install(installed, artifact())
    (installed.files.folder / ID / "9.9.9-0000000000000000").mkdir()
    (problem,) = check_files(installed)
    assert problem.endswith("9.9.9-0000000000000000 belongs to nothing that is installed")
