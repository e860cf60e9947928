"""edwards25519 in plain Python, slow and independent: written from RFC 8032 (§5.1) and docs/proofs.md alone.

It shares no code with `cortex_skills`, so that an error would have to occur in both.
"""

from __future__ import annotations

import base64
import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)

Point = tuple[int, int]
ZERO: Point = (0, 1)


def add(one: Point, two: Point) -> Point:
    """Affine, complete addition (RFC 8032, §5.1)."""
    (x1, y1), (x2, y2) = one, two
    product = D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P)
    return x % P, y % P


def negate(point: Point) -> Point:
    return -point[0] % P, point[1]


def times(scalar: int, point: Point) -> Point:
    """By doubling and adding in extended coordinates (RFC 8032, §5.1.4), which divide once at the end."""
    result = (0, 1, 1, 0)
    running = (*point, 1, point[0] * point[1] % P)
    while scalar:
        if scalar & 1:
            result = _extended_sum(result, running)
        running = _extended_sum(running, running)
        scalar >>= 1
    inverse = pow(result[2], -1, P)
    return result[0] * inverse % P, result[1] * inverse % P


def _extended_sum(one: tuple[int, int, int, int], two: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    (x1, y1, z1, t1), (x2, y2, z2, t2) = one, two
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def encode(point: Point) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def decode(data: bytes) -> Point | None:
    """The point of an encoding; None when it is none (RFC 8032, §5.1.3)."""
    assert len(data) == 32
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * ROOT % P
    if x * x % P != square or (x == 0 and sign):
        return None
    return (P - x if x & 1 != sign else x), y


BASE = decode(bytes.fromhex("58" + "66" * 31))
assert BASE is not None
# Of order 8: every point of small order is a multiple of it.
TORSION = decode(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"))
assert TORSION is not None


def in_group(point: Point) -> bool:
    return point != ZERO and times(L, point) == ZERO


def received(data: bytes) -> Point:
    point = decode(data)
    assert point is not None
    assert in_group(point)
    return point


def _value_generator() -> Point:
    for counter in range(256):
        text = b"cortex-skills/zk/edwards25519-sha512/generator/H" + bytes([counter])
        point = decode(hashlib.sha512(text).digest()[:32])
        if point is not None:
            return times(8, point)
    raise AssertionError


H = _value_generator()


def scalar(data: bytes) -> int:
    number = int.from_bytes(data, "little")
    assert len(data) == 32
    assert number < L
    return number


def text_bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _frame(item: bytes) -> bytes:
    return len(item).to_bytes(4, "big") + item


def _challenge(items: list[bytes]) -> int:
    digest = hashlib.sha512(b"".join(map(_frame, items))).digest()
    return int.from_bytes(digest, "little") % L


def _value(member: int | str) -> int:
    if isinstance(member, int):
        return member % L
    domain = b"cortex-skills/zk/edwards25519-sha512/text"
    digest = hashlib.sha512(_frame(domain) + _frame(member.encode())).digest()
    return int.from_bytes(digest, "little") % L


def _words(commitment: dict) -> tuple[list[bytes], Point]:
    point = text_bytes(commitment["commitment"].removeprefix("pedersen:"))
    return [commitment["subject"].encode(), commitment["predicate"].encode(), point], received(point)


def _minus(one: Point, two: Point) -> Point:
    return add(one, negate(two))


def verify(document: dict, public_key: bytes = b"") -> bool:
    """Whether a proof is valid, checked as docs/proofs.md describes.

    Args:
        document: the proof's JSON.
        public_key: the 32 bytes of the `did:key` of a `schnorr` proof of one.

    """
    statement, claim, kind = document["statement"], document["claim"], document["proofType"]
    line = hashlib.sha256((statement["triple"] + "\n").encode())
    if line.hexdigest() != statement["tripleHash"]:
        return False
    items = [b"cortex-skills/zk", b"1", b"edwards25519-sha512", encode(BASE), encode(H)]
    items += [statement["namespace"].encode(), line.digest()]
    items += [statement[key].encode() for key in ("skill", "skillVersion", "nonce", "expires")]
    items.append(kind.encode())
    proof = text_bytes(document["proofValue"])
    parts = [proof[at : at + 32] for at in range(0, len(proof), 32)]
    return _CHECKS[kind](items, claim, parts, public_key)


def _schnorr(items: list[bytes], claim: dict, parts: list[bytes], public_key: bytes) -> bool:
    c, *z = map(scalar, parts)
    if "publicKey" in claim:
        items += [b"publicKey", public_key]
        message = _minus(times(z[0], BASE), times(c, received(public_key)))
    else:
        words, point = _words(claim["commitment"])
        items += [b"commitment", *words]
        message = _minus(add(times(z[0], H), times(z[1], BASE)), times(c, point))
    return _challenge([*items, encode(message)]) == c


def _equality(items: list[bytes], claim: dict, parts: list[bytes], _: bytes) -> bool:
    c, z_value, *z = map(scalar, parts)
    messages = []
    for commitment, response in zip(claim["commitments"], z, strict=True):
        words, point = _words(commitment)
        items += words
        messages.append(_minus(add(times(z_value, H), times(response, BASE)), times(c, point)))
    return _challenge([*items, *map(encode, messages)]) == c


def _membership(items: list[bytes], claim: dict, parts: list[bytes], _: bytes) -> bool:
    words, point = _words(claim["commitment"])
    members = claim["members"]
    items += [*words, len(members).to_bytes(4, "big")]
    items += [b"i" + str(m).encode() if isinstance(m, int) else b"s" + m.encode() for m in members]
    messages = parts[::3]
    challenges, responses = [scalar(part) for part in parts[1::3]], [scalar(part) for part in parts[2::3]]
    if sum(challenges) % L != _challenge(items + messages):
        return False
    for message, member, c, z in zip(messages, members, challenges, responses, strict=True):
        branch = _minus(point, times(_value(member), H))
        if times(z, BASE) != add(received(message), times(c, branch)):
            return False
    return True


def _range(items: list[bytes], claim: dict, parts: list[bytes], _: bytes) -> bool:
    words, point = _words(claim["commitment"])
    low, high = int(claim["minimum"]), int(claim["maximum"])
    items += [*words, str(low).encode(), str(high).encode()]
    bits = (high - low).bit_length()
    weights = [2**bit for bit in range(bits - 1)]
    weights.append(high - low - sum(weights))
    c, rest = scalar(parts[0]), parts[1:]
    if len(rest) != 4 * bits:
        return False
    messages, total = [], ZERO
    for bit, weight in enumerate(weights):
        commitment = received(rest[4 * bit])
        c0, z0, z1 = map(scalar, rest[4 * bit + 1 : 4 * bit + 4])
        total = add(total, commitment)
        messages.append(_minus(times(z0, BASE), times(c0, commitment)))
        one = _minus(commitment, times(weight, H))
        messages.append(_minus(times(z1, BASE), times((c - c0) % L, one)))
    if total != _minus(point, times(low % L, H)):
        return False
    return _challenge([*items, *rest[::4], *map(encode, messages)]) == c


_CHECKS = {"schnorr": _schnorr, "equality": _equality, "membership": _membership, "range": _range}
