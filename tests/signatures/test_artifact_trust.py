"""The trust store and artifacts: who may sign, on first use, revoked keys, older versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_trust import artifact_trust, read_trusted, remember
from cortex_skills.features.artifacts.package import HOST_VERSIONS, VerificationReport, verify_artifact, write_archive
from cortex_skills.keys import Key
from cortex_skills.signatures import Publisher, RevokedKey, TrustFile
from cortex_skills.signatures.named_keys import read_key
from tests.artifacts.samples import KEY, MANIFEST, OTHER_KEY, payload, signed

NOW = datetime(2026, 11, 24, tzinfo=UTC)
LISTED = Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")


def artifact(version: str = "1.2.0", key: Key = KEY, content: Mapping[str, bytes] | None = None) -> bytes:
    return write_archive(signed(payload(MANIFEST.replace("1.2.0", version), content), key=key))


def report(trust: TrustFile, data: bytes, **given: Any) -> VerificationReport:
    return verify_artifact(data, HOST_VERSIONS, artifact_trust(trust, now=NOW, **given))


def refusal(trust: TrustFile, data: bytes, **given: Any) -> str:
    found = report(trust, data, **given)
    assert [step.id for step in found.steps if step.status == "failed"] == ["trust"]
    assert found.error is not None
    assert found.error.code == "signature_invalid"
    return found.error.message


def install(trust: TrustFile, data: bytes, **given: Any) -> str:
    found = report(trust, data, **given)
    assert found.is_valid, found.to_json()
    decision = remember(trust, found, now=NOW, **given)
    assert decision == found.steps[-1].message
    return decision


@pytest.fixture
def known(trust: TrustFile) -> TrustFile:
    """A trust store that lists acme."""
    trust.change(lambda state: state.with_publisher(LISTED))
    return trust


def test_an_unknown_publisher_is_refused_and_nothing_is_stored(trust: TrustFile) -> None:
    assert "signed by acme, whom you do not trust" in refusal(trust, artifact())
    assert not trust.path.exists()


def test_a_listed_publisher_is_accepted_with_its_key_only(known: TrustFile) -> None:
    assert report(known, artifact()).steps[-1].message == "allowlisted"
    assert "another key than the trusted one" in refusal(known, artifact(key=OTHER_KEY))
    for more in ({"first_use": True}, {"allow_untrusted": True}, {"trusted": [read_trusted(_pair(OTHER_KEY), NOW)]}):
        assert "another key than the trusted one" in refusal(known, artifact(key=OTHER_KEY), **more)


def test_a_publisher_is_pinned_on_first_use_and_a_check_alone_pins_nothing(trust: TrustFile) -> None:
    assert report(trust, artifact(), first_use=True).is_valid
    assert report(trust, artifact(key=OTHER_KEY), first_use=True).is_valid
    assert not trust.trust().publishers
    assert install(trust, artifact(), first_use=True) == "tofu_newly_pinned"
    assert report(trust, artifact()).steps[-1].message == "tofu_pinned"
    assert "another key" in refusal(trust, artifact(key=OTHER_KEY), first_use=True)


def test_of_two_that_were_checked_at_once_only_the_first_is_pinned(trust: TrustFile) -> None:
    first, second = (report(trust, artifact(key=key), first_use=True) for key in (KEY, OTHER_KEY))
    remember(trust, first, first_use=True, now=NOW)
    with pytest.raises(CortexError, match="another key"):
        remember(trust, second, first_use=True, now=NOW)
    assert trust.trust().publishers["acme"].key == KEY.did


def test_a_publisher_may_be_named_for_one_check(trust: TrustFile) -> None:
    named = [read_trusted(_pair(KEY), NOW), read_trusted(f"other={OTHER_KEY.did}", NOW)]
    assert report(trust, artifact(), trusted=named).steps[-1].message == "allowlisted"
    assert not trust.path.exists()
    assert install(trust, artifact(), trusted=named) == "allowlisted"
    assert list(trust.trust().publishers) == ["acme"]


def test_an_untrusted_publisher_leaves_no_trace(trust: TrustFile) -> None:
    assert install(trust, artifact(), allow_untrusted=True) == "untrusted"
    assert not trust.path.exists()


def test_a_revoked_key_verifies_nothing(known: TrustFile) -> None:
    data = artifact()
    install(known, data)
    known.change(lambda state: state.with_revoked(RevokedKey(KEY.did, "laptop stolen", "2026-11-20T00:00:00Z")))
    assert refusal(known, data) == "the key of acme was revoked here on 2026-11-20T00:00:00Z: laptop stolen"
    refusal(known, data, allow_untrusted=True, allow_downgrade=True)
    known.change(lambda state: state.without_publisher("acme"))
    refusal(known, data, first_use=True)
    with pytest.raises(CortexError, match="was revoked"):
        artifact_trust(known, trusted=[LISTED], now=NOW)(*_signed(data))


def test_an_older_version_is_refused(known: TrustFile) -> None:
    install(known, artifact("1.2.0-rc.1"))
    install(known, artifact("1.2.0"))
    for older in ("1.1.9", "1.2.0-rc.2", "0.9.0"):
        assert f"{older} is older than 1.2.0" in refusal(known, artifact(older))
    assert install(known, artifact("1.1.9"), allow_downgrade=True) == "allowlisted"
    assert known.trust().seen["acme.echo_http"].version == "1.2.0"
    assert install(known, artifact("1.10.0")) == "allowlisted"
    assert known.trust().seen["acme.echo_http"].version == "1.10.0"


def test_other_contents_of_a_seen_version_are_refused(known: TrustFile) -> None:
    install(known, artifact())
    install(known, artifact())
    other = artifact(content={"modules/echo.wasm": b"\0asm\1\0\0\0"})
    assert refusal(known, other) == "acme.echo_http 1.2.0 was seen here with other contents"
    assert install(known, other, allow_downgrade=True) == "allowlisted"
    assert "other contents" in refusal(known, artifact())


def test_an_invalid_artifact_is_not_remembered(known: TrustFile) -> None:
    with pytest.raises(CortexError, match="not valid"):
        remember(known, report(known, artifact(key=OTHER_KEY)), now=NOW)
    assert not known.trust().seen


@pytest.mark.parametrize(
    "text", ["", "acme", "acme=", "acme=00", "=" + "8a" * 32, "Acme=" + "8a" * 32, "a=" + "0" * 64]
)
def test_a_publisher_that_is_named_wrongly_is_refused(text: str) -> None:
    with pytest.raises(CortexError) as caught:
        read_trusted(text, NOW)
    assert caught.value.code == "invalid_arguments"


def test_a_key_is_named_in_three_ways() -> None:
    forms = [KEY.did, KEY.public.hex(), KEY.public.hex().upper(), "ed25519:34750f98bd59fcfc"]
    assert {read_key(form, [OTHER_KEY.did, KEY.did]) for form in forms} == {KEY.did}
    with pytest.raises(CortexError, match="no key that is known"):
        read_key("ed25519:34750f98bd59fcfc", [OTHER_KEY.did])


def _pair(key: Key) -> str:
    return f"acme={key.public.hex()}"


def _signed(data: bytes) -> Any:
    found: Callable[..., Any] = verify_artifact
    verified = found(data, HOST_VERSIONS, lambda signature, manifest: "")
    return verified.signature, verified.manifest
