"""Decodes a text from the web by the charset that it names.

Rules kept here:
- a charset is one of a table, by labels of the Encoding Standard of the WHATWG, each with a codec whose time grows in
  proportion to the text. No codec of Python is looked up by a name from outside: `punycode` takes the square of it;
- a byte order mark wins over the label (section 6.1, "decode"); without either a text is UTF-8;
- what the charset does not have is an error.
"""

from __future__ import annotations

import codecs
import re

_LABELS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8",
    "utf-16-le": "utf-16 utf-16le unicode ucs-2",
    "utf-16-be": "utf-16be unicodefffe",
    "cp1252": "windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso_8859-1 latin1 l1 us-ascii ascii",
    "cp1250": "windows-1250 cp1250 x-cp1250",
    "cp1251": "windows-1251 cp1251 x-cp1251",
    "cp1253": "windows-1253 cp1253 x-cp1253",
    "cp1254": "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 latin5 l5",
    "cp1255": "windows-1255 cp1255 x-cp1255",
    "cp1256": "windows-1256 cp1256 x-cp1256",
    "cp1257": "windows-1257 cp1257 x-cp1257",
    "cp1258": "windows-1258 cp1258 x-cp1258",
    "cp874": "windows-874 dos-874 tis-620 iso-8859-11 iso8859-11",
    "cp866": "ibm866 cp866 866 csibm866",
    "iso8859-2": "iso-8859-2 iso8859-2 latin2 l2",
    "iso8859-3": "iso-8859-3 iso8859-3 latin3 l3",
    "iso8859-4": "iso-8859-4 iso8859-4 latin4 l4",
    "iso8859-5": "iso-8859-5 iso8859-5 cyrillic",
    "iso8859-6": "iso-8859-6 iso8859-6 arabic",
    "iso8859-7": "iso-8859-7 iso8859-7 greek",
    "iso8859-8": "iso-8859-8 iso8859-8 hebrew iso-8859-8-i logical",
    "iso8859-10": "iso-8859-10 iso8859-10 latin6 l6",
    "iso8859-13": "iso-8859-13 iso8859-13",
    "iso8859-14": "iso-8859-14 iso8859-14",
    "iso8859-15": "iso-8859-15 iso8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8-r koi koi8 koi8_r",
    "koi8-u": "koi8-u koi8-ru",
    "mac-roman": "macintosh mac x-mac-roman",
    "gb18030": "gb18030 gbk gb2312 gb_2312-80 x-gbk chinese",
    "big5hkscs": "big5 big5-hkscs cn-big5 x-x-big5",
    "euc-jp": "euc-jp x-euc-jp",
    "cp932": "shift_jis shift-jis sjis x-sjis ms_kanji windows-31j",
    "cp949": "euc-kr windows-949 ks_c_5601-1987 ksc5601 korean",
}
_CODECS = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_CHARSET = re.compile(r""";\s*charset\s*=\s*("[^"]{0,100}"|[^\s;"]{0,100})""", re.ASCII | re.IGNORECASE)
_MAX_HEADER = 1000


class UnknownCharset(Exception):
    """A charset that no text is decoded by; the text is its label."""


def charset_of(content_type: str) -> str:
    """The label in a header `Content-Type`; empty without one.

    >>> charset_of('text/html; a=b; Charset="UTF-8"')
    'UTF-8'
    """
    found = _CHARSET.search(content_type[:_MAX_HEADER])
    return found[1].strip('"') if found else ""


def decoded(data: bytes, label: str = "") -> str:
    """A text.

    Args:
        data: the text in its charset.
        label: of the charset; UTF-8 when empty.

    Raises:
        UnknownCharset: it is none of the table.
        UnicodeDecodeError: the text is not in that charset.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(codec)
    name = _CODECS.get(label.strip().lower() or "utf-8")
    if name is None:
        raise UnknownCharset(label)
    return data.decode(name)
