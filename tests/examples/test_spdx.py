import doctest

import pytest
import spdx
from hypothesis import given
from hypothesis import strategies as st

WORDS = st.sampled_from(
    [
        *("MIT", "Apache", "2.0", "Apache-2.0", "GPLv3", "BSD", "License", "Version", "the", "LLVM-exception", "v2"),
        *("AND", "OR", "WITH", "and", "(", ")", "+", ",", "/", "\0", "é"),
    ]
)


def test_the_doctests_pass():
    assert doctest.testmod(spdx).failed == 0


@pytest.mark.parametrize(
    ("statement", "expression"),
    [
        ("MIT", "MIT"),
        ("mit", "MIT"),
        ("The MIT License", "MIT"),
        ("MIT or Apache-2.0", "MIT OR Apache-2.0"),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", "MPL-2.0 AND (Apache-2.0 OR MIT)"),
        ("Apache-2.0 WITH LLVM-exception", "Apache-2.0 WITH LLVM-exception"),
        ("Apache License 2.0", "Apache-2.0"),
        ("Apache License, Version 2.0", "Apache-2.0"),
        ("BSD 3-Clause License", "BSD-3-Clause"),
        ("GPLv3", "GPL-3.0-only"),
        ("GPLv3+", "GPL-3.0-or-later"),
        ("GPL-2.0+", "GPL-2.0-or-later"),
    ],
)
def test_a_licence_statement_becomes_an_spdx_expression(statement, expression):
    assert spdx.named(statement) == expression


@pytest.mark.parametrize(
    "statement",
    [
        *(
            "",
            " ",
            "BSD",
            "BSD License",
            "Apache",
            "UNKNOWN",
            "Dual License",
            "MIT/Apache-2.0",
            "MIT OR LicenseRef-Own",
        ),
        *("MIT OR", "(MIT", "WITH", "MIT WITH MIT", "MIT " * 500, "(" * 900, "\0", "\ud800"),
    ],
)
def test_an_ambiguous_statement_names_no_licence(statement):
    assert spdx.named(statement) is None


@pytest.mark.parametrize(
    ("classifier", "expression"),
    [
        ("License :: OSI Approved :: MIT License", "MIT"),
        ("License :: OSI Approved :: ISC License (ISCL)", "ISC"),
        ("License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)", "MPL-2.0"),
        ("License :: OSI Approved :: GNU General Public License v2 or later (GPLv2+)", "GPL-2.0-or-later"),
        ("License :: OSI Approved :: GNU Lesser General Public License v3 (LGPLv3)", "LGPL-3.0-only"),
        ("License :: CC0 1.0 Universal (CC0 1.0) Public Domain Dedication", "CC0-1.0"),
        ("License :: OSI Approved :: BSD License", None),
        ("License :: OSI Approved :: Apache Software License", None),
        ("License :: Other/Proprietary License", None),
        ("License :: OSI Approved", None),
    ],
)
def test_a_classifier_names_a_licence_by_its_name_or_its_abbreviation(classifier, expression):
    assert spdx.named_by_classifier(classifier) == expression


def test_an_exception_decides_the_category_of_its_licence():
    assert spdx.categories("(GPL-2.0-only WITH Classpath-exception-2.0 OR GPL-2.0-only) AND Unlicense") == {
        "GPL-2.0-only WITH Classpath-exception-2.0": "Copyleft Limited",
        "GPL-2.0-only": "Copyleft",
        "Unlicense": "Public Domain",
    }


@given(st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=60))
def test_any_text_gives_a_licence_of_known_category_or_none(text):
    expression = spdx.named(text)

    if expression is not None:
        assert spdx.named(expression) == expression
        assert all(spdx.categories(expression).values())
