"""Terms of every kind, each with a name."""

from __future__ import annotations

from pyoxigraph import BaseDirection, Literal, NamedNode

_XSD = "http://www.w3.org/2001/XMLSchema#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def typed(text: str, kind: str) -> Literal:
    """A literal of XML Schema."""
    return Literal(text, datatype=NamedNode(_XSD + kind))


STRINGS = {
    "empty": "",
    "controls": "".join(map(chr, range(0x20))) + "\x7f\x80\x9f\x85",
    "quotes": "\"\"\"''' \\ \\n %20 {}",
    "separators": "\u2028\u2029\u00a0\u3000",
    "directions": "\u202e\u200f\u061c\ufeff\u200d",
    "nothing-characters": "\ufffe\uffff\U0001fffe\U0010ffff",
    "private-use": "\ue000\U000f0000",
    "beyond-the-plane": "𝒳👩‍🚀\U000e0041",
    "combining": "e\u0301 é ﬁ",
    "scripts": "日本語 العربية ไทย हिन्दी",
    "every-class": 'aA1_-+()«»"“”$^`©ʰǅªⅷ½ \u0600',
    "sparql": '" } } ; DROP ALL ; INSERT DATA { GRAPH <urn:x> { <a> <b> "',
}

TERMS: dict[str, Literal | NamedNode] = {
    **{f"string-{name}": Literal(text) for name, text in STRINGS.items()},
    "string-of-1MB": Literal("x" * 1_000_000),
    "string-of-100kB-accents": Literal("é" * 50_000),
    "integer-zero": typed("0", "integer"),
    "integer-spelt": typed("+007", "integer"),
    "integer-most": typed(str(2**63 - 1), "integer"),
    "integer-nearly-most": typed(str(2**63 - 2), "integer"),
    "integer-of-18-digits": typed("9" * 18, "integer"),
    "integer-of-19-digits": typed(str(-(10**18)), "integer"),
    "integer-least": typed(str(-(2**63)), "integer"),
    "integer-past-64-bits": typed(str(2**63), "integer"),
    "integer-huge": typed("9" * 60, "integer"),
    "integer-no-number": typed("abc", "integer"),
    **{
        f"{kind}-{end}": typed(str(number), kind)
        for kind, ends in {
            "long": (-(2**62), 2**62),
            "int": (-(2**31), 2**31 - 1),
            "short": (-(2**15), 2**15 - 1),
            "byte": (-128, 127),
            "unsignedInt": (0, 2**32 - 1),
            "unsignedShort": (0, 2**16 - 1),
            "unsignedByte": (0, 255),
            "nonNegativeInteger": (0, 2**40),
            "positiveInteger": (1, 2**40),
            "nonPositiveInteger": (-(2**40), 0),
            "negativeInteger": (-(2**40), -1),
        }.items()
        for end, number in zip(("first", "last"), ends, strict=True)
    },
    "unsignedLong-most": typed(str(2**64 - 1), "unsignedLong"),
    "decimal": typed("-12.500", "decimal"),
    "decimal-small": typed("0.000000000000001", "decimal"),
    "decimal-long": typed("0.123456789012345678", "decimal"),
    "decimal-huge": typed("9" * 41 + ".5", "decimal"),
    "decimal-of-39-digits": typed("9" * 29 + "." + "9" * 10, "decimal"),
    "decimal-of-54-digits": typed("9" * 39 + "." + "9" * 15, "decimal"),
    "double-exact": typed("0.30000000000000004", "double"),
    "double-pi": typed("3.141592653589793", "double"),
    "double-most": typed("1.7976931348623157E308", "double"),
    "double-least": typed("5E-324", "double"),
    "double-negative-zero": typed("-0.0", "double"),
    "double-nan": typed("NaN", "double"),
    "double-infinite": typed("INF", "double"),
    "double-minus-infinite": typed("-INF", "double"),
    "double-no-number": typed("abc", "double"),
    "float": typed("0.1", "float"),
    "float-most": typed("3.4028235E38", "float"),
    "float-least": typed("1E-45", "float"),
    "float-nan": typed("NaN", "float"),
    "float-infinite": typed("-INF", "float"),
    "boolean-true": typed("true", "boolean"),
    "boolean-spelt": typed("0", "boolean"),
    "boolean-no-boolean": typed("maybe", "boolean"),
    "dateTime": typed("2024-02-29T23:59:59.5Z", "dateTime"),
    "dateTime-no-zone": typed("2024-02-29T23:59:59", "dateTime"),
    "dateTime-zone": typed("2024-02-29T23:59:59.123456+05:30", "dateTime"),
    "dateTime-far-zone": typed("2024-02-29T00:00:00-14:00", "dateTime"),
    "dateTime-fine": typed("2024-02-29T23:59:59.123456789Z", "dateTime"),
    "dateTime-first": typed("0001-01-01T00:00:00Z", "dateTime"),
    "dateTime-before-christ": typed("-0044-03-15T12:00:00Z", "dateTime"),
    "dateTime-far": typed("12024-01-01T00:00:00Z", "dateTime"),
    "dateTime-no-date": typed("yesterday", "dateTime"),
    "date": typed("2024-02-29", "date"),
    "date-zone": typed("2024-02-29+14:00", "date"),
    "date-before-christ": typed("-0044-03-15", "date"),
    "time": typed("23:59:59.5", "time"),
    "time-zone": typed("23:59:59-05:00", "time"),
    "duration": typed("P1Y2M3DT4H5M6.7S", "duration"),
    "dayTimeDuration": typed("P1DT2H", "dayTimeDuration"),
    "yearMonthDuration": typed("P1Y2M", "yearMonthDuration"),
    "gYear": typed("2024", "gYear"),
    "gYearMonth": typed("2024-02", "gYearMonth"),
    "gMonthDay": typed("--02-29", "gMonthDay"),
    "gMonth": typed("--02", "gMonth"),
    "gDay": typed("---29", "gDay"),
    "anyURI": typed("https://example.org/a b", "anyURI"),
    "base64Binary": typed("aGVsbG8=", "base64Binary"),
    "hexBinary": typed("0FB7", "hexBinary"),
    "token": typed("a b", "token"),
    "language": Literal("colour", language="en-gb"),
    "language-long": Literal("x", language="de-latn-de-1996-x-private"),
    "direction-ltr": Literal("abc", language="ar", direction=BaseDirection.LTR),
    "direction-rtl": Literal("abc", language="ar", direction=BaseDirection.RTL),
    "own-type": Literal("(1, 2)", datatype=NamedNode("https://example.org/point")),
    "own-type-tag": Literal("", datatype=NamedNode("tag:example.org,2024:empty")),
    "json": Literal('{"a": [1]}', datatype=NamedNode(f"{_RDF}JSON")),
    "xmlLiteral": Literal("<b/>", datatype=NamedNode(f"{_RDF}XMLLiteral")),
    "iri-urn": NamedNode("urn:example:a"),
    "iri-escaped": NamedNode("https://example.org/a%20b%2F%3Cc%3E?q=%22#f"),
    "iri-unicode": NamedNode("https://example.org/é中𝒳\U000e1000"),
    "iri-signs": NamedNode("https://example.org/a'b(c)*;,+$!@&=~"),
    "iri-1700": NamedNode("https://example.org/" + "y" * 1_680),
    "iri-3000": NamedNode("https://example.org/" + "y" * 2_980),
}

# Equal values that are different terms.
EQUALS = (typed("1", "integer"), typed("1", "decimal"), typed("1", "double"), typed("true", "boolean"), Literal("1"))
