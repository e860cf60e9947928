"""Generated hostile scripts: `python -m fuzz.fuzz --seconds 600 [--seed 1]`.

Rules kept here:
- the invariant for every script: a typed outcome within the limits, a living host, and a next sandbox that works;
- two generators: a small grammar of expressions and statements with a preference for edge cases of the engine, and
  mutations of the scripts in this folder (concatenated, with numbers, strings and methods replaced, tokens deleted);
- a run is reproducible by its seed; a script that breaks the invariant is printed whole.
"""

from __future__ import annotations

import argparse
import logging
import random
import re
import sys
import time
from dataclasses import dataclass

from cortex_sandbox import SandboxTimeout

from .harness import DEEP, INLINE, MOST_BYTES, Outcome, Script, all_scripts, run, still_sound


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_NAMES = ("a", "b", "c", "f", "g", "o", "k", "s")
_NUMBERS = ("0", "-0", "1", "2**31", "2**32-1", "2**53-1", "-1", "NaN", "Infinity", "0.5", "10n", "-(2n**64n)", "1e308")
_VALUES = (
    *_NUMBERS,
    "''",
    "'abc'",
    "'\\ud800'",
    "'x'.repeat(1e4)",
    "null",
    "undefined",
    "true",
    "Symbol.iterator",
    "/(a+)+$/g",
    "[]",
    "[1,,3]",
    "({})",
    "new Map([[1, 2]])",
    "new Set([1])",
    "new Uint8Array(8)",
    "new ArrayBuffer(8, { maxByteLength: 64 })",
    "new Date(0)",
    "Promise.resolve(1)",
    "globalThis",
    "echo",
    "later(1)",
    "new Proxy({}, {})",
    "new Error('e')",
)
_ROOTS = _words(
    "Object Array String Number BigInt RegExp Map Set WeakMap Promise Proxy Reflect JSON Math Date Symbol "
    "ArrayBuffer DataView Uint8Array Float64Array BigInt64Array Iterator Error AggregateError Function "
    "DisposableStack"
)
_METHODS = _words(
    "at concat copyWithin fill filter find flat flatMap forEach includes indexOf join map pop push reduce "
    "reverse shift slice sort splice toSorted toString unshift with replace split match padStart repeat "
    "normalize get set has delete clear union then catch next return throw resize transfer subarray exec test "
    "bind call apply toJSON valueOf take drop toArray constructor setFullYear toISOString toLocaleString from "
    "of fromEntries groupBy defineProperty setPrototypeOf parse stringify construct ownKeys all any "
    "sumPrecise"
)
_HOOKS = (
    "toString",
    "valueOf",
    "toJSON",
    "then",
    "length",
    "[Symbol.toPrimitive]",
    "[Symbol.iterator]",
    "[Symbol.species]",
    "[Symbol.hasInstance]",
    "[Symbol.isConcatSpreadable]",
    "next",
    "return",
    "constructor",
    "0",
)
_TOKEN = re.compile(r"[A-Za-z_$][\w$]*|\d[\d_]*n?|'[^'\n]*'|\S|\s+")


class Grammar:
    """Generates scripts from a small grammar."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def script(self) -> str:
        """A script: a few statements and an expression."""
        declared = "".join(f"var {name}; try {{ {name} = {self.expression(2)}; }} catch {{ }}\n" for name in _NAMES)
        body = "".join(
            f"try {{ {self.statement(3)} }} catch (e) {{ g = e; }}\n" for _ in range(self._dice.randint(1, 5))
        )
        return f"{declared}{body}{self.expression(3)};\n"

    def statement(self, depth: int) -> str:
        """One statement, at most `depth` levels deep."""
        pick = self._dice.randrange(11)
        value = self.expression(depth - 1) if depth else "1"
        if depth <= 0 or pick < 3:
            return f"{self._dice.choice(_NAMES)} = {value};"
        inner = self.statement(depth - 1)
        return (
            f"for (let i = 0; i < {self._dice.choice(('3', '1e4', 'Infinity'))}; i++) {{ {inner} }}",
            f"for (const k of {value}) {{ {inner} }}",
            f"for (const k in {value}) {{ {inner} }}",
            f"try {{ {inner} }} catch {{ {self.statement(depth - 1)} }} finally {{ {inner} }}",
            f"(function r(n) {{ {inner} if (n < {self._dice.choice(('3', 'Infinity'))}) r(n + 1); }})(0);",
            f"{self._place(depth)} = {value};",
            f"delete {self._place(depth)};",
            f"(async () => {{ await {value}; {inner} }})();",
        )[pick - 3]

    def expression(self, depth: int) -> str:
        """One expression, at most `depth` levels deep."""
        dice = self._dice
        if depth <= 0:
            return dice.choice(_VALUES + _NAMES)
        some = [self.expression(depth - 1) for _ in range(3)]
        return dice.choice(
            (
                lambda: (
                    f"({some[0]} {dice.choice(('+', '-', '*', '**', '<<', '==', 'in', '??', '%', '>>>'))} ({some[1]}))"
                ),
                lambda: f"({some[0]})?.{dice.choice(_METHODS)}?.({some[1]}, {some[2]})",
                lambda: f"{dice.choice(_ROOTS)}.{dice.choice(_METHODS)}?.({some[0]}, {some[1]})",
                lambda: (
                    f"{dice.choice(_ROOTS)}.prototype?.{dice.choice(_METHODS)}?.call?.({some[0]}, {some[1]}, {some[2]})"
                ),
                lambda: f"new {dice.choice(_ROOTS)}({some[0]}, {some[1]})",
                lambda: f"({{ {dice.choice(_HOOKS)}: {some[0]}, length: {dice.choice(_NUMBERS)} }})",
                lambda: f"({{ get {dice.choice(_HOOKS)}() {{ {self.statement(depth - 1)} return {some[0]}; }} }})",
                lambda: f"((...z) => {{ {self.statement(depth - 1)} return {some[0]}; }})",
                lambda: f"(function* () {{ {self.statement(depth - 1)} yield {some[0]}; }})()",
                lambda: f"[...({some[0]})]",
                lambda: f"`${{{some[0]}}}`",
                lambda: f"echo({some[0]}, {some[1]})",
                lambda: f"new Proxy({some[0]}, {{ get: {some[1]}, has: {some[2]}, ownKeys: {some[1]} }})",
                lambda: f"Object.defineProperty({some[0]}, {some[1]}, {{ get: {some[2]}, configurable: true }})",
            )
        )()

    def _place(self, depth: int) -> str:
        return f"({self.expression(depth - 1)})[{self.expression(depth - 2)}]"


class Mutator:
    """Generates scripts from existing scripts."""

    def __init__(self, dice: random.Random, scripts: list[Script]) -> None:
        self._dice = dice
        self._pieces = [_TOKEN.findall(script.source) for script in scripts if len(script.source) < 4000]

    def script(self) -> str:
        """A script with some tokens replaced, possibly after another one, or with some tokens deleted."""
        dice = self._dice
        tokens = self._exchanged(dice.choice(self._pieces))
        if dice.random() < 0.5:
            first = "".join(self._exchanged(dice.choice(self._pieces)))
            return f"try {{ {first}\n}} catch (e) {{ g = e; }}\n{''.join(tokens)}"
        if dice.random() < 0.3:
            at = dice.randrange(len(tokens))
            del tokens[at : at + dice.randint(1, 4)]
        return "".join(tokens)

    def _exchanged(self, tokens: list[str]) -> list[str]:
        dice = self._dice
        out = list(tokens)
        for _ in range(dice.randint(0, 4)):
            at = dice.randrange(len(out))
            token = out[at]
            if token[0].isdigit():
                out[at] = f"({dice.choice(_NUMBERS)})"
            elif token[0] == "'":
                out[at] = dice.choice(_VALUES)
            elif out[at - 1] == "." and token.isidentifier():
                out[at] = dice.choice(_METHODS)
            elif token in _ROOTS:
                out[at] = dice.choice(_ROOTS)
        return out


@dataclass(frozen=True, slots=True)
class Found:
    """A script that broke the invariant, with its outcome and the reason."""

    source: str
    outcome: Outcome | None
    reason: str


def check(source: str, *, is_module: bool = False, stack_bytes: int = INLINE) -> Found | None:
    """Run one script; None when it kept the invariant."""
    script = Script("fuzz/generated", source, frozenset({"timeout"}), is_module)
    try:
        outcome = run(script, stack_bytes)
    except SandboxTimeout:
        return None  # before the script started: the machine is too busy for this short limit
    except Exception as error:
        return Found(source, None, f"{type(error).__name__} reached the host: {error}")
    if outcome.seconds > script.most_seconds:
        return Found(source, outcome, "it exceeded its time limit")
    if (outcome.grown_bytes or 0) > MOST_BYTES:
        return Found(source, outcome, "it exceeded its memory limit")
    if not still_sound():
        return Found(source, outcome, "the next sandbox does not work")
    return None


def fuzz(seconds: float, seed: int, least: int = 0) -> tuple[int, list[Found]]:
    """The number of scripts that ran, at least `least`, and those that broke the invariant."""
    dice = random.Random(seed)
    sources = (Grammar(dice), Mutator(dice, all_scripts()))
    found: list[Found] = []
    count = 0
    end = time.monotonic() + seconds
    while count < least or time.monotonic() < end:
        source = dice.choice(sources).script()
        broken = check(source, is_module=dice.random() < 0.1, stack_bytes=dice.choice((INLINE, DEEP)))
        count += 1
        if broken is not None:
            found.append(broken)
    return count, found


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Run generated hostile scripts in the sandbox.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)  # noqa: T201
    count, found = fuzz(options.seconds, seed)
    for broken in found:
        print(f"--- {broken.reason}\n{broken.outcome}\n{broken.source}")  # noqa: T201
    print(f"{count} scripts, {len(found)} broke the invariant")  # noqa: T201
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
