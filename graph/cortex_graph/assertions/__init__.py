"""The assertions of a namespace, the newest first: who asserted what, when, with which skill and which proofs.

Rules kept here:
- an assertion is a provenance record (`provenance.py`), of a triple that is asserted or, when they are asked for, of
  one that was withdrawn since (`withdrawals.py`). A triple without a record has no time, and is not listed;
- `filters.py` decides which records pass, `search.py` finds a page of them, `cursors.py` has the places between pages,
  and `listing.py` reads the records of a page.
"""

from cortex_graph.assertions.filters import AssertionFilter, PastView
from cortex_graph.assertions.listing import (
    Assertion,
    AssertionHistory,
    AssertionPage,
    assertions_of,
    history_of,
    list_assertions,
    read_assertions,
)

__all__ = [
    "Assertion",
    "AssertionFilter",
    "AssertionHistory",
    "AssertionPage",
    "PastView",
    "assertions_of",
    "history_of",
    "list_assertions",
    "read_assertions",
]
