"""The sandbox and its process: import, fork, crash handlers, shutdown."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


# Since Python 3.12 a fork in a process with threads emits a warning; these tests are about such forks.
FORK_IS_MEANT = ("-W", "ignore:This process (pid=:DeprecationWarning")


def run(source: str, *options: str) -> str:
    """The output of a new interpreter, which must exit with 0 and print no error."""
    done = subprocess.run(
        [sys.executable, *FORK_IS_MEANT, *options, "-c", textwrap.dedent(source)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert done.stderr == ""
    return done.stdout.strip()


def test_importing_the_package_imports_no_heavy_module() -> None:
    printed = run("""
        import sys
        import cortex_sandbox
        from cortex_sandbox import Limits, SandboxError, SandboxTimeout
        heavy = {"wasmtime", "ctypes", "orjson", "asyncio", "platformdirs"}
        print(sorted(heavy & set(sys.modules)))
    """)
    assert printed == "[]"


def test_every_public_name_can_be_imported() -> None:
    printed = run("""
        import cortex_sandbox
        print(all(getattr(cortex_sandbox, name) is not None for name in cortex_sandbox.__all__))
        try:
            cortex_sandbox.absent
        except AttributeError as error:
            print(error)
    """)
    assert printed == "True\nmodule 'cortex_sandbox' has no attribute 'absent'"


def test_the_sandbox_works_with_a_crash_handler_of_the_host() -> None:
    printed = run(
        """
        import faulthandler
        faulthandler.enable()
        from cortex_sandbox import Limits, Sandbox, SandboxError
        patient = 60
        for source, limit in (
            ("for (;;);", 0.1),
            ("(function f() { f() })()", patient),
            ("const k = []; for (;;) k.push({})", patient),
        ):
            with Sandbox(Limits(timeout_s=limit)) as box:
                faulthandler.enable()
                try:
                    box.evaluate(source)
                except SandboxError as error:
                    print(error.code)
        """,
        "-X",
        "faulthandler",
    )
    assert printed.split() == ["skill_timeout", "skill_error", "skill_memory"]


@needs_fork
@pytest.mark.parametrize("stack_kib", [256, 512])
def test_a_forked_child_makes_its_own_sandboxes(stack_kib: int) -> None:
    printed = run(f"""
        import os
        from cortex_sandbox import Limits, Sandbox, SandboxTimeout, transpile
        from cortex_sandbox.esbuild import bundler
        bundler.recall = lambda *_: None  # esbuild is tested here, not the cache of bundles
        limits = Limits(stack_bytes={stack_kib} << 10)
        with Sandbox(limits) as box:
            box.evaluate("1")
            child = os.fork()
            if child == 0:
                with Sandbox(limits, host={{"echo": lambda value: value}}) as own:
                    assert own.evaluate("echo(42)") == 42
                    try:
                        own.evaluate("for (;;);", timeout_s=0.1)
                    except SandboxTimeout:
                        assert "a" in transpile("export let a: number = 1")
                        os._exit(7)
                os._exit(1)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), box.evaluate("2"))
    """)
    assert printed == "7 2"


@needs_fork
def test_a_forked_child_of_a_process_that_transpiled_can_transpile() -> None:
    printed = run("""
        import os
        from cortex_sandbox import Sandbox, SandboxTimeout, transpile
        from cortex_sandbox.esbuild import bundler
        bundler.recall = lambda *_: None  # esbuild is tested here, not the cache of bundles
        transpile("export let a: number = 1")
        child = os.fork()
        if child == 0:
            try:
                transpile("export let a: number = 1;\\n" * 100_000, timeout_s=0.05)
            except SandboxTimeout:
                assert "b" in transpile("export let b: number = 1")
                with Sandbox() as box:
                    os._exit(box.evaluate("42"))
            os._exit(1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), "a" in transpile("export let a: number = 1"))
    """)
    assert printed == "42 True"


@needs_fork
def test_a_sandbox_that_was_idle_at_a_fork_is_independent_in_each_process() -> None:
    printed = run("""
        import os
        from cortex_sandbox import Sandbox
        with Sandbox(host={"pid": os.getpid}) as box:
            box.evaluate("globalThis.n = 1")
            child = os.fork()
            if child == 0:
                fine = box.evaluate("n += 10; [n, pid()]") == [11, os.getpid()]
                os._exit(0 if fine else 1)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            print(code, box.evaluate("n"))
    """)
    assert printed == "0 1"


@needs_fork
@pytest.mark.parametrize("stack_kib", [256, 512])
def test_a_sandbox_that_ran_at_a_fork_times_out_in_the_child(stack_kib: int) -> None:
    printed = run(f"""
        import os, threading
        from cortex_sandbox import Limits, Sandbox, SandboxError, SandboxTimeout
        entered, leave = threading.Event(), threading.Event()
        def hold():
            entered.set()
            leave.wait(60)
        box = Sandbox(Limits(stack_bytes={stack_kib} << 10, timeout_s=60), host={{"hold": hold}})
        thread = threading.Thread(target=lambda: box.evaluate("hold()"))
        thread.start()
        entered.wait(60)
        child = os.fork()
        if child == 0:
            try:
                box.evaluate("1", timeout_s=0.1)
            except SandboxTimeout:
                with Sandbox() as other:
                    os._exit(other.evaluate("42"))
            os._exit(1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        leave.set()
        thread.join()
    """)
    assert printed == "42"


@needs_fork
def test_forks_at_any_time_leave_no_lock_held() -> None:
    printed = run("""
        import os, threading
        from cortex_sandbox import Limits, Sandbox
        Sandbox().close()  # an import lock of Python does not survive a fork either
        stop = threading.Event()
        def work():
            n = 0
            while not stop.is_set():
                with Sandbox(Limits(stack_bytes=256 << 10)) as box:
                    box.evaluate(f"{n} + 1")
                    n += 1
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        codes = set()
        for _ in range(15):
            child = os.fork()
            if child == 0:
                with Sandbox() as box:
                    os._exit(box.evaluate("6 * 7"))
            codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        stop.set()
        for thread in threads:
            thread.join()
        print(codes)
    """)
    assert printed == "{42}"


@pytest.mark.parametrize("stack_kib", [256, 512])
@pytest.mark.parametrize(
    "source",
    ["for (;;);", "for (;;) echo(1)", "for (;;) { try { nap() } finally { continue } }", "for (;;) Date.now()"],
)
def test_the_interpreter_exits_while_a_daemon_thread_runs_a_guest(source: str, stack_kib: int) -> None:
    printed = run(f"""
        import threading, time
        from cortex_sandbox import Limits, Sandbox
        class Slow:
            def __del__(self):
                time.sleep(0.1)
        slow = Slow()
        limits = Limits(stack_bytes={stack_kib} << 10, timeout_s=60)
        idle = [Sandbox(limits) for _ in range(10)]
        box = Sandbox(limits, host={{"echo": lambda value: value, "nap": lambda: time.sleep(0.01)}})
        def go():
            try:
                box.evaluate({source!r})
            except BaseException:
                pass
        threading.Thread(target=go, daemon=True).start()
        time.sleep(0.1)
        print("end")
    """)
    assert printed == "end"


def test_the_interpreter_exits_with_live_sandboxes_on_all_threads() -> None:
    printed = run("""
        import atexit, os, threading
        from cortex_sandbox import Sandbox, SandboxError
        everywhere = {"box": Sandbox(host={"f": lambda: 1})}
        class Holder:
            box = Sandbox()
            def __del__(self):
                try:
                    self.box.evaluate("1")
                except SandboxError as error:
                    os.write(1, f"{error.name} ".encode())
        holder = Holder()
        local = threading.local()
        local.box = Sandbox()
        cycle = [Sandbox()]
        cycle.append(cycle)
        del cycle
        atexit.register(lambda: print(everywhere["box"].evaluate("f() + 1"), flush=True))
    """)
    assert printed.split() == ["2", "SandboxClosed"]


def test_a_keyboard_interrupt_stops_a_program_that_waits_for_a_guest() -> None:
    source = """
        import os, signal, threading, time
        from cortex_sandbox import Limits, Sandbox
        signal.signal(signal.SIGINT, signal.default_int_handler)  # for tests that run in the background
        begin = lambda: threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        for source in ("for (;;);", "for (;;) Date.now()", "for (;;) echo(1)"):
            with Sandbox(Limits(timeout_s=60), host={"echo": lambda value: value, "begin": begin}) as box:
                try:
                    box.evaluate("begin(); " + source)
                except KeyboardInterrupt:
                    print("interrupted")
    """
    assert run(source).split() == ["interrupted"] * 3
