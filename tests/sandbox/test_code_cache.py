"""The cache of compiled guests: only private and whole files are used, and errors never stop a start."""

from __future__ import annotations

import logging
import lzma
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
import wasmtime

from cortex_sandbox import Limits, Sandbox, SandboxError, compiling, warm_up
from cortex_sandbox.engine import code_cache, native_code, portable
from cortex_sandbox.engine.cache import cache_folder
from cortex_sandbox.engine.child_program import command
from cortex_sandbox.engine.code_cache import load_module
from cortex_sandbox.engine.engine import FOREIGN, Engine
from cortex_sandbox.errors import CompileError
from tests import fork_server
from tests.sandbox.test_processes import needs_fork, run

WASM = bytes(wasmtime.wat2wasm('(module (func (export "f") (result i32) i32.const 42))'))
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX permissions")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache. Each compiler is forked from a process that has imported it."""
    folder = tmp_path / "cache" / "code"
    monkeypatch.setenv("CORTEX_SANDBOX_CACHE", str(folder))
    monkeypatch.setattr(native_code, "command", lambda *job: [fork_server.python(), *command(*job)[2:]])
    return folder


def load(label: str = "tiny", settings: str = "s", part: bytes = WASM) -> tuple[int, bool]:
    """The result of the module, and whether its bytes were requested (it was compiled)."""
    asked: list[bool] = []

    def wasm() -> bytes:
        asked.append(True)
        return WASM

    engine = Engine(256 << 10)
    module = load_module(engine, label, settings, wasm, part)
    store = wasmtime.Store(engine.wasm)
    store.set_epoch_deadline(1)
    exports = wasmtime.Instance(store, module, []).exports(store)
    value: int = exports["f"](store)  # type: ignore[operator]
    return value, bool(asked)


def kept(folder: Path) -> Path:
    (path,) = folder.glob("*.cwasm")
    return path


def test_a_module_is_compiled_once(folder: Path) -> None:
    assert load() == (42, True)
    assert load() == (42, False)
    assert kept(folder).name.startswith("tiny-")
    assert not list(folder.glob(".new-*"))


def test_the_version_is_the_one_that_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert code_cache._version() == version("wasmtime")
    # Without a metadata folder beside it, `importlib.metadata` has the version.
    monkeypatch.setattr(wasmtime, "__file__", str(tmp_path / "wasmtime" / "__init__.py"))
    assert code_cache._version() == version("wasmtime")
    (tmp_path / "wasmtime-99.0.dist-info").mkdir()
    assert code_cache._version() == "99.0"


def came_with_the_package(folder: Path, content: bytes) -> None:
    """Code for the module of these tests, as a wheel of a platform has it."""
    folder.mkdir()
    (folder / f"{code_cache._name('tiny', 's', WASM)}.cwasm.xz").write_bytes(content)


@pytest.fixture
def native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(portable, "NATIVE", tmp_path / "native")
    return tmp_path / "native"


def portable_code() -> bytes:
    code = wasmtime.Module(Engine(256 << 10, portable=True).wasm, WASM).serialize()
    return lzma.compress(bytes(code), check=lzma.CHECK_SHA256)


def test_code_that_came_with_the_package_is_not_compiled(folder: Path, native: Path) -> None:
    came_with_the_package(native, portable_code())
    assert load() == (42, False)
    assert kept(folder).stat().st_mode & 0o077 == 0
    for path in native.iterdir():
        path.unlink()
    assert load() == (42, False)  # from the cache


def test_code_that_came_with_the_package_runs_where_nothing_can_be_kept(
    native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came_with_the_package(native, portable_code())
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CORTEX_SANDBOX_CACHE", str(tmp_path / "file" / "below"))
    assert load() == (42, False)


@pytest.mark.parametrize(
    "content",
    [
        lambda code: b"",
        lambda code: code[:-30],
        lambda code: code[:100] + b"\0" + code[101:],
        lambda code: WASM,
        # What the engine refuses: code for another engine, as it refuses a feature that the processor lacks.
        lambda code: lzma.compress(bytes(wasmtime.Module(Engine(256 << 10, FOREIGN).wasm, WASM).serialize())),
    ],
    ids=["empty", "cut off", "changed", "not compressed", "for another engine"],
)
def test_code_of_the_package_that_is_damaged_or_does_not_run_here_is_compiled(
    folder: Path, native: Path, content: Callable[[bytes], bytes]
) -> None:
    came_with_the_package(native, content(portable_code()))
    assert load() == (42, True)
    assert load() == (42, False)


def test_code_of_the_package_for_another_version_of_the_engine_is_not_used(
    folder: Path, native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came_with_the_package(native, portable_code())
    monkeypatch.setattr(code_cache, "_version", lambda: "99.0")
    assert load() == (42, True)


@POSIX
def test_the_folder_and_the_file_are_private_to_the_user(folder: Path) -> None:
    load()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert kept(folder).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("change", [{"settings": "other"}, {"part": WASM + b"\0"}, {"label": "other"}])
def test_the_key_holds_everything_that_determines_the_code(folder: Path, change: dict[str, str]) -> None:
    load()
    assert load(**change)[1]  # type: ignore[arg-type]


@POSIX
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_may_write_to_is_not_used(
    folder: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    load()
    folder.chmod(mode)
    with caplog.at_level(logging.WARNING):
        assert load() == (42, True)
    assert "not private" in caplog.text
    folder.chmod(0o700)
    assert load() == (42, False)


@POSIX
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_to_is_not_used(folder: Path, mode: int) -> None:
    load()
    kept(folder).chmod(mode)
    assert load() == (42, True)
    assert load() == (42, False)


@POSIX
def test_a_folder_that_is_a_link_is_not_used(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(target)
    assert cache_folder() is None
    assert load() == (42, True)
    assert list(target.iterdir()) == []


@POSIX
def test_a_file_that_is_a_link_is_not_used(folder: Path, tmp_path: Path) -> None:
    load()
    path = kept(folder)
    moved = tmp_path / "moved.cwasm"
    path.rename(moved)
    path.symlink_to(moved)
    assert load() == (42, True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_or_folder_of_another_user_is_not_used(folder: Path) -> None:
    load()
    os.chown(kept(folder), 12345, -1)
    assert load() == (42, True)
    os.chown(folder, 12345, -1)
    assert load() == (42, True)


@pytest.mark.parametrize(
    "damage",
    [
        lambda code: b"",
        lambda code: code[:10],
        lambda code: code[: len(code) // 2],
        lambda code: code[:-1],
        lambda code: b"\0" * len(code),
        lambda code: b"garbage" + code,
        lambda code: WASM,
        lambda code: os.urandom(len(code)),
    ],
)
def test_a_damaged_file_is_compiled_again(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    load()
    path = kept(folder)
    path.write_bytes(damage(path.read_bytes()))
    assert load() == (42, True)
    assert load() == (42, False)


def test_a_folder_that_cannot_be_created_is_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CORTEX_SANDBOX_CACHE", str(tmp_path / "file" / "below"))
    with caplog.at_level(logging.WARNING):
        assert load() == (42, True)
    assert "compiles again" in caplog.text


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.timeout(400)  # two engines, each compiled twice
def test_compilation_counts_neither_as_run_time_of_a_guest_nor_as_memory_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    source = (
        "import sys\n"
        "from cortex_sandbox import Limits, Sandbox\n"
        "with Sandbox(Limits(stack_bytes=512 << 10, timeout_s=3)) as box:\n"
        "    box.load_module('export default { twice: (n) => 2 * n }')\n"
        "    print(box.call('twice', 21))\n"
        "from pathlib import Path\n"
        "status = Path('/proc/self/status')\n"
        "if not status.exists():\n"
        "    sys.exit()\n"
        "from resource import RUSAGE_CHILDREN, getrusage\n"
        # Not ru_maxrss of this process: it includes that of the process that started it.
        "(here,) = [int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith('VmHWM')]\n"
        "compiler = getrusage(RUSAGE_CHILDREN).ru_maxrss\n"
        "print(*() if here < compiler else (here, compiler))\n"
    )
    environment = {**os.environ, "CORTEX_SANDBOX_CACHE": str(tmp_path / "file" / "below")}
    done = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["42"]  # and no memory for compilation in this process


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_not_an_error(folder: Path) -> None:
    load()
    kept(folder).unlink()
    folder.chmod(0o500)
    try:
        assert load() == (42, True)
    finally:
        folder.chmod(0o700)


def compiler(before: str) -> Callable[..., list[str]]:
    """The command of a compiler that runs some code first."""
    run_main = "from cortex_sandbox.engine.compile_child import main; main(*map(int, sys.argv[1:]))"
    return lambda _, *numbers: [sys.executable, "-c", f"import sys\n{before}\n{run_main}", *map(str, numbers)]


def waits_for(path: Path) -> str:
    return f"import time\nfrom pathlib import Path\nwhile not Path({str(path)!r}).exists():\n    time.sleep(0.01)"


KILLS_ITSELF = "import os, pathlib, signal; pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)"


@POSIX
def test_a_compiler_that_is_killed_as_it_keeps_the_code_leaves_no_partial_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(native_code, "command", compiler(KILLS_ITSELF))
        with pytest.raises(SandboxError, match="killed by SIGKILL"):
            load()
    assert not list(folder.glob("*.cwasm"))
    assert load() == (42, True)
    assert load() == (42, False)


@needs_fork
def test_a_start_that_is_killed_is_not_compiled_again(folder: Path, tmp_path: Path) -> None:
    go = tmp_path / "go"
    source = (
        "from cortex_sandbox import compiling\n"
        "from cortex_sandbox.engine import code_cache, native_code\n"
        "from cortex_sandbox.engine.engine import Engine\n"
        "from tests.sandbox.test_code_cache import compiler\n"
        f"native_code.command = compiler({waits_for(go)!r})\n"
        "exchange = native_code._await\n"
        "native_code._await = lambda output: print('compiling', flush=True) or exchange(output)\n"
        f"code_cache.load_module(Engine(256 << 10), 'tiny', 's', lambda: {WASM!r}, {WASM!r})\n"
    )
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, start_new_session=True) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"compiling\n"
        os.killpg(host.pid, signal.SIGKILL)  # as an agent host does that waits no longer
    assert host.returncode == -signal.SIGKILL
    assert not list(folder.glob("*.cwasm"))
    threading.Timer(0.2, go.touch).start()
    assert load() == (42, False)  # it waited for the compiler of the process that was killed


def test_a_thread_that_stops_waiting_leaves_the_compiler_at_work(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = tmp_path / "go"
    with monkeypatch.context() as patched:
        patched.setattr(native_code, "command", compiler(waits_for(go)))
        for _ in range(2):  # the second waits for the lock
            with compiling.unless(lambda: True), pytest.raises(SandboxError) as caught:
                load()
            assert caught.value.name == "Interrupted"
    go.touch()
    assert load() == (42, False)


def test_an_input_that_ends_early_is_not_compiled(folder: Path) -> None:
    path = folder / "tiny.cwasm"
    folder.mkdir(parents=True)
    sent = b"".join(len(part).to_bytes(8, "little") + part for part in (str(path).encode(), WASM))
    for size in (0, 4, 12, len(sent) - 10, len(sent) - 1):
        done = subprocess.run(compiler("")("", 256 << 10, 0, 0), input=sent[:size], check=False, capture_output=True)
        assert (done.returncode, done.stdout, done.stderr.strip()) == (1, b"", b"the input ended early")
    assert list(folder.iterdir()) == []


def test_a_compilation_is_announced_and_what_is_compiled_already_is_not(folder: Path) -> None:
    said: list[tuple[str, str | None]] = []
    with compiling.announced(lambda guest: said.append((guest, compiling.under_way()))):
        assert [load(), load()] == [(42, True), (42, False)]
    load(label="other")
    assert (said, compiling.under_way()) == ([("tiny", "tiny")], None)


@needs_fork
def test_a_child_forked_during_a_compilation_waits_until_it_ends(tmp_path: Path) -> None:
    printed = run(f"""
        import os
        from pathlib import Path
        from cortex_sandbox.engine.code_cache import _alone
        path = Path({str(tmp_path)!r}) / "tiny.cwasm"
        reported, reports = os.pipe()
        with _alone(path):
            child = os.fork()
            if child == 0:
                os.read(reported, 1)
                with _alone(path):
                    os._exit(0)
        os.write(reports, b"!")
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert printed == "0"


# --- the process that compiles

FAILING_COMPILERS = {
    "killed": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL"),
    "ended early": ("raise SystemExit(3)", "ended with status 3"),
    "broken": ("raise MemoryError('no memory')", "MemoryError: no memory"),
    "killed while it wrote": (
        "import os, signal, sys; sys.stdout.buffer.write((1000).to_bytes(8, 'little') + b'half'); sys.stdout.flush(); "
        "os.kill(os.getpid(), signal.SIGKILL)",
        "killed by SIGKILL",
    ),
}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
@pytest.mark.parametrize(("program", "reason"), FAILING_COMPILERS.values(), ids=FAILING_COMPILERS)
def test_a_compiler_that_fails_is_an_error_with_its_reason_and_leaves_no_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, program: str, reason: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(native_code, "command", lambda *_: [fork_server.python(), "-c", program])
        with pytest.raises(SandboxError, match=reason) as caught:
            load()
    assert (caught.value.name, "try again" in caught.value.message) == ("SandboxUnavailable", True)
    assert [path.suffix for path in folder.iterdir()] == [".lock"]
    assert load() == (42, True)


def test_a_compiler_that_cannot_be_started_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_code, "command", command)
    monkeypatch.setattr(sys, "executable", str(folder / "absent"))
    with pytest.raises(SandboxError, match=r"absent cannot be started: No such file"):
        load()


def test_bytes_that_are_not_a_module_are_an_error(folder: Path) -> None:
    with pytest.raises(CompileError, match="not a WebAssembly module"):
        load_module(Engine(256 << 10), "tiny", "s", lambda: b"\0asm no", b"x")
    assert not list(folder.glob("*.cwasm"))


def test_a_script_without_a_main_guard_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from cortex_sandbox.engine.engine import Engine\n"
        "print('run', flush=True)\n"
        f"Engine(256 << 10).compile({WASM!r})\n"
    )
    done = subprocess.run([sys.executable, script], check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("run\n", "")


def test_a_host_that_ignores_its_children_can_compile() -> None:
    printed = run(f"""
        import signal
        from cortex_sandbox.engine.engine import Engine
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print(Engine(256 << 10).compile({WASM!r}).exports[0].name)
    """)
    assert printed == "f"


@needs_fork
def test_processes_that_start_together_compile_once(folder: Path) -> None:
    source = (
        "import sys\n"
        "from cortex_sandbox.engine import code_cache\n"
        "from cortex_sandbox.engine.engine import Engine\n"
        f"def wasm():\n    print('compiled')\n    return {WASM!r}\n"
        "sys.stdin.read()\n"
        f"code_cache.load_module(Engine(256 << 10), 'tiny', 's', wasm, {WASM!r})\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    starting = [subprocess.Popen([sys.executable, "-c", source], **pipes) for _ in range(3)]  # type: ignore[call-overload]
    printed = [process.stdin.close() or process.stdout.read() for process in starting]
    for process in starting:
        process.stdout.close()
        assert process.wait() == 0
    assert sorted(printed) == ["", "", "compiled\n"]


@needs_fork
def test_a_child_compiles_a_module_whose_parent_compiled_others() -> None:
    printed = run(f"""
        import os
        import wasmtime
        from cortex_sandbox.engine.engine import Engine
        engine = Engine(256 << 10)
        engine.compile({WASM!r})
        child = os.fork()
        if child == 0:
            module = engine.compile({WASM!r})
            store = wasmtime.Store(engine.wasm)
            store.set_epoch_deadline(1)
            os._exit(wasmtime.Instance(store, module, []).exports(store)["f"](store))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert printed == "42"


def test_warming_up_twice_compiles_nothing_that_is_compiled_and_nothing_that_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = Sandbox()  # whatever this machine lacks is compiled here
    box.close()
    warm_up(Limits())
    said: list[str] = []
    with compiling.announced(said.append):
        warm_up(Limits())
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("CORTEX_SANDBOX_CACHE", str(tmp_path / "file" / "below"))
        warm_up(Limits(memory_bytes=200 << 20, stack_bytes=1 << 20))
    assert said == []
