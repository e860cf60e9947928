"""Which key of an index is trusted that was not seen before."""

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index import read_first_page
from cortex_skills.features.artifacts.index.snapshot_check import key_trust
from cortex_skills.signatures import Publisher, Trust
from cortex_skills.signatures.trust import RevokedKey
from tests.artifact_index.samples import KEY, OTHER_KEY, files

SIGNATURE = read_first_page(files()["index.json"]).signature
LISTED = Publisher("registry", KEY.did, "listed", "2026-01-01T00:00:00Z")


def test_an_unknown_key_is_not_trusted():
    assert key_trust(Trust())(SIGNATURE) is False


def test_with_a_given_key_no_other_is_trusted():
    for trust in (Trust(), Trust({"registry": LISTED})):
        with pytest.raises(CortexError, match="not with the key that was given"):
            key_trust(trust, OTHER_KEY.did)(SIGNATURE)


def test_a_key_that_is_given_or_listed_is_trusted():
    assert key_trust(Trust(), KEY.did)(SIGNATURE) is True
    assert key_trust(Trust(), KEY.public.hex())(SIGNATURE) is True
    assert key_trust(Trust({"registry": LISTED}))(SIGNATURE) is True


def test_a_listed_publisher_signs_with_its_key_only():
    other = Publisher("registry", OTHER_KEY.did, "listed", "2026-01-01T00:00:00Z")
    with pytest.raises(CortexError, match="another key than the trusted one"):
        key_trust(Trust({"registry": other}))(SIGNATURE)
    assert key_trust(Trust({"registry": other}), KEY.did)(SIGNATURE) is True


def test_a_revoked_key_is_refused_also_if_it_is_given():
    revoked = RevokedKey(KEY.did, "stolen", "2026-01-01T00:00:00Z")
    with pytest.raises(CortexError) as caught:
        key_trust(Trust(revoked={KEY.did: revoked}), KEY.did)(SIGNATURE)
    assert caught.value.code == "signature_invalid"


def test_what_is_no_key_is_refused():
    with pytest.raises(CortexError, match="is not a key"):
        key_trust(Trust(), "abc")
