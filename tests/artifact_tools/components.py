"""Components that use host functions, as WebAssembly text."""

from tests.wasm.modules import FORWARD, INPUT, component

KEY = "(i32.const 0) (i32.const 5)"  # `count`, written by `WORDS`


def word(at: int, text: str) -> str:
    """Write a text into the memory."""
    return "".join(
        f"(i32.store8 (i32.const {at + place}) (i32.const {byte}))" for place, byte in enumerate(text.encode())
    )


# Each answers with the text or bytes that a host function gives, or with the code of its refusal as an error.
SECRET = component(f"(call $secret-read (i32.const 20000) (i32.const 2048)) {FORWARD}", "secret-read")
READ = component(
    f"{word(0, 'count')} (call $storage-read (i32.const 30000) {KEY} (i32.const 2048)) {FORWARD}", "storage-read"
)


def answering_input(call: str, function: str) -> bytes:
    """A component that calls a function, and answers with its input, or the code of the refusal as an error."""
    return component(
        f"{call} (i32.store8 (i32.const 1024) (i32.load8_u (i32.const 2048)))"
        "(if (i32.load8_u (i32.const 2048)) (then (i32.store (i32.const 1028) (i32.load (i32.const 2052)))"
        "(i32.store (i32.const 1032) (i32.load (i32.const 2056))))"
        "(else (i32.store (i32.const 1028) (local.get $in)) (i32.store (i32.const 1032) (local.get $size))))"
        "(i32.const 1024)",
        function,
    )


WRITE = answering_input(
    f"{word(0, 'count')} (call $storage-write (i32.const 30000) {KEY} {INPUT} (i32.const 2048))", "storage-write"
)
SEND = answering_input(f"(call $channel-send (i32.const 40000) {INPUT} (i32.const 2048))", "channel-send")
QUERY = component(f"(call $graph-query {INPUT} (i32.const 2048)) {FORWARD}", "graph-query")
ASSERT = component(f"(call $graph-assert {INPUT} (i32.const 2048)) {FORWARD}", "graph-assert")
# GET /data of the granted host; the answer is the body.
FETCH = component(
    f"""{word(0, "GET")} {word(8, "/data")}
  (call $http-fetch (i32.const 10000) (i32.const 0) (i32.const 3) (i32.const 8) (i32.const 5)
    (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048))
  (i32.store8 (i32.const 1024) (i32.load8_u (i32.const 2048)))
  (if (i32.load8_u (i32.const 2048))
    (then (i32.store (i32.const 1028) (i32.load (i32.const 2052)))
      (i32.store (i32.const 1032) (i32.load (i32.const 2056))))
    (else (i32.store (i32.const 1028) (i32.load (i32.const 2064)))
      (i32.store (i32.const 1032) (i32.load (i32.const 2068)))))
  (i32.const 1024)""",
    "http-fetch",
)
LOG = component(
    f"(call $log (i32.const 2) {INPUT}) (i32.store (i32.const 1028) (local.get $in))"
    "(i32.store (i32.const 1032) (local.get $size)) (i32.const 1024)",
    "log",
)
