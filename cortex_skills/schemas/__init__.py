"""The JSON Schemas that ship with the package, and what a document read against one of them can be told."""

from cortex_skills.schemas.document import Document, Mark, Path, Problem, field_name, shown, summary
from cortex_skills.schemas.errors import errors_of, first_error
from cortex_skills.schemas.validation import check, did_you_mean, schema

__all__ = [
    "Document",
    "Mark",
    "Path",
    "Problem",
    "check",
    "did_you_mean",
    "errors_of",
    "field_name",
    "first_error",
    "schema",
    "shown",
    "summary",
]
