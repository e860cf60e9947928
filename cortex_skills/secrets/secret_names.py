"""Names of secrets: `scope/key`.

Rules kept here:
- a scope is `global`, or `principal:`, `channel:` or `skill:` and a name; a key has letters, digits, `.`, `_`, `-` and
  `:`: the grammar of `skill.toml`, without wildcards.

>>> SecretName.of("skill:acme.weather/api_key")
SecretName(scope='skill:acme.weather', key='api_key')
>>> str(SecretName("global", "token"))
'global/token'
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.schemas import shown

_SCOPE = re.compile(r"global|(?:principal|channel|skill):[a-z0-9._:-]{1,256}", re.ASCII)
_KEY = re.compile(r"[a-z0-9._:-]{1,256}", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class SecretName:
    """The scope and the key of a secret.

    Raises:
        CortexError: `invalid_arguments`: one of them does not have the form.
    """

    scope: str
    key: str

    def __post_init__(self) -> None:
        if not _SCOPE.fullmatch(self.scope) or not _KEY.fullmatch(self.key):
            raise CortexError(
                "invalid_arguments",
                f"{shown(f'{self.scope}/{self.key}')} is not the name of a secret",
                hint="write SCOPE/KEY in small letters: global/token, skill:acme.weather/api_key, principal:ada/pin",
            )

    @classmethod
    def of(cls, text: str) -> SecretName:
        """The name in a text.

        Raises:
            CortexError: `invalid_arguments`.
        """
        scope, _, key = text.partition("/")
        return cls(scope, key)

    def __str__(self) -> str:
        return f"{self.scope}/{self.key}"
