"""Which index is accepted after the ones that were seen."""

from dataclasses import replace
from datetime import timedelta

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index import FIRST_PAGE, accepted, check_key, read_first_page, signature_of
from tests.artifact_index.samples import DAY_MS, KEY, MADE_AT, NOW, OTHER_KEY, URL, entry, files

PAGE = read_first_page(files()[FIRST_PAGE])
SEEN = accepted(URL, PAGE, None, NOW)


def page(**changes):
    """A first page."""
    return read_first_page(files(**changes)[FIRST_PAGE])


def no_key(_):
    """A trust check that knows no key."""
    return False


def test_what_was_accepted_is_remembered():
    assert (SEEN.url, SEEN.publisher, SEEN.key, SEEN.snapshot) == (URL, "registry", KEY.did, 7)
    assert (SEEN.sha256, SEEN.expires_at_unix_ms) == (PAGE.signature.payload_sha256, MADE_AT + DAY_MS)


def test_the_same_snapshot_is_accepted_again():
    assert accepted(URL, PAGE, SEEN, NOW) == SEEN


def test_a_later_snapshot_is_accepted():
    assert accepted(URL, page(snapshot=9), SEEN, NOW).snapshot == 9


def test_an_earlier_snapshot_is_refused():
    with pytest.raises(CortexError, match="has snapshot 6, and snapshot 7 was seen before") as caught:
        accepted(URL, page(snapshot=6), SEEN, NOW)
    assert caught.value.code == "index_invalid"


def test_other_contents_with_the_same_number_are_refused():
    with pytest.raises(CortexError, match="other contents than the snapshot 7"):
        accepted(URL, page(entries=[entry(9)]), SEEN, NOW)


def test_an_index_that_has_expired_is_refused_also_when_it_was_seen():
    at_the_end = NOW + timedelta(days=1) - timedelta(seconds=60)
    with pytest.raises(CortexError, match=r"expired at 20\d\d-"):
        accepted(URL, PAGE, SEEN, at_the_end)
    assert accepted(URL, PAGE, SEEN, at_the_end - timedelta(milliseconds=1)) == SEEN


def test_an_index_from_the_future_is_refused():
    with pytest.raises(CortexError, match="in the future"):
        accepted(URL, PAGE, None, NOW - timedelta(days=2))


def test_a_key_that_is_not_trusted_is_refused_with_the_key_in_the_hint():
    with pytest.raises(CortexError, match="not trusted here") as caught:
        check_key(PAGE.signature, None, no_key)
    assert caught.value.code == "signature_invalid"
    assert f"--index-key {KEY.did}" in caught.value.hint


def test_the_key_of_an_index_that_was_seen_is_trusted_and_no_other():
    check_key(PAGE.signature, SEEN, no_key)
    other = signature_of(files(key=OTHER_KEY)[FIRST_PAGE])
    with pytest.raises(CortexError, match="is now signed by"):
        check_key(other, SEEN, no_key)
    with pytest.raises(CortexError, match="is now signed by"):
        check_key(PAGE.signature, replace(SEEN, publisher="other"), no_key)
    check_key(other, SEEN, lambda signature: signature.public_key == OTHER_KEY.public)


def test_a_new_key_that_is_trusted_starts_again_at_any_number():
    other = page(snapshot=1, key=OTHER_KEY)
    assert accepted(URL, other, SEEN, NOW).snapshot == 1
