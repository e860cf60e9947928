"""Charsets of the web."""

from __future__ import annotations

import codecs
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.safe_io.charsets import _CODECS, UnknownCharset, charset_of, decoded

MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@given(data=st.binary(), label=st.text() | st.sampled_from(sorted(_CODECS)))
def test_any_bytes_with_any_label_are_a_text_or_refused(data: bytes, label: str) -> None:
    if (label.strip().lower() or "utf-8") in _CODECS or data.startswith(MARKS):
        with suppress(UnicodeDecodeError):
            assert isinstance(decoded(data, label), str)
    else:
        with pytest.raises(UnknownCharset) as caught:
            decoded(data, label)
        assert str(caught.value) == label


@given(st.text())
def test_any_header_has_a_label_or_none(header: str) -> None:
    label = charset_of(header)
    assert len(label) <= 100
    assert label in header


@pytest.mark.parametrize("codec", sorted(set(_CODECS.values())))
def test_a_codec_of_the_table_decodes_ascii_and_is_no_codec_of_bytes(codec: str) -> None:
    text = "a text\r\n"
    assert codecs.lookup(codec)._is_text_encoding  # type: ignore[attr-defined]
    assert text.encode(codec).decode(codec) == text


@pytest.mark.parametrize(
    ("header", "label"),
    [
        ("text/html", ""),
        ("text/html; charset=utf-8", "utf-8"),
        ('text/html;charset="Shift_JIS"; a=b', "Shift_JIS"),
        ("text/html; notcharset=x", ""),
        ("text/html; charset=", ""),
        ("text/html; charset=a b", "a"),
        ("text/html" + " " * 1000 + "; charset=utf-16", ""),
    ],
)
def test_the_label_of_a_header(header: str, label: str) -> None:
    assert charset_of(header) == label
