"""Values of secrets are found in every form in which they leave the process."""

import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.secrets import HiddenValues
from cortex_skills.secrets.hidden_values import MASK

SECRET = 'p/s+w"ö r>d?&\\'


@pytest.fixture
def hidden():
    values = HiddenValues()
    values.add(SECRET)
    return values


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote(SECRET, safe="").lower(),
        quote_plus(SECRET),
    ],
)
def test_a_form_of_a_secret_is_replaced(hidden, form):
    assert hidden.text(f"before {form} after") == f"before {MASK} after"


@given(st.binary(max_size=7), st.binary(max_size=7))
def test_a_secret_inside_a_base64_text_is_replaced(before, after):
    hidden = HiddenValues()
    hidden.add(SECRET)
    for encode in (b64encode, urlsafe_b64encode):
        shown = hidden.text(encode(before + SECRET.encode() + after).decode())
        assert MASK in shown
        assert len(shown) <= len(MASK) + 4 * ((len(before) + len(after)) // 3 + 3)


def test_keys_and_values_at_every_depth_are_cleaned(hidden):
    given = {"a": [{"b": f"x{SECRET}"}, 1, None, True], SECRET: 2.5}
    assert hidden.cleaned(given) == {"a": [{"b": f"x{MASK}"}, 1, None, True], MASK: 2.5}


def test_a_short_secret_is_replaced_as_a_whole_word_only():
    hidden = HiddenValues()
    hidden.add("cat")
    assert hidden.text("cat concatenate (cat)") == f"{MASK} concatenate ({MASK})"


def test_the_longer_of_two_secrets_is_replaced_whole():
    hidden = HiddenValues()
    hidden.add("password-one")
    hidden.add("password-one-two")
    assert hidden.text("password-one-two password-one") == f"{MASK} {MASK}"


def test_the_lines_of_a_key_are_replaced():
    hidden = HiddenValues()
    hidden.add("-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG\n-----END KEY-----\n")
    assert hidden.text("it has the line MIIBVgIBADANBgkqhkiG") == f"it has the line {MASK}"


def test_nothing_is_hidden_without_a_secret():
    hidden = HiddenValues()
    hidden.add("")
    assert not hidden
    assert hidden.cleaned({"a": "b"}) == {"a": "b"}


def test_the_texts_of_a_value_that_is_json_are_replaced():
    hidden = HiddenValues()
    hidden.add('{"key": "abcdefgh-1234", "nested": ["ijklmnop-5678"], "type": "x"}')
    assert hidden.text("abcdefgh-1234 ijklmnop-5678 x") == f"{MASK} {MASK} x"
