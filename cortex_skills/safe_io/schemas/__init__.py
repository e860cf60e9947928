"""The JSON Schemas of the package, and the validation of documents against them."""

from cortex_skills.safe_io.schemas.located_document import (
    LocatedDocument,
    Mark,
    Path,
    Problem,
    field_name,
    shown,
    summary,
)
from cortex_skills.safe_io.schemas.validation import (
    MadeSchema,
    check,
    did_you_mean,
    errors_of,
    first_error,
    has_few_members,
    reason_of,
    schema,
)

__all__ = [
    "LocatedDocument",
    "MadeSchema",
    "Mark",
    "Path",
    "Problem",
    "check",
    "did_you_mean",
    "errors_of",
    "field_name",
    "first_error",
    "has_few_members",
    "reason_of",
    "schema",
    "shown",
    "summary",
]
