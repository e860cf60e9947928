"""The guest's allocator: blocks never overlap, and freed memory can be used for any size."""

from __future__ import annotations

import gc
import random
import re
import weakref
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sandbox import Limits, Sandbox
from cortex_sandbox.engine.bake import PAGE
from cortex_sandbox.engine.engine import engine_for
from cortex_sandbox.errors import SandboxError
from cortex_sandbox.quickjs.guest import Guest
from cortex_sandbox.quickjs.image import FIXED_BYTES, OVERHEAD_BYTES, SCRATCH_BYTES, image_for

STACK = 64 << 10
ROOM = 4 << 20
sizes = st.integers(0, 64) | st.integers(0, 5000) | st.integers(0, 400_000) | st.integers(0, 19).map(lambda n: 1 << n)


class Heap:
    """malloc and free of one guest."""

    def __init__(self, room: int = ROOM) -> None:
        self.guest = Guest(engine_for(STACK), room, STACK)
        self.alloc = self.guest.instance.function("guest_alloc", 1)
        self.free = self.guest.instance.function("guest_free", 1)

    def fill(self, at: int, size: int, byte: int) -> None:
        self.guest.instance.write(at, bytes([byte]) * size)

    def holds(self, at: int, size: int, byte: int) -> bool:
        return self.guest.instance.read(at, size) == bytes([byte]) * size


@settings(deadline=None, max_examples=150)
@given(steps=st.lists(st.tuples(sizes, st.booleans(), st.integers(0, 1 << 16)), max_size=120))
def test_blocks_never_overlap_and_keep_their_content(steps: list[tuple[int, bool, int]]) -> None:
    heap = Heap()
    live: list[tuple[int, int, int]] = []
    for size, ends, which in steps:
        if ends and live:
            at, length, byte = live.pop(which % len(live))
            assert heap.holds(at, length, byte)
            heap.free(at)
        elif at := heap.alloc(size):
            assert at % 8 == 0
            live.append((at, size, which & 0xFF))
            heap.fill(at, size, which & 0xFF)
    for at, length, byte in live:
        assert heap.holds(at, length, byte)
        heap.free(at)
    heap.guest.instance.close()


@settings(deadline=None, max_examples=30)
@given(pieces=st.lists(st.integers(1, 300), min_size=1, max_size=60), order=st.randoms(use_true_random=False))
def test_freed_blocks_are_merged(pieces: list[int], order: random.Random) -> None:
    heap = Heap()
    while heap.alloc(32 << 10):  # until only small blocks are left
        pass
    whole = heap.alloc(16 << 10)
    heap.free(whole)
    found = list(map(heap.alloc, pieces))
    assert all(found)
    order.shuffle(found)
    for at in found:
        heap.free(at)
    assert heap.alloc(16 << 10) == whole
    heap.guest.instance.close()


def test_an_allocation_beyond_the_limit_fails_without_side_effects() -> None:
    heap = Heap()
    small = heap.alloc(100)
    heap.fill(small, 100, 7)
    for size in (64 << 20, 0x7FFF_FFFF, -1, -100):
        assert heap.alloc(size) == 0
    assert heap.holds(small, 100, 7)
    assert heap.alloc(1 << 20)
    heap.guest.instance.close()


@pytest.mark.parametrize("room", [1 << 20, 8 << 20, 10 << 20, 16 << 20, 64 << 20])
def test_a_guest_keeps_to_its_limit_in_a_memory_of_any_size(room: int) -> None:
    heap = Heap(room)
    whole = image_for(engine_for(STACK), room).memory_bytes + room + OVERHEAD_BYTES
    blocks = []
    while at := heap.alloc(256 << 10):
        blocks.append(at)
    assert max(blocks) + (256 << 10) <= heap.guest.memory_bytes <= whole
    assert heap.guest.memory_bytes > whole - (256 << 10) - 2 * PAGE
    heap.guest.instance.close()


def test_memory_has_a_fixed_size_for_a_small_limit_and_grows_for_a_large_one() -> None:
    for room, end in ((10 << 20, FIXED_BYTES), (16 << 20, image_for(engine_for(STACK), 16 << 20).memory_bytes)):
        guest = Guest(engine_for(STACK), room, STACK)
        assert guest.instance.memory_size == end
        guest.instance.write(end - 4, b"last")
        with pytest.raises(SandboxError, match="outside of its memory"):
            guest.instance.write(end - 3, b"over")
        guest.instance.close()


@pytest.mark.parametrize("room", [10 << 20, 16 << 20])
def test_a_closed_guest_has_no_memory(room: int) -> None:
    guest = Guest(engine_for(STACK), room, STACK)
    guest.instance.write(1024, b"there")
    guest.instance.close()
    for touch in (lambda: guest.instance.read(1024, 5), lambda: guest.instance.write(1024, b"gone")):
        with pytest.raises(SandboxError, match="outside of its memory"):
            touch()


def test_a_closed_guest_is_freed_without_the_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        guest = Guest(engine_for(STACK), ROOM, STACK)
        guest.instance.on_host_call = partial(_answer, guest)
        seen = weakref.ref(guest), weakref.ref(guest.instance)
        guest.instance.close()
        del guest
        assert [one() for one in seen] == [None, None]
    finally:
        gc.enable()


def _answer(guest: Guest, _pointer: int, _length: int) -> int:
    return guest.lay_answer(b"null")


def test_the_reported_memory_is_at_most_the_size_of_the_memory() -> None:
    guest = Guest(engine_for(STACK), ROOM, STACK)
    guest.instance.write(image_for(engine_for(STACK), ROOM).used, b"\xff\xff\xff\xff")
    assert guest.memory_bytes == FIXED_BYTES
    guest.instance.close()


@pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").is_dir(), reason="this system has no transparent huge pages"
)
def test_a_memory_of_fixed_size_is_never_backed_by_huge_pages() -> None:
    guest = Guest(engine_for(STACK), ROOM, STACK)
    base = guest.instance._address(0, 0)
    flags = _flags_between(base, base + FIXED_BYTES)
    assert flags
    assert all("nh" in of_one for of_one in flags)
    guest.instance.close()


def _flags_between(begin: int, end: int) -> list[list[str]]:
    """The flags of this process's mappings in a range, from the kernel."""
    found, inside = [], False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if bounds := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            first, last = (int(bound, 16) for bound in bounds.groups())
            inside = first < end and last > begin
        elif inside and line.startswith("VmFlags:"):
            found.append(line.split()[1:])
    return found


def test_many_allocations_of_changing_size_do_not_exhaust_the_memory() -> None:
    with Sandbox(Limits(memory_bytes=8 << 20, timeout_s=60)) as box:
        kept = box.evaluate("""
            const held = [];
            for (let i = 0; i < 20000; i++) {
                held[i * 7919 % 97] = i % 3 ? new Uint8Array(i * 7907 % 30000) : 'x'.repeat(i * 31 % 30000);
            }
            held.length
        """)
        assert kept == 97
        assert box.evaluate("new Uint8Array(5 << 20).length") == 5 << 20


def test_a_string_that_grows_in_steps_can_use_most_of_the_limit() -> None:
    with Sandbox(Limits(memory_bytes=8 << 20, timeout_s=60)) as box:
        assert box.evaluate("let s = ''; while (s.length < 3 << 20) s += 'abcdefgh'.repeat(64); s.length") == 3 << 20


@pytest.mark.parametrize("size", [10, SCRATCH_BYTES - 600, *range(SCRATCH_BYTES - 300, SCRATCH_BYTES + 1, 50), 200_000])
def test_code_runs_whether_or_not_it_fits_into_the_scratch_buffer(size: int) -> None:
    with Sandbox(Limits(timeout_s=60), {"echo": lambda value: value}) as box:
        for letter in "ab":
            exports = box.load_module(
                f"const text = '{letter * size}'; export default {{ size: echo(text).length, at: text[9] }}"
            )
            assert exports.values == {"size": size, "at": letter}
        assert box.evaluate(f"echo('{'c' * size}').length") == size
