"""The index of artifacts: a signed static file that lists them, made from a folder, served by any web server."""

from cortex_skills.features.artifacts.index.fetched_index import FetchedIndex
from cortex_skills.features.artifacts.index.index_document import (
    FIRST_PAGE,
    FirstPage,
    IndexPage,
    check_entries,
    read_first_page,
    read_page,
    signature_of,
    write_pages,
)
from cortex_skills.features.artifacts.index.index_entry import IndexEntry, entry_of
from cortex_skills.features.artifacts.index.snapshot_check import SeenIndex, accepted, check_key

__all__ = [
    "FIRST_PAGE",
    "FetchedIndex",
    "FirstPage",
    "IndexEntry",
    "IndexPage",
    "SeenIndex",
    "accepted",
    "check_entries",
    "check_key",
    "entry_of",
    "read_first_page",
    "read_page",
    "signature_of",
    "write_pages",
]
