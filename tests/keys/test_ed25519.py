"""Signing and verifying: the vectors of RFC 8032, and everything that a strict verifier refuses."""

from __future__ import annotations

import copy
import hashlib
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.bindings import (
    crypto_core_ed25519_add,
    crypto_core_ed25519_scalar_add,
    crypto_core_ed25519_scalar_mul,
    crypto_core_ed25519_scalar_reduce,
    crypto_scalarmult_ed25519_base_noclamp,
)

from cortex_skills.keys import Key, is_public, verify
from tests.docs.conformance_page import cases_in, counts_of

ORDER = 2**252 + 27742317777372353535851937790883648493

# RFC 8032, §7.1: secret key, public key, message, signature.
VECTORS = {
    "TEST 1": (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
        "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    "TEST 2": (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    "TEST 3": (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    "TEST 1024": (
        "f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5",
        "278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e",
        "08b8b2b733424243760fe426a4b54908632110a66c2f6591eabd3345e3e4eb98"
        "fa6e264bf09efe12ee50f8f54e9f77b1e355f6c50544e23fb1433ddf73be84d8"
        "79de7c0046dc4996d9e773f4bc9efe5738829adb26c81b37c93a1b270b20329d"
        "658675fc6ea534e0810a4432826bf58c941efb65d57a338bbd2e26640f89ffbc"
        "1a858efcb8550ee3a5e1998bd177e93a7363c344fe6b199ee5d02e82d522c4fe"
        "ba15452f80288a821a579116ec6dad2b3b310da903401aa62100ab5d1a36553e"
        "06203b33890cc9b832f79ef80560ccb9a39ce767967ed628c6ad573cb116dbef"
        "efd75499da96bd68a8a97b928a8bbc103b6621fcde2beca1231d206be6cd9ec7"
        "aff6f6c94fcd7204ed3455c68c83f4a41da4af2b74ef5c53f1d8ac70bdcb7ed1"
        "85ce81bd84359d44254d95629e9855a94a7c1958d1f8ada5d0532ed8a5aa3fb2"
        "d17ba70eb6248e594e1a2297acbbb39d502f1a8c6eb6f1ce22b3de1a1f40cc24"
        "554119a831a9aad6079cad88425de6bde1a9187ebb6092cf67bf2b13fd65f270"
        "88d78b7e883c8759d2c4f5c65adb7553878ad575f9fad878e80a0c9ba63bcbcc"
        "2732e69485bbc9c90bfbd62481d9089beccf80cfe2df16a2cf65bd92dd597b07"
        "07e0917af48bbb75fed413d238f5555a7a569d80c3414a8d0859dc65a46128ba"
        "b27af87a71314f318c782b23ebfe808b82b0ce26401d2e22f04d83d1255dc51a"
        "ddd3b75a2b1ae0784504df543af8969be3ea7082ff7fc9888c144da2af58429e"
        "c96031dbcad3dad9af0dcbaaaf268cb8fcffead94f3c7ca495e056a9b47acdb7"
        "51fb73e666c6c655ade8297297d07ad1ba5e43f1bca32301651339e22904cc8c"
        "42f58c30c04aafdb038dda0847dd988dcda6f3bfd15c4b4c4525004aa06eeff8"
        "ca61783aacec57fb3d1f92b0fe2fd1a85f6724517b65e614ad6808d6f6ee34df"
        "f7310fdc82aebfd904b01e1dc54b2927094b2db68d6f903b68401adebf5a7e08"
        "d78ff4ef5d63653a65040cf9bfd4aca7984a74d37145986780fc0b16ac451649"
        "de6188a7dbdf191f64b5fc5e2ab47b57f7f7276cd419c17a3ca8e1b939ae49e4"
        "88acba6b965610b5480109c8b17b80e1b7b750dfc7598d5d5011fd2dcc5600a3"
        "2ef5b52a1ecc820e308aa342721aac0943bf6686b64b2579376504ccc493d97e"
        "6aed3fb0f9cd71a43dd497f01f17c0e2cb3797aa2a2f256656168e6c496afc5f"
        "b93246f6b1116398a346f1a641f3b041e989f7914f90cc2c7fff357876e506b5"
        "0d334ba77c225bc307ba537152f3f1610e4eafe595f6d9d90d11faa933a15ef1"
        "369546868a7f3a45a96768d40fd9d03412c091c6315cf4fde7cb68606937380d"
        "b2eaaa707b4c4185c32eddcdd306705e4dc1ffc872eeee475a64dfac86aba41c"
        "0618983f8741c5ef68d3a101e8a3b8cac60c905c15fc910840b94c00a0b9d0",
        "0aab4c900501b3e24d7cdf4663326a3a87df5e4843b2cbdb67cbf6e460fec350"
        "aa5371b1508f9f4528ecea23c436d94b5e8fcd4f681e30a6ac00a9704a188a03",
    ),
    "TEST SHA(abc)": (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").hexdigest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
        "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
}

# The encodings of the points of small order, and of the same points written non-canonically.
SMALL_ORDER = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]


@pytest.fixture
def key() -> Key:
    return Key("test", bytes(range(32)))


@pytest.mark.parametrize("name", VECTORS)
def test_the_vectors_of_rfc_8032_hold(name: str) -> None:
    secret, public, message, signature = map(bytes.fromhex, VECTORS[name])
    key = Key("test", secret)
    assert key.public == public
    assert key.sign(message) == signature
    assert verify(public, message, signature)


@given(message=st.binary(max_size=200))
def test_what_a_key_signs_is_verified_by_its_public_part_alone(message: bytes) -> None:
    key, other = Key("one", bytes(range(32))), Key("two", bytes(range(1, 33)))
    signature = key.sign(message)
    assert verify(key.public, message, signature)
    assert not verify(other.public, message, signature)
    assert not verify(key.public, message + b"\0", signature)


def test_every_changed_byte_of_a_signature_is_refused(key: Key) -> None:
    signature = key.sign(b"message")
    for place in range(64):
        for mask in (1, 0x80):
            changed = bytearray(signature)
            changed[place] ^= mask
            assert not verify(key.public, b"message", bytes(changed)), place


def test_a_scalar_that_is_not_reduced_is_refused(key: Key) -> None:
    signature = key.sign(b"message")
    scalar = int.from_bytes(signature[32:], "little")
    for times in range(1, 16):
        raised = scalar + times * ORDER
        if raised < 2**256:
            assert not verify(key.public, b"message", signature[:32] + raised.to_bytes(32, "little"))


@pytest.mark.parametrize("length", [0, 1, 31, 32, 63, 65, 96, 128])
def test_a_signature_of_another_length_is_refused(key: Key, length: int) -> None:
    signature = (key.sign(b"message") * 2)[:length]
    assert not verify(key.public, b"message", signature)


@pytest.mark.parametrize("length", [0, 1, 31, 33, 64])
def test_a_public_key_of_another_length_is_refused(key: Key, length: int) -> None:
    public = (key.public * 2)[:length]
    assert not is_public(public)
    assert not verify(public, b"message", key.sign(b"message"))


def test_the_end_of_a_signature_cannot_pass_as_the_start_of_the_message(key: Key) -> None:
    signed = key.sign(b"message") + b"message"
    assert not verify(key.public, signed[65:], signed[:65])
    assert not verify(key.public, signed[63:], signed[:63])


@pytest.mark.parametrize("point", SMALL_ORDER)
def test_a_public_key_of_small_order_is_refused(point: str) -> None:
    """With such a key, one signature would hold for any message: (R = s·B, s) for every s."""
    public = bytes.fromhex(point)
    scalar = crypto_core_ed25519_scalar_reduce(bytes([7]) + bytes(63))
    signature = crypto_scalarmult_ed25519_base_noclamp(scalar) + scalar
    assert not is_public(public)
    assert not any(verify(public, bytes([n]), signature) for n in range(16))


@pytest.mark.parametrize("point", SMALL_ORDER)
def test_a_signature_with_a_first_point_of_small_order_is_refused(key: Key, point: str) -> None:
    """The holder of the key can make s = k·a for R = the identity, which satisfies the equation."""
    first = bytes.fromhex(point)
    expanded = bytearray(hashlib.sha512(bytes(range(32))).digest()[:32])
    expanded[0] &= 248
    expanded[31] = expanded[31] & 127 | 64
    secret = crypto_core_ed25519_scalar_reduce(bytes(expanded) + bytes(32))
    challenge = crypto_core_ed25519_scalar_reduce(hashlib.sha512(first + key.public + b"message").digest())
    assert not verify(key.public, b"message", first + crypto_core_ed25519_scalar_mul(challenge, secret))


def test_the_equation_that_those_forgeries_satisfy_is_the_one_that_is_checked(key: Key) -> None:
    """The same construction with an honest first point holds: the refusals above are for the points alone."""
    expanded = bytearray(hashlib.sha512(bytes(range(32))).digest()[:32])
    expanded[0] &= 248
    expanded[31] = expanded[31] & 127 | 64
    secret = crypto_core_ed25519_scalar_reduce(bytes(expanded) + bytes(32))
    nonce = crypto_core_ed25519_scalar_reduce(bytes([7]) + bytes(63))
    first = crypto_scalarmult_ed25519_base_noclamp(nonce)
    challenge = crypto_core_ed25519_scalar_reduce(hashlib.sha512(first + key.public + b"message").digest())
    last = crypto_core_ed25519_scalar_add(nonce, crypto_core_ed25519_scalar_mul(challenge, secret))
    assert verify(key.public, b"message", first + last)


def test_a_public_key_outside_the_prime_order_group_is_refused(key: Key) -> None:
    """An honest key plus a point of order 8: whether a signature holds for it would depend on who verifies."""
    mixed = crypto_core_ed25519_add(key.public, bytes.fromhex(SMALL_ORDER[4]))
    assert not is_public(mixed)
    assert not verify(mixed, b"message", key.sign(b"message"))


@given(public=st.binary(max_size=40), message=st.binary(max_size=40), signature=st.binary(max_size=80))
def test_random_bytes_are_refused_without_a_failure(public: bytes, message: bytes, signature: bytes) -> None:
    assert not verify(public, message, signature)


def test_a_key_shows_its_secret_nowhere(key: Key) -> None:
    seed = bytes(range(32))
    for text in (repr(key), str(key), f"{key}"):
        assert seed.hex() not in text
        assert repr(seed) not in text
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            copied(key)


@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_a_seed_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Key("test", bytes(length))


def test_the_page_of_conformance_counts_the_vectors() -> None:
    assert counts_of("RFC 8032") == (cases_in(globals(), "test_the_vectors_of_rfc_8032"), 0)
