"""Addresses that others name: which are reached, and that every feature asks the same guard."""

import re
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cortex_skills
from cortex_skills.safe_io.outbound import MAX_URL, OutboundError, web_address

PLUGIN = Path(cortex_skills.__file__).parent


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("http://example.org/", "is not https"),
        ("file:///etc/passwd", "is not https"),
        ("https:///x", "has no host"),
        ("https://a b/", "is not a web address"),
        ("https://a\\b/", "is not a web address"),
        ("https://xn--/", "is not a web address"),
        ("https://example.org/" + "a" * MAX_URL, "is not a web address"),
        (7, "is not a web address"),
    ],
)
def test_what_is_no_address_that_may_be_reached_is_refused(text: object, says: str) -> None:
    with pytest.raises(OutboundError) as caught:
        web_address(text)
    assert says in caught.value.message


@pytest.mark.parametrize("scheme", ["https", "http", "ftp"])
def test_no_message_repeats_the_credentials_of_an_address(scheme: str) -> None:
    for is_allowed in (True, False):
        with pytest.raises(OutboundError, match="has credentials") as caught:
            web_address(f"{scheme}://ada:hunter2@example.org/", allow_http=is_allowed)
        assert "hunter2" not in f"{caught.value.message} {caught.value.hint}"


ADDRESSES = st.text(max_size=80) | st.from_regex(r"https?://[^/]{0,20}(:[0-9]{0,6})?/.{0,20}", fullmatch=True)


@settings(max_examples=300, deadline=None)
@given(ADDRESSES, st.booleans())
def test_any_text_is_an_address_with_a_host_or_refused(text: str, allow_http: bool) -> None:
    try:
        address = web_address(text, allow_http=allow_http)
    except OutboundError:
        return
    assert isinstance(address, httpx.URL)
    assert address.host
    assert not address.userinfo
    assert address.scheme == "https" or (allow_http and address.scheme == "http")


def test_only_the_guard_makes_a_client_for_addresses_that_others_name() -> None:
    made = {
        str(file.relative_to(PLUGIN))
        for file in PLUGIN.rglob("*.py")
        if re.search(
            r"httpx\.(Async)?Client\(|DeadlineTransport\(|httpx\.(get|post|stream|request)\(", file.read_text()
        )
    }
    assert made == {"safe_io/outbound.py"}
