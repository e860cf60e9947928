"""TypeScript to one module: what is bundled, what is refused, and what hostile sources get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cortex_sandbox import Sandbox, SandboxError, SandboxTimeout, TranspileError, bundle, transpile
from cortex_sandbox.esbuild import bundler


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundler, "recall", lambda *_: None)
    monkeypatch.setattr(bundler, "keep", lambda *_, **__: None)


def value_of(files: dict[str, str], entry: str = "skill.ts") -> Any:
    with Sandbox() as box:
        box.load_module(bundle(files, entry))
        return box.call("run")


def test_types_enums_decorators_and_modern_syntax_are_lowered() -> None:
    source = """
    enum Level { Low = 1, High }
    namespace Names { export const first: string = 'n' }
    function twice(target: any, context: any) { return function (this: any) { return target.call(this) * 2 } }
    class Skill { @twice run(): number { return Level.High satisfies number } accessor a = 1; #b?: number; }
    export default new Skill() as { run(): number };
    """
    assert value_of({"skill.ts": source}) == 4


def test_files_of_every_kind_are_bundled_from_their_folders() -> None:
    files = {
        "skill.ts": """
            import a from './a'; import { b } from './lib/b.js'; import c from './c.mjs';
            import data from './data.json';
            import * as ü from './lib/deep/ü.ts'; import d from './lib';
            export default { run: () => [a, b, c, data.n, ü.x, d] }
        """,
        "a.ts": "export default 1",
        "lib/b.ts": "export const b = 2",
        "c.mjs": "export default 3",
        "data.json": '{"n": 4}',
        "lib/deep/ü.ts": "export const x = 5",
        "lib/index.ts": "export default 6",
    }
    assert value_of(files) == [1, 2, 3, 4, 5, 6]


def test_files_that_import_each_other_are_bundled() -> None:
    files = {
        "skill.ts": "import { odd } from './odd.ts'; export default { run: () => odd(7) }",
        "odd.ts": "import { even } from './even.ts'; export const odd = (n: number): any => n ? even(n - 1) : false",
        "even.ts": "import { odd } from './odd.ts'; export const even = (n: number): boolean => n ? odd(n - 1) : true",
    }
    assert value_of(files) is True


def test_a_dynamic_import_of_a_bundled_file_works() -> None:
    files = {
        "skill.ts": "export default { run: async () => (await import('./b.ts')).default }",
        "b.ts": "export default 'inside'",
    }
    assert value_of(files) == "inside"


@pytest.mark.parametrize(
    "specifier",
    [
        "./absent.ts",
        "../outside.ts",
        "../../../../../../etc/hostname",
        "/etc/hostname",
        "/etc/passwd.json",
        "fs",
        "node:fs",
        "lodash",
        "@scope/name",
        "./",
        ".",
        "#private",
        "file:///etc/hostname",
        "\\0",
    ],
)
@pytest.mark.parametrize("form", ["import x from '{}'", "export * from '{}'", "const x = require('{}')"])
def test_an_import_of_a_file_that_was_not_passed_is_refused_with_its_place(specifier: str, form: str) -> None:
    with pytest.raises(TranspileError) as caught:
        bundle({"skill.ts": "\n" + form.format(specifier) + "; export default x", "x.ts": "export {}"})
    assert caught.value.frames[0].line == 2


@pytest.mark.parametrize(
    "specifier",
    [
        "data:text/javascript,export default 1",
        "data:application/json,1",
        "https://example.org/x.js",
        "//example.org/x.js",
    ],
)
def test_an_import_by_url_is_never_resolved(specifier: str) -> None:
    module = bundle({"skill.ts": f"import x from '{specifier}'; export default {{ run: () => x }}"})
    with Sandbox() as box, pytest.raises(SandboxError, match="could not load module"):
        box.load_module(module)


@pytest.mark.parametrize(
    ("importer", "specifier"),
    [
        ("skill.ts", "../x.ts"),
        ("skill.ts", "../x"),
        ("skill.ts", "./lib/../../x.ts"),
        ("skill.ts", "/x.ts"),
        ("skill.ts", "/./x"),
        ("skill.ts", "file:///x.ts"),
        ("skill.ts", "file:./x.ts"),
        ("skill.ts", "./%78.ts"),
        ("skill.ts", "%2e%2e/x.ts"),
        ("skill.ts", "..\\\\x.ts"),
        ("lib/a.ts", "../../x.ts"),
        ("lib/a.ts", "../../../../x"),
        ("lib/a.ts", "/x.ts"),
    ],
)
def test_a_path_that_climbs_above_the_folder_and_leads_back_is_refused_with_its_place(
    importer: str, specifier: str
) -> None:
    files = {"skill.ts": "import './lib/a.ts'", "lib/a.ts": "", "x.ts": "export default 1"}
    files[importer] = f"\n import x from '{specifier}'; export default x"
    with pytest.raises(TranspileError, match="Could not resolve") as caught:
        bundle(files)
    assert [(frame.file, frame.line, frame.column) for frame in caught.value.frames] == [(importer, 2, 16)]


def test_a_path_that_climbs_inside_the_folder_is_bundled() -> None:
    files = {
        "skill.ts": "export { default } from './lib/deep/a.ts'",
        "lib/deep/a.ts": "import b from '../b'; import c from './../../c.ts'; export default { run: () => [b, c] }",
        "lib/b.ts": "export default 1",
        "c.ts": "export default 2",
    }
    assert value_of(files) == [1, 2]


def test_a_link_out_of_the_folder_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "secret.ts").write_text("export default 'secret'")
    (tmp_path / "link.ts").symlink_to(tmp_path / "secret.ts")
    with pytest.raises(TranspileError):
        bundle({"skill.ts": f"import x from '{tmp_path}/link.ts'; export default x"})


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/skill.ts",
        "../skill.ts",
        "a/../b.ts",
        "./a.ts",
        "a//b.ts",
        "node_modules/x/index.ts",
        ".hidden/a.ts",
        ".a.ts",
        "a\\b.ts",
        "a\0.ts",
        "a.css",
        "a.wasm",
        "a",
        "package.json",
        "lib/package.json",
        "tsconfig.ts/",
        "a" * 300 + ".ts",
    ],
)
def test_a_path_that_is_not_inside_a_folder_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"is not the path|kind"):
        bundle({"skill.ts": "export default 1", path: "export {}"})


def test_a_path_below_a_file_is_refused() -> None:
    with pytest.raises(ValueError, match="inside a path that is a file"):
        bundle({"skill.ts": "export default 1", "skill.ts/b.ts": ""})


def test_an_entry_that_is_absent_is_refused() -> None:
    with pytest.raises(ValueError, match="entry"):
        bundle({"a.ts": ""}, "b.ts")


def test_settings_among_the_files_are_not_read() -> None:
    files = {
        "skill.ts": "/** @jsx h */ export default { run: () => 1 }",
        "tsconfig.json": '{"extends": "/etc/hostname", "compilerOptions": {"paths": {"*": ["/etc/*"]}}}',
    }
    assert value_of(files) == 1


@pytest.mark.parametrize(
    "name", ["my skill.ts", "quo'te\".ts", "ünïcode.ts", "a;b$(c).ts", "--version.ts", "line\nbreak.ts"]
)
def test_unusual_file_names_work(name: str) -> None:
    with Sandbox() as box:
        box.load_module(bundle({name: "export default { run() {\n throw new Error('x') } }"}, name))
        with pytest.raises(SandboxError) as caught:
            box.call("run")
        if "\n" not in name:
            assert (caught.value.file, caught.value.line) == (name, 2)


def test_a_comment_that_looks_like_a_source_map_is_only_a_comment() -> None:
    mark = "//# sourceMappingURL=data:application/json;base64,!!!!"
    assert value_of({"skill.ts": f"//! {mark}\nexport default {{ run: () => '{mark}' }}\n//! {mark}\n{mark}\n"}) == mark


@pytest.mark.parametrize(
    "source",
    [
        "export default ",
        "export default {{{{",
        "\0",
        "\ufeff\ufffe const",
        "export default " + "[" * 60_000,
        "export default " + "(" * 200_000 + "1" + ")" * 200_000,
        "export default " + "`${" * 50_000,
        "type A = " + "A<" * 40_000,
        "x" + ".x" * 200_000 + " = = 1",
        "<" * 100_000,
    ],
)
def test_hostile_sources_are_a_transpile_error(source: str) -> None:
    with pytest.raises(TranspileError) as caught:
        transpile(source, timeout_s=60)
    assert len(caught.value.message) <= 2100


def test_a_small_source_that_makes_a_huge_module_is_a_transpile_error() -> None:
    source = f"const enum Text {{ Long = '{'x' * 400_000}' }}\nexport default [{'Text.Long,' * 90}]"
    with pytest.raises(TranspileError, match="has more than 32 MiB") as caught:
        transpile(source, timeout_s=60)
    assert caught.value.name == "RangeError"


@pytest.mark.parametrize("source", ["", "\ufeff", "// nothing", "export {}", "'\ud800'", "export default '\ud800'"])
def test_unusual_but_valid_sources_are_modules(source: str) -> None:
    with Sandbox() as box:
        assert box.load_module(transpile(source)).type in ("undefined", "string")


def test_transpiling_has_a_time_limit() -> None:
    source = "".join(f"export const v{i} = [{i}, () => {i}];\n" for i in range(60_000))
    with pytest.raises(SandboxTimeout):
        transpile(source, timeout_s=0.02)
    assert "v1" in transpile("export const v1 = 1")


def test_jsx_and_plain_javascript_are_supported() -> None:
    assert "createElement" in transpile("export default (<a b={1}/>)", "skill.tsx")
    assert "type" in transpile("export default { type: 1 }", "skill.js")
    with pytest.raises(TranspileError):
        transpile("const a: number = 1", "skill.js")


def test_an_error_reveals_no_path_of_the_host() -> None:
    with pytest.raises(TranspileError) as caught:
        transpile("import '/etc/hostname'")
    assert "cortex-bundle" not in str(caught.value)
    assert "/tmp" not in str(caught.value)


@pytest.mark.parametrize("name", ["=.ts", "a=b.ts", "line\nbreak.ts"])
def test_an_error_in_a_file_with_an_unusual_name_has_its_place(name: str) -> None:
    assert "1" in bundle({name: "export default 1"}, name)
    with pytest.raises(TranspileError) as caught:
        bundle({name: "export default {"}, name)
    assert (caught.value.frames[0].file, caught.value.frames[0].line) == (name, 1)


def test_a_run_sees_no_file_of_an_earlier_run() -> None:
    secret = "export const secret = 'from another skill'"
    for entry in ("skill.ts", "other.ts"):
        assert "another" in bundle({entry: "export * from './lib/a'", "lib/a.ts": secret}, entry)
        with pytest.raises(TranspileError, match="Could not resolve"):
            bundle({entry: "export * from './lib/a'"}, entry)
        assert "mine" in bundle({entry: "export * from './lib/a'", "lib/a.ts": "export const mine = 1"}, entry)
        assert (
            bundle({entry: "export * from './lib/a'", "lib/a.ts": "export const mine = 1"}, entry).count("secret") == 0
        )


def test_the_name_of_the_entry_makes_no_other_difference() -> None:
    source = "enum A { B = 1 }\nexport default { run(): number { return A.B } }"
    first, second = bundle({"skill.ts": source}), bundle({"other.ts": source}, "other.ts")
    assert str(first).replace("skill", "other") == str(second)
    assert first.source_map.replace("skill.ts", "other.ts") == second.source_map
