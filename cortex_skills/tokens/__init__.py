"""Bearer tokens of the server: namespaces, permissions and expiry."""

from cortex_skills.tokens.file import TokenFile, default_file
from cortex_skills.tokens.token import (
    ALL_NAMESPACES,
    HOLDERS,
    PERMISSIONS,
    Holder,
    Token,
    digest_of,
    new_token,
    parse_lifetime,
)

__all__ = [
    "ALL_NAMESPACES",
    "HOLDERS",
    "PERMISSIONS",
    "Holder",
    "Token",
    "TokenFile",
    "default_file",
    "digest_of",
    "new_token",
    "parse_lifetime",
]
