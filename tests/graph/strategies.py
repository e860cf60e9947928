"""What the property tests of the graph draw from."""

from __future__ import annotations

from hypothesis import strategies as st

from cortex_graph import WELL_KNOWN_VOCABULARIES

NAMESPACES = ["may", "mayros", "Mayros", "mayros-2", "m", "urn", "https", "rdf", "a_b", "may/ros", "may.ros"]
BASES = ["urn:cortex:", "https://example.org/", "https://example.org/graph#"]

unicode_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
tricky_text = st.text(
    st.sampled_from("a:/<>?#%\"\\{}|^`' .@\u200f\u202e\ufeff\u00a0\x00\x1f\x7f\x85\n\ue000\ufffe\U000e0001é中𝒳"),
    min_size=1,
    max_size=12,
)
prefixed_text = st.builds(
    str.__add__,
    st.sampled_from(
        ["mayros:", "may:", "urn:", "https://", "did:", "<", "<tag:", "rdf:", "../", "%41", "urn:cortex:may:"]
    ),
    st.one_of(unicode_text, tricky_text, st.just("")),
)
names = st.one_of(unicode_text, tricky_text, prefixed_text)

_iri_part = st.text(st.sampled_from("ab:/?#%20-._~@!é中\u202e"), max_size=12)
iri_texts = st.builds(
    str.__add__,
    st.sampled_from(
        [
            "urn:cortex:mayros:",
            "urn:cortex:may:",
            "urn:cortex:",
            "https://example.org/",
            "tag:",
            "urn:",
            "x:",
            "mayros:",
            "rdf:",
            "HTTPS://h/",
            "https://example.org/mayros:",
            *WELL_KNOWN_VOCABULARIES.values(),
        ]
    ),
    _iri_part,
)

_numeric = st.from_regex(r"[+-]?[0-9]{0,22}(\.[0-9]{0,5})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
_dates = st.sampled_from(
    [
        "2024-01-01T24:00:00Z",
        "2024-02-30T00:00:00",
        "2024-01-01T00:00:00.10+14:00",
        "2024-01-01",
        "PT60S",
        "P0D",
        "--01",
    ]
)
lexical_forms = st.one_of(
    _numeric, _dates, st.sampled_from(["true", "1", "NaN", "nan", "INF", "-INF", "inf", "1_0", " 1", ""]), unicode_text
)
_XSD_TYPES = (
    "string integer double float decimal boolean long int byte nonNegativeInteger dateTime date time gYear duration"
)
datatypes = st.sampled_from(
    [f"{WELL_KNOWN_VOCABULARIES['xsd']}{name}" for name in _XSD_TYPES.split()]
    + ["https://example.org/type", "tag:example.org,2024:type"]
)
plain_values = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.booleans(),
)
values = st.one_of(
    plain_values,
    st.builds(lambda name: {"node": name}, unicode_text),
    st.builds(lambda text, datatype: {"value": text, "datatype": datatype}, lexical_forms, datatypes),
    st.builds(
        lambda text, tag: {"value": text, "language": tag},
        unicode_text,
        st.sampled_from(["en", "EN-us", "de-Latn-DE-1996"]),
    ),
    st.builds(
        lambda text, way: {"value": text, "language": "ar", "direction": way},
        unicode_text,
        st.sampled_from(["ltr", "rtl"]),
    ),
)
