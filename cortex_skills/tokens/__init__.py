"""Bearer tokens: who may come in to the server, to which namespaces, for what, until when."""

from cortex_skills.tokens.file import TokenFile, default_file
from cortex_skills.tokens.model import ALL_NAMESPACES, PERMISSIONS, Token, digest_of, new_token, parse_lifetime

__all__ = [
    "ALL_NAMESPACES",
    "PERMISSIONS",
    "Token",
    "TokenFile",
    "default_file",
    "digest_of",
    "new_token",
    "parse_lifetime",
]
