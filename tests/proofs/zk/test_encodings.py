"""What is written is read back, what is not how it is written is refused, and nothing means two things."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nacl._sodium import lib
from nacl.bindings import crypto_core_ed25519_scalar_reduce, crypto_sign_seed_keypair

from cortex_skills.features.proofs.zk import (
    KeySecret,
    NotCanonicalError,
    Opening,
    ZkStatement,
    commitment_text,
    read_commitment,
)
from cortex_skills.features.proofs.zk.claims import weights_of
from cortex_skills.features.proofs.zk.generators import B, multiple_of_h, value_generator
from cortex_skills.features.proofs.zk.group import (
    BYTES,
    L,
    add,
    from_text,
    read_point,
    read_scalar,
    scalar_bytes,
    subtract,
    times,
    times_base,
    to_text,
)
from cortex_skills.features.proofs.zk.nonces import Nonces, random_scalar
from cortex_skills.features.proofs.zk.range import bits_of
from cortex_skills.features.proofs.zk.statement import moment_text, read_statement
from cortex_skills.features.proofs.zk.transcript import Transcript, frames
from cortex_skills.features.proofs.zk.values import checked_value, value_bytes, value_scalar
from cortex_skills.keys import Key
from tests.proofs.zk import curve
from tests.proofs.zk.cases import STATEMENT

scalars = st.integers(0, L - 1)
whole = st.integers(-(2**63), 2**64 - 1)


@given(st.binary(max_size=200))
def test_bytes_are_written_and_read_as_text(data: bytes) -> None:
    assert from_text(to_text(data), len(data)) == data


@given(st.text(alphabet="AB+/=_- \nZ09é", max_size=50), st.integers(0, 36))
def test_bytes_have_one_text(text: str, size: int) -> None:
    try:
        data = from_text(text, size)
    except NotCanonicalError:
        return
    assert len(data) == size
    assert to_text(data) == text


@pytest.mark.parametrize("text", ["AB", "AA==", "AA=", "A", "AAA", "A ", "+A", None, 5, b"AA", "Aé"])
def test_a_text_of_one_byte_that_is_not_how_it_is_written_is_refused(text: object) -> None:
    assert from_text("AA", 1) == b"\0"
    with pytest.raises(NotCanonicalError):
        from_text(text, 1)


@given(scalars)
def test_a_scalar_is_written_and_read(scalar: int) -> None:
    assert read_scalar(scalar_bytes(scalar)) == scalar


@given(st.integers(L, 2**256 - 1))
def test_a_scalar_that_is_not_reduced_is_refused(scalar: int) -> None:
    with pytest.raises(NotCanonicalError):
        read_scalar(scalar.to_bytes(32, "little"))


@given(st.binary(min_size=64, max_size=64))
def test_scalars_are_reduced_as_libsodium_does(data: bytes) -> None:
    assert scalar_bytes(int.from_bytes(data, "little") % L) == crypto_core_ed25519_scalar_reduce(data)


@settings(max_examples=30)
@given(st.binary(min_size=32, max_size=32))
def test_a_point_is_read_when_the_slow_curve_says_so(data: bytes) -> None:
    point = curve.decode(data)
    expected = point is not None and curve.encode(point) == data and curve.in_group(point)
    try:
        read_point(data)
    except NotCanonicalError:
        assert not expected
    else:
        assert expected


@pytest.mark.parametrize("data", [b"", bytes(31), bytes(33), (2**255 - 19).to_bytes(32, "little")])
def test_a_point_of_another_length_or_encoding_is_refused(data: bytes) -> None:
    with pytest.raises(NotCanonicalError):
        read_point(data)


@settings(max_examples=10)
@given(scalars, scalars)
def test_the_group_is_the_slow_curve(one: int, two: int) -> None:
    assert times_base(one) == curve.encode(curve.times(one, curve.BASE))
    point = times_base(7)
    assert times(two, point) == curve.encode(curve.times(two * 7, curve.BASE))
    sums = add(times_base(one), times_base(two)), subtract(times_base(one), times_base(two))
    assert sums == (times_base((one + two) % L), times_base((one - two) % L))


@pytest.mark.parametrize("other", [b"", bytes(31), B + b"\0", (2).to_bytes(32, "little")], ids=bytes.hex)
def test_operations_refuse_invalid_points(other: bytes) -> None:
    for work in (add, subtract):
        for pair in ((B, other), (other, B)):
            with pytest.raises(NotCanonicalError):
                work(*pair)
    for scalar in (0, 1, L - 1):
        with pytest.raises(NotCanonicalError):
            times(scalar, other)


@pytest.mark.parametrize("scalar", [-1, 2**256])
def test_operations_refuse_invalid_scalars(scalar: int) -> None:
    for work in (times_base, lambda given: times(given, B)):
        with pytest.raises(OverflowError):
            work(scalar)


def test_libsodium_reads_and_writes_as_many_bytes_as_are_there() -> None:
    assert lib.crypto_core_ed25519_bytes() == lib.crypto_scalarmult_ed25519_bytes() == BYTES
    assert lib.crypto_core_ed25519_scalarbytes() == lib.crypto_scalarmult_ed25519_scalarbytes() == BYTES


def test_the_generators_are_the_published_ones() -> None:
    assert curve.decode(B) == curve.BASE
    assert value_generator() == curve.encode(curve.H)
    assert value_generator().hex() == "b951dfda8a1b511771a55a02c4e98642070f7611d64355abc94421882a3fe900"
    for weight in (1, 2, 3, 2**63, 2**64 - 1):
        assert multiple_of_h(weight) == curve.encode(curve.times(weight, curve.H))


@given(st.lists(st.binary(max_size=5), max_size=5), st.lists(st.binary(max_size=5), max_size=5))
def test_two_lists_of_items_are_never_the_same_bytes(one: list[bytes], two: list[bytes]) -> None:
    assert (frames(one) == frames(two)) == (one == two)
    assert (Transcript(frames(one), two).context == Transcript(frames(two), one).context) == (one + two == two + one)


@given(whole | st.text(max_size=40))
def test_two_values_are_never_the_same_bytes_or_scalar(value: int | str) -> None:
    assert checked_value(value) == value
    other = str(value) if isinstance(value, int) else f"{value}x"
    assert value_bytes(value) != value_bytes(other)
    assert value_scalar(value) != value_scalar(other)


@pytest.mark.parametrize(
    "value", [True, None, 1.0, 2**64, -(2**63) - 1, "x" * 4097, "\ud800", b"x", [], {"node": "x"}], ids=repr
)
def test_other_values_are_refused_and_not_repeated(value: object) -> None:
    with pytest.raises(NotCanonicalError) as caught:
        Opening(value)
    assert "xxxx" not in str(caught.value)


def test_the_weights_of_a_range_add_up_to_its_numbers_and_no_other() -> None:
    for width in range(1, 130):
        weights = weights_of(width)
        sums = {0}
        for weight in weights:
            assert weight > 0
            sums |= {known + weight for known in sums}
        assert sums == set(range(width + 1))
        assert len(weights) == width.bit_length()
        for number in range(width + 1):
            bits = bits_of(number, weights)
            assert sum(bit * weight for bit, weight in zip(bits, weights, strict=True)) == number


@given(st.integers(1, 2**64 - 1).flatmap(lambda width: st.tuples(st.just(width), st.integers(0, width))))
def test_every_number_of_a_wide_range_has_bits(given: tuple[int, int]) -> None:
    width, number = given
    weights = weights_of(width)
    bits = bits_of(number, weights)
    assert set(bits) <= {0, 1}
    assert sum(bit * weight for bit, weight in zip(bits, weights, strict=True)) == number
    assert sum(weights) == width
    assert len(bits) == len(weights) <= 64


def test_a_commitment_is_written_and_read() -> None:
    opening = Opening("DE", 5)
    assert opening.commitment == commitment_text(opening.point)
    assert read_commitment(opening.commitment) == opening.point
    point = curve.add(curve.times(value_scalar("DE"), curve.H), curve.times(5, curve.BASE))
    assert opening.point == curve.encode(point)
    assert Opening(0, 5).point == times_base(5)
    assert Opening(-1, 5).point == curve.encode(curve.add(curve.negate(curve.H), curve.times(5, curve.BASE)))
    for text in (None, "", "pedersen:", opening.commitment + "A", opening.commitment.removeprefix("pedersen:")):
        with pytest.raises(NotCanonicalError):
            read_commitment(text)


def test_two_commitments_to_one_value_differ() -> None:
    assert Opening(1).commitment != Opening(1).commitment


@pytest.mark.parametrize("secret", [Opening(424242, 515151), KeySecret(616161), Nonces(b"", 717171)], ids=repr)
def test_a_secret_has_no_text_and_no_copy(secret: object) -> None:
    for shown in (repr(secret), str(secret), f"{secret}", repr([secret])):
        for number in ("424242", "515151", "616161", "717171"):
            assert number not in shown
    if not isinstance(secret, Nonces):
        for copying in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                copying(secret)


@given(st.binary(min_size=32, max_size=32))
def test_the_secret_of_a_seed_is_that_of_its_ed25519_key(seed: bytes) -> None:
    assert KeySecret.of(Key("it", seed)).public == crypto_sign_seed_keypair(seed)[0]


def test_nonces_depend_on_everything_and_repeat_nothing() -> None:
    def drawn(context: bytes = b"c", *witness: int, entropy: bytes = bytes(32)) -> list[int]:
        nonces = Nonces(context, *(witness or (1,)), entropy=entropy)
        return [nonces.next() for _ in range(3)]

    lists = [drawn(), drawn(b"d"), drawn(b"c", 2), drawn(b"c", 1, 1), drawn(entropy=b"\1" * 32)]
    assert len({scalar for drawn_ in lists for scalar in drawn_}) == 15
    assert drawn() == lists[0]
    assert all(0 <= scalar < L for drawn_ in lists for scalar in drawn_)
    assert Nonces(b"c", 1).next() != Nonces(b"c", 1).next()
    assert random_scalar() != random_scalar()


def test_a_statement_is_written_and_read() -> None:
    assert read_statement(STATEMENT.to_json()) == STATEMENT
    assert STATEMENT.end() == datetime(2030, 1, 31, 12, tzinfo=UTC)
    assert moment_text(STATEMENT.end()) == STATEMENT.expires
    assert not STATEMENT.has_expired(datetime(2030, 1, 31, 11, 59, 59, tzinfo=UTC))
    assert STATEMENT.has_expired(datetime(2030, 1, 31, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    "expires", ["", "never", "2030-01-31", "2030-01-31T12:00:00", "2030-01-31T12:00:00+00:00", "2030-13-31T12:00:00Z"]
)
def test_an_expiry_has_one_form(expires: str) -> None:
    with pytest.raises(NotCanonicalError, match="not a time"):
        ZkStatement("n", STATEMENT.triple, "s", "1.0.0", "", expires)


@pytest.mark.parametrize("nonce", ["x" * 257, "\ud800", None, 5])
def test_a_nonce_is_a_short_text(nonce: object) -> None:
    with pytest.raises(NotCanonicalError, match=r"nonce|not Unicode text"):
        ZkStatement("n", STATEMENT.triple, "s", "1.0.0", nonce, STATEMENT.expires)
