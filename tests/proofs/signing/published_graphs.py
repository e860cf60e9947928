"""Graphs like those of the RDFC-1.0 test suite of the W3C, in our words: TriG by the number of the published test.

Left out is 075, which repeats 044 with SHA-384: `eddsa-rdfc-2022` has SHA-256 only.
"""

from __future__ import annotations

from itertools import permutations

from pyoxigraph import Dataset, RdfFormat, parse

_PREFIXES = "@prefix : <urn:x:> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . "


def _edges(*pairs: str, predicate: str = ":p") -> str:
    return " ".join(f"_:{a} {predicate} _:{b} ." for a, b in pairs)


def _both(text: str) -> str:
    """Edges in both directions."""
    return _edges(*text.split(), *(pair[::-1] for pair in text.split()))


# Two graphs of six nodes with three neighbours each: a prism, and the complete bipartite graph.
_PRISM = "ab bc ca de ef fd ad be cf"
_BIPARTITE = "gj gk gl hj hk hl ij ik il"
_TWO_RINGS = {
    f"0{number}": " ".join(f"_:{a} :next _:{b} . _:{b} :back _:{a} ." for a, b in ((x, y), (y, z), (z, x)))
    for number, (x, y, z) in zip((24, 25, 26, 27, 28, 29), permutations("abc"), strict=True)
}
_TWO_RINGS_BACK = {
    f"0{number}": " ".join(f"_:{b} :next _:{a} . _:{a} :back _:{b} ." for a, b in ((x, y), (y, z), (z, x)))
    for number, (x, y, z) in zip((64, 65, 66, 67, 68, 69), permutations("abc"), strict=True)
}

GRAPHS = {
    "001": "",
    "002": ":a :p :b, :b .",
    "003": "_:a a :T .",
    "004": "_:a a :T ; :with :b .",
    "005": ":a a :T ; :with _:b . _:b a :U .",
    "006": ":a a :T, :U .",
    "008": ':shelf :holds :book . :book :holds :page ; :by "A" ; :title "B" . :page :text "C" ; :title "D" .',
    "009": ':page :text "C" . :x :wrote :page ; :name "X" . :y :name "Y" . :shelf :holds :book . :book :holds :page .',
    "010": ':a :from "2011-01-25T00:00:00+00:00"^^xsd:dateTime .',
    "011": ':a :from "2011-01-25T00:00:00Z"^^xsd:dateTime .',
    "013": ':a :on "2011-01-25T00:00:00Z"^^xsd:dateTime ; :child :b . :b :parent :a .',
    "014": ':a :b true ; :d "1.5E0"^^xsd:double ; :i 12 .',
    "016": ":a :p _:b ; :q _:b ; :with _:b .",
    "017": ":a :p _:b ; :q _:b .",
    "018": "_:a :self _:a .",
    "019": "_:a :self _:a . _:b :self _:b .",
    "020": ":a :p _:b ; :q _:c . _:b :r _:d . _:c :r _:d .",
    "021": _edges("ab", "ba"),
    "022": _edges("ab", "ba", predicate=":next") + _edges("ab", "ba", predicate=":back"),
    "023": _edges("ab", "bc", "ca"),
    **_TWO_RINGS,
    "030": _edges("ab", "bc", "ca") + ":x :p _:a .",
    "033": _edges("ab", "cd"),
    "034": _edges("dc", "ba"),
    "035": '_:a :p _:b . _:c :p _:d . _:b :q "x" . _:d :q "x" .',
    "036": '_:a :p _:d . _:b :p _:c . _:c :q "x" . _:d :q "x" .',
    "038": _edges("ab", "ac", "bd"),
    "039": _edges("ab", "ac", "cd"),
    "040": _edges("ab", "bc", "de", "ef"),
    "043": ':a :p "x"@en .',
    "044": _both(f"{_PRISM} {_BIPARTITE}"),
    "045": _both(f"{_BIPARTITE} {_PRISM}".translate(str.maketrans("abcdefghijkl", "ghijklabcdef"))),
    "046": _both(f"{_PRISM} {_BIPARTITE}".translate(str.maketrans("abcdefghijkl", "algcheidkbjf"))),
    "047": _edges("ab", "bc", "cd", "ef", "fg", "gh") + '_:d :q "x" . _:h :q "y" .',
    "048": _edges("ef", "fg", "gh", "ab", "bc", "cd") + '_:h :q "x" . _:d :q "y" .',
    "053": ':a :p ( "x" "y" "z" ) .',
    "054": _edges("ab", "bc", "cd", "ce", "df", "ek", "fg", "gh", "hi", "ij", "kl", "lm", "mn", "no", "op"),
    "055": '_:a :p _:b ; :q "x" . _:b :q "y" .',
    "056": '_:b :p _:a ; :q "x" . _:a :q "y" .',
    "057": ":a :p :b . _:g { :a :p :c . }",
    "058": ":a :p :b . _:g { :a :p _:c . } _:h { :a :p _:d . }",
    "059": ':a :p "x", "x"@en, "x"^^:t, _:b . :g { :a :p :c . _:b :p _:c . } _:h { _:c :p "x" . }',
    "060": r""":a :p "\u0000\u0007\b\t\n\u000B\f\r\u001F\"\\\u007F\u0080'\U0001F600\\u0041" .""",
    "061": ':a :p "x"@en, "x"@de, "x"@en-gb .',
    "062": ':a :p "1", "1"^^xsd:integer, "1"^^xsd:double .',
    "063": ":a :p _:b0 ; :q _:b1 . _:b0 :r _:b2 . _:b1 :r _:b2 .",
    **_TWO_RINGS_BACK,
    "070": ":a :p _:b . :g { :a :p _:c . }",
    "071": ":a :p _:b . _:g { :a :p _:c . }",
    "072": ":a :p _:b . :g { :a :q _:b . }",
    "073": ":a :p _:g . _:g { :a :q :b . }",
    "076": ":a :p :b . :a :p :b .",
    "077": "_:a :p _:b . _:a :p _:b .",
}
POISON = " ".join(f"_:{a} :p _:{b} ." for a, b in permutations("abcdefghij", 2))  # 074


def dataset(trig: str) -> Dataset:
    """The dataset of a graph of this file."""
    return Dataset(parse(_PREFIXES + trig, RdfFormat.TRIG))
