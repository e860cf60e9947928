"""Which skills are loaded or refused, by which step, and that nothing of a refused skill remains."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import CortexError, Plugin
from tests.plugin.skills import living_sandboxes, manifest_text

Opened = Callable[..., Plugin]
Written = Callable[..., Path]
Refused = Callable[..., CortexError]

# Threads that are not of one skill: those of the sandbox, of a compiler that has just ended, and of the audit.
# A pool of processes whose user was another test sets its timer (`…-idle`) anew at any time.
LASTING = ("cortex-sandbox", "cortex-compiling", "cortex-audit")
EMPTY = "export default { name: 'probe' };"
HEAD = "---\nname: probe\ndescription: x\n"


@pytest.fixture
def refused(plugin: Plugin) -> Refused:
    """Loads a folder that must be refused with one of these codes; returns the error. The plugin is unchanged."""

    def refuse(folder: Path | str, *codes: str, on: Plugin = plugin) -> CortexError:
        before = (dict(on.skills), living_sandboxes(), set(threading.enumerate()))
        with pytest.raises(CortexError) as caught:
            on.load(folder)
        assert caught.value.code in codes, caught.value
        assert (dict(on.skills), living_sandboxes()) == before[:2]
        new = set(threading.enumerate()) - before[2]
        left = [thread for thread in new if not thread.name.startswith(LASTING) and not thread.name.endswith("-idle")]
        assert not [(thread, getattr(thread, "function", None)) for thread in left]
        return caught.value

    return refuse


# --- SKILL.md

MANIFESTS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "---"),
    "huge": (b"---\nname: probe\n---\n" + b"x" * (2 << 20), "1089 KiB"),
    "huge frontmatter": (f"{HEAD}license: {'x' * (65 << 10)}\n---\n".encode(), "64 KiB"),
    "binary": (bytes(range(256)) * 16, "UTF-8"),
    "with a NUL": (b"---\nname: probe\ndescription: \x00\n---\n", "NUL"),
    "in UTF-16": (f"{HEAD}---\n".encode("utf-16"), "UTF-8"),
    "not closed": (HEAD.encode(), "---"),
    "no mapping": (b"---\n- a\n---\n", ""),
    "no YAML": (b"---\nname: [\n---\n", ""),
    "a bomb": (
        b"---\na: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\nname: probe\n---\n",
        "alias",
    ),
    "a tag": (b"---\nname: !!python/object/apply:os.system ['true']\n---\n", ""),
    "a key twice": (f"{HEAD}name: probe\n---\n".encode(), "twice"),
    "deep": (f"{HEAD}metadata: {'{a: ' * 5000}1{'}' * 5000}\n---\n".encode(), ""),
    "another name": (manifest_text("other").encode(), "folder"),
    "a name of a path": (manifest_text("../probe").encode(), "name"),
    "an unknown key": (f"{HEAD}type: semantic\nsemantic: {{querys: []}}\n---\n".encode(), "queries"),
    "no semantic block": (f"{HEAD}type: semantic\n---\n".encode(), "semantic"),
    "wrong types": (manifest_text("probe", maxQueries="many", allowedTools=3).encode(), "maxQueries"),
    "an ungranted proof": (
        manifest_text("probe", permissions={"graph": ["read", "write"]}).encode(),
        "proofs",
    ),
    "a predicate that is no IRI": (
        manifest_text("probe", assertions=[{"predicate": "https://a b"}]).encode(),
        "https://a b",
    ),
    "a query that is no IRI": (manifest_text("probe", queries=[{"predicate": "mayros:"}]).encode(), "empty"),
}


@pytest.mark.parametrize(("content", "message"), MANIFESTS.values(), ids=MANIFESTS)
def test_an_invalid_manifest_is_refused_with_its_problem(
    skill: Written, refused: Refused, content: bytes, message: str
) -> None:
    folder = skill("probe", EMPTY)
    (folder / "SKILL.md").write_bytes(content)
    assert message in str(refused(folder, "manifest_invalid"))


def test_every_problem_of_a_manifest_is_reported_at_once(skill: Written, refused: Refused) -> None:
    folder = skill("probe", EMPTY, maxQueries=0, skillVersion="x", permissions={"graf": []})
    errors = refused(folder, "manifest_invalid").details["errors"]
    fields = {error["field"] for error in errors}
    assert {
        "semantic.maxQueries",
        "semantic.skillVersion",
        "semantic.permissions.graf",
        "semantic.assertions",
    } <= fields


def test_a_manifest_that_is_not_a_plain_file_is_refused(skill: Written, refused: Refused, tmp_path: Path) -> None:
    folder = skill("probe", EMPTY)
    text = (folder / "SKILL.md").rename(tmp_path / "elsewhere.md")
    (folder / "SKILL.md").symlink_to(text)
    assert "symbolic link" in str(refused(folder, "manifest_invalid"))
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").mkdir()
    refused(folder, "manifest_invalid")
    (folder / "SKILL.md").rmdir()
    os.mkfifo(folder / "SKILL.md")
    refused(folder, "manifest_invalid")


@pytest.mark.parametrize("path", ["missing", "SKILL.md", "a\0b", "x" * 5000, "", "../" * 3000])
def test_a_folder_without_skills_is_refused(refused: Refused, tmp_path: Path, path: str) -> None:
    assert refused(tmp_path / path, "manifest_invalid").hint


# --- the code


def test_a_syntax_error_is_reported_with_its_position(skill: Written, refused: Refused) -> None:
    folder = skill("probe", "export default {\n  name: 'probe',\n  onQuery() { let = 1 1 },\n};")
    error = refused(folder, "transpile_error")
    assert error.message.startswith("skill.ts:")
    frame = error.details["frames"][0]
    assert (frame["file"], frame["line"]) == ("skill.ts", 3)
    assert frame["column"] > 1


def test_a_syntax_error_in_a_helper_names_its_file(skill: Written, refused: Refused) -> None:
    code = "import { f } from './lib/helper';\nexport default { name: 'probe', onQuery: f };"
    folder = skill("probe", code, files={"lib/helper.ts": "export const f = () => ({});\nlet = 1 1;\n"})
    assert refused(folder, "transpile_error").message.startswith("lib/helper.ts:2:")


IMPORTS = [
    "../outside",
    "../../etc/passwd",
    "/etc/passwd",
    "./missing",
    "lodash",
    "node:fs",
    "fs",
    "./node_modules/pkg/index",
    "https://example.org/x.js",
    "data:text/javascript,export default 1",
    "./.hidden",
    "./link",
    "#internal",
    "./package.json",
]


@pytest.mark.parametrize("scanned", [True, False])
@pytest.mark.parametrize("what", IMPORTS)
def test_a_skill_imports_nothing_from_outside_its_folder(
    opened: Opened, skill: Written, refused: Refused, tmp_path: Path, what: str, scanned: bool
) -> None:
    (tmp_path / "outside.ts").write_text("export default 1;")
    files = {"node_modules/pkg/index.js": "export default 1;", ".hidden.ts": "export default 1;", "package.json": "{}"}
    code = f"import x from {what!r};\nexport default {{ name: 'probe', onQuery: () => ({{ additionalContext: x }}) }};"
    plugin = opened(verification={"autoScan": scanned})
    second = "scan_rejected" if scanned else "skill_error"  # an address is left to the sandbox, which resolves none
    assert refused(skill("probe", code, files=files), "transpile_error", second, on=plugin)


@pytest.mark.parametrize(("scanned", "code"), [(True, "scan_rejected"), (False, "transpile_error")])
@pytest.mark.parametrize(
    "what", ["../helper", "../../helper.ts", "./lib/../../helper", "/helper.ts", "file:///helper.ts"]
)
def test_an_import_that_climbs_above_the_folder_and_leads_back_is_refused_with_its_place(
    opened: Opened, skill: Written, refused: Refused, what: str, scanned: bool, code: str
) -> None:
    source = f"\nimport x from {what!r};\nexport default {{ name: 'probe', onQuery: () => x }};"
    folder = skill("probe", source, files={"helper.ts": "export default 1;"})
    error = refused(folder, code, on=opened(verification={"autoScan": scanned}))
    assert "skill.ts:2:15: " in error.message
    assert "folder" in error.hint or scanned


@pytest.mark.parametrize("what", ["'./' + 'x'", "'x'.repeat(1)", "`./${1}`"])
def test_a_dynamic_import_is_refused_and_without_the_scan_loads_nothing(
    opened: Opened, skill: Written, refused: Refused, what: str
) -> None:
    code = f"export default {{ name: 'probe', onQuery: async () => await import({what}) }};"
    refused(skill("probe", code), "scan_rejected", "transpile_error")
    plugin = opened(verification={"autoScan": False})
    try:
        plugin.load(skill("probe", code))
    except CortexError as error:
        codes = [error.code]
    else:
        codes = [plugin.call("skill_graph_query", {}).details["enrichment"].get("code")]
    assert codes in (["transpile_error"], ["skill_error"])


def test_a_helper_in_the_folder_is_bundled_and_its_errors_are_mapped(plugin: Plugin, skill: Written) -> None:
    code = "import { f } from './lib/helper';\nexport default { name: 'probe', onQuery() { return f(1); } };"
    helper = "type N = number;\n\nexport function f(n: N): never {\n  throw new Error(`no ${n}`);\n}\n"
    plugin.load(skill("probe", code, files={"lib/helper.ts": helper, "unused.ts": "export const x = 1;"}))
    report = plugin.call("skill_graph_query", {}).details["enrichment"]
    assert report["message"].startswith("onQuery of probe failed at lib/helper.ts:4:")
    assert report["message"].endswith("Error: no 1")


def loaded_or_refused(plugin: Plugin, folder: Path) -> str:
    """The result of loading: `loaded`, or the code of a printable error."""
    try:
        plugin.load(folder)
    except CortexError as error:
        return error.code if error.message.isprintable() else f"{error.message!r} cannot be shown"
    return "loaded"


NAMES = [b"help.TS", b"a\\b.ts", b"..ts", "é\u202e.ts".encode(), b"a\nb.ts", b"x.d.ts", b"con.mts", b"\xff\xfe.ts"]


@pytest.mark.parametrize("name", NAMES)
def test_helpers_of_any_file_name_are_loaded_or_refused(plugin: Plugin, skill: Written, name: bytes) -> None:
    folder = skill("probe", EMPTY)
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("export const a = 1;")
    assert loaded_or_refused(plugin, folder) in ("loaded", "transpile_error", "scan_rejected")


EXPORTS = {
    "": "no default export",
    "export const a = 1": "no default export",
    "export default 42": "a default export of type number",
    "export default null": "a default export of type null",
    "export default 'probe'": "a default export of type string",
    "export default () => {}": "a default export of type function",
    "export default []": "has no name",
    "export default {}": "has no name",
    "export default { name: '' }": "has no name",
    "export default { name: 42 }": "has no name",
    "export default { name: () => 'probe' }": "has no name",
    "export default { name: 'other' }": "is named 'other', the manifest 'probe'",
    "export default { name: 'Probe' }": "is named 'Probe'",
    "export default { name: 'probe ' }": "is named 'probe '",
    "export default { name: 'probe', onQuery: 42 }": "onQuery of probe is not a function",
    "export default { name: 'probe', onActivate: {} }": "onActivate of probe is not a function",
    "export default { name: 'probe', onError: null }": "onError of probe is not a function",
    "export default { name: 'probe', onDeactivate: 'x' }": "onDeactivate of probe is not a function",
    "export default { get name() { throw new Error('no name'); } }": "no name",
    "export default new Proxy({}, { ownKeys() { throw new Error('no keys'); } })": "no keys",
}


@pytest.mark.parametrize(("code", "message"), EXPORTS.items(), ids=range(len(EXPORTS)))
def test_a_module_that_exports_no_skill_is_refused(skill: Written, refused: Refused, code: str, message: str) -> None:
    error = refused(skill("probe", f"// @ts-nocheck\n{code};"), "skill_error")
    assert message in error.message


@pytest.mark.parametrize(
    "code",
    [
        "export default { name: 'probe', onQuery: async () => ({ additionalContext: 'here' }) }",
        "class S { name = 'probe'; onQuery() { return { additionalContext: 'here' }; } } export default new S()",
        "const s = { name: 'probe', onQuery: () => ({ additionalContext: 'here' }) }; export { s as default }",
        "export default Object.freeze({ name: 'probe', helper: 1, onQuery: () => ({ additionalContext: 'here' }) })",
        "await 0; export default { name: 'probe', onQuery: () => Promise.resolve({ additionalContext: 'here' }) }",
    ],
)
def test_a_skill_may_be_written_in_several_ways(plugin: Plugin, skill: Written, code: str) -> None:
    plugin.load(skill("probe", code))
    assert plugin.status()["skills"][0]["hooks"] == ["onQuery"]
    assert '{"data":"here"}' in plugin.call("skill_graph_query", {}).text


# --- the scanner

DANGEROUS = (
    "const f = (0, eval)('1 + 1');\nexport default { name: 'probe', onQuery: () => ({ additionalContext: f }) };"
)


def test_a_skill_with_critical_findings_is_refused_and_they_are_listed(skill: Written, refused: Refused) -> None:
    folder = skill("probe", EMPTY, files={"lib/evil.js": "export const x = 1;\nexport const f = eval('1');\n"})
    error = refused(folder, "scan_rejected")
    (finding, *_) = error.details["findings"]
    assert (finding["rule"], finding["file"], finding["line"]) == ("dynamic-code", "lib/evil.js", 2)
    assert "lib/evil.js:2:" in error.message


def test_without_the_scan_the_sandbox_still_has_no_eval(opened: Opened, skill: Written, refused: Refused) -> None:
    folder = skill("probe", DANGEROUS)
    refused(folder, "scan_rejected")
    plugin = opened(verification={"autoScan": False})
    assert "eval" in refused(folder, "skill_error", on=plugin).message


@pytest.mark.parametrize("scanned", [True, False])
def test_a_symbolic_link_as_source_is_refused_with_and_without_the_scan(
    opened: Opened, skill: Written, refused: Refused, tmp_path: Path, scanned: bool
) -> None:
    secret = tmp_path / "secret.ts"
    secret.write_text("export const key = 'SECRET';")
    folder = skill("probe", "import { key } from './linked';\nexport default { name: 'probe', key };")
    (folder / "linked.ts").symlink_to(secret)
    error = refused(folder, "scan_rejected", on=opened(verification={"autoScan": scanned}))
    assert "symbolic link" in error.message
    assert "SECRET" not in str(error.to_json())


def test_a_symbolic_link_as_folder_is_refused(skill: Written, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "probe").symlink_to(skill("probe", EMPTY))
    refused(tmp_path / "links" / "probe", "scan_rejected")


# --- settings


def test_an_unsigned_skill_is_refused_when_signatures_are_required(
    opened: Opened, skill: Written, refused: Refused
) -> None:
    plugin = opened(verification={"requireSignature": True})
    refused(skill("probe", EMPTY), "signature_required", on=plugin)
    refused(skill("plain"), "signature_required", on=plugin)
    assert plugin.status()["verification"]["requireSignature"] is True


# --- one folder and many


def test_a_skill_in_javascript_and_one_without_code_are_loaded(plugin: Plugin, skill: Written) -> None:
    code = "export default { name: 'probe', onQuery: () => ({ additionalContext: 'js' }) };"
    plugin.load(skill("probe", files={"skill.js": code}))
    assert '{"data":"js"}' in plugin.call("skill_graph_query", {}, skill="probe").text
    assert plugin.load(skill("silent")) == ["silent"]
    assert plugin.call("skill_graph_query", {}, skill="silent").details["enrichment"] == {"status": "none"}
    assert [s["hooks"] for s in plugin.status()["skills"]] == [["onQuery"], []]


def test_typescript_is_preferred_to_javascript(plugin: Plugin, skill: Written) -> None:
    both = {"skill.js": "export default { name: 'probe', onError() {} };"}
    plugin.load(skill("probe", "export default { name: 'probe', onQuery() {} };", files=both))
    assert plugin.status()["skills"][0]["hooks"] == ["onQuery"]


def needs(*slugs: str, version: str = "^1.0.0") -> list[dict[str, str]]:
    return [{"slug": slug, "version": version} for slug in slugs]


def named(name: str) -> str:
    return f"export default {{ name: '{name}', onActivate() {{ logger.info('up'); }} }};"


def test_a_folder_of_skills_is_loaded_in_the_order_of_their_dependencies(
    plugin: Plugin, skill: Written, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    skill("a", named("a"), dependencies=needs("c"))
    skill("b", named("b"))
    skill("c", named("c"), dependencies=needs("b"))
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "SKILL.md").write_text("broken")
    (tmp_path / "notes").mkdir()
    assert plugin.load(tmp_path) == ["b", "c", "a"]
    activated = [r.message for r in caplog.records if r.message.endswith("] up")]
    assert activated == ["[skill:b] up", "[skill:c] up", "[skill:a] up"]
    assert list(plugin.skills) == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"dependencies": needs("b")}, {"dependencies": needs("a")}),
        ({"dependencies": needs("missing")}, {}),
        ({"dependencies": needs("b", version="^2.0.0")}, {}),
        ({}, {"maxQueries": 0}),
    ],
    ids=["a cycle", "a missing one", "out of range", "one bad manifest"],
)
def test_one_invalid_manifest_prevents_loading_the_whole_folder(
    skill: Written, refused: Refused, tmp_path: Path, a: dict[str, Any], b: dict[str, Any]
) -> None:
    skill("a", named("a"), **a)
    skill("b", named("b"), **b)
    refused(tmp_path, "manifest_invalid")


def test_a_dependency_may_be_loaded_already(plugin: Plugin, skill: Written, refused: Refused) -> None:
    after = skill("after", dependencies=needs("before"))
    refused(after, "manifest_invalid")
    plugin.load(skill("before"))
    assert plugin.load(after) == ["after"]


def test_a_skill_that_others_depend_on_is_not_unloaded(plugin: Plugin, skill: Written) -> None:
    plugin.load(skill("base"))
    plugin.load(skill("top", dependencies=needs("base")))
    with pytest.raises(CortexError) as kept:
        plugin.unload("base")
    assert (kept.value.code, kept.value.details) == ("invalid_arguments", {"dependents": ["top"]})
    plugin.unload("top")
    plugin.unload("base")
    assert dict(plugin.skills) == {}


def test_when_the_last_of_many_fails_the_others_are_closed(
    skill: Written, refused: Refused, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    code = "export default { name: 'NAME', onDeactivate({ reason }: { reason: string }) { logger.info(reason); } };"
    skill("a", code.replace("NAME", "a"))
    skill("b", code.replace("NAME", "b"))
    skill("c", "throw new Error('last'); export default { name: 'c' };", dependencies=needs("a", "b"))
    assert "last" in refused(tmp_path, "skill_error").message
    ended = [r.message for r in caplog.records if r.message.endswith("] unload")]
    assert ended == ["[skill:b] unload", "[skill:a] unload"]


def test_without_strict_the_skills_that_are_in_order_are_loaded_and_the_others_are_told(
    plugin: Plugin, skill: Written, tmp_path: Path
) -> None:
    skill("a", named("a"), dependencies=needs("b"))
    skill("b", named("b"))
    skill("broken", "export default { name: 'broken', onQuery() { ret")
    skill("cycle", named("cycle"), dependencies=needs("wheel"))
    skill("needs-broken", named("needs-broken"), dependencies=needs("broken"))
    skill("unknown", named("unknown"), skillVersion="x")
    skill("wheel", named("wheel"), dependencies=needs("cycle"))
    assert plugin.load(tmp_path, strict=False) == ["b", "a"]
    told = {entry["name"]: entry["error"] for entry in plugin.status()["hotReload"]["rejected"]}
    assert {name: error["code"] for name, error in told.items()} == {
        "broken": "transpile_error",
        "cycle": "manifest_invalid",
        "needs-broken": "manifest_invalid",
        "unknown": "manifest_invalid",
        "wheel": "manifest_invalid",
    }
    assert "needs broken ^1.0.0, which is not loaded" in told["needs-broken"]["message"]
    assert [rejected.name for rejected in plugin.rejected] == list(told)
    assert living_sandboxes() == 2
    skill("broken", named("broken"))
    report = plugin.reload()
    assert sorted(loaded.name for loaded in report.loaded) == ["broken", "needs-broken"]


def test_without_strict_a_skill_that_is_active_is_refused_and_stays(plugin: Plugin, skill: Written) -> None:
    folder = skill("probe", EMPTY)
    plugin.load(folder)
    assert plugin.load(folder, strict=False) == []
    assert list(plugin.skills) == ["probe"]


def test_a_skill_is_loaded_once(plugin: Plugin, skill: Written, refused: Refused) -> None:
    folder = skill("probe", EMPTY)
    plugin.load(folder)
    assert "loaded already" in refused(folder, "invalid_arguments").message
    plugin.unload("probe")
    assert living_sandboxes() == 0
    with pytest.raises(CortexError) as unknown:
        plugin.unload("probe")
    assert unknown.value.code == "skill_not_found"
    assert plugin.load(folder) == ["probe"]


def test_a_call_ends_on_the_skills_that_it_began_with(plugin: Plugin, skill: Written) -> None:
    plugin.load(skill("probe", EMPTY))
    began = plugin.skills
    plugin.unload("probe")
    assert list(began) == ["probe"]
    with pytest.raises(TypeError):
        began["other"] = began["probe"]  # type: ignore[index]


def test_a_closed_plugin_loads_nothing(plugin: Plugin, skill: Written, refused: Refused) -> None:
    plugin.close()
    assert "closed" in refused(skill("probe", EMPTY), "graph_unavailable").message


def test_an_internal_error_while_loading_is_logged_and_reported_without_details(
    plugin: Plugin, skill: Written, refused: Refused, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("SECRET")

    monkeypatch.setattr("cortex_skills.skill_folder.snapshot.read_manifest", broken)
    error = refused(skill("probe", EMPTY), "internal_error")
    assert "SECRET" not in str(error.to_json())
    assert "ZeroDivisionError: SECRET" in caplog.text


SOURCES: dict[str, bytes] = {
    "no UTF-8": b"export default { name: 'probe\xff' };",
    "in UTF-16": "export default { name: 'probe' };".encode("utf-16"),
    "binary": bytes(range(256)) * 64,
    "huge": b"// " + b"x" * (600 << 10) + b"\nexport default { name: 'probe' };",
    "full of NULs": b"\0" * 10_000,
}


@pytest.mark.parametrize("content", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("file", ["skill.ts", "helper.ts"])
def test_a_source_that_is_too_large_or_not_text_is_refused(
    skill: Written, refused: Refused, file: str, content: bytes
) -> None:
    folder = skill("probe", EMPTY)
    (folder / file).write_bytes(content)
    assert refused(folder, "scan_rejected", "transpile_error").message.isprintable()


def test_a_deeply_nested_source_is_refused(skill: Written, refused: Refused) -> None:
    code = f"export default {'[' * 50_000}{']' * 50_000};"
    assert refused(skill("probe", code), "scan_rejected", "transpile_error").message.isprintable()


def test_a_source_that_is_not_a_plain_file_is_refused_without_blocking(skill: Written, refused: Refused) -> None:
    folder = skill("probe")
    os.mkfifo(folder / "skill.ts")
    refused(folder, "scan_rejected")
    (folder / "skill.ts").unlink()
    (folder / "skill.ts").symlink_to("/dev/zero")
    refused(folder, "scan_rejected")


def test_a_byte_order_mark_is_not_part_of_the_source(plugin: Plugin, skill: Written) -> None:
    folder = skill("probe")
    (folder / "skill.ts").write_bytes("\ufeffexport default { name: 'probe' };".encode())
    assert plugin.load(folder) == ["probe"]


def test_the_current_folder_can_be_loaded(plugin: Plugin, skill: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(skill("probe", EMPTY))
    assert plugin.load(".") == ["probe"]
    plugin.unload("probe")
    assert plugin.load("../probe/") == ["probe"]
