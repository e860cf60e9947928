"""The names of secrets: of members of JSON, variables, headers, options, fields and elements.

    names_secret("DB_PASS"), names_secret("x-api-key"), names_secret("clientSecret")   # True
    names_secret("passport"), names_secret("tokenizer"), names_secret("token_count")   # False

Rules kept here:
- this is the one list: what names a member names an assignment in a text, too (`secret_texts`);
- a name is read without invisible characters and styles (NFKC), in words: at `_`, other marks and capital letters;
- a word counts as a whole or at the end of one (`dbpassword`), so that `secretary`, `author` and `hotpink` do not;
- a name that ends with what is stated about a secret, such as `token_type` or `password_length`, names none;
- a weak name is one of other things as well: `pass` of tests, `tokens` of a model. Its numbers and truth values stay.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from cortex_skills.safe_io.display import without_invisible

LONGEST_NAME = 64

Naming = Literal["", "weak", "named", "strong"]
"""Whether a name is that of a secret: not; perhaps; of a token, key or cookie; of a password or private key."""


def words_of(table: str) -> list[str]:
    """The words of a table."""
    return table.split()


# Words as they are in a name that was folded, with `_` between them; each matches at the end of a word.
_STRONG = "|".join(
    words_of(
        """
    password passwords passwd passphrase passcode pass_word pass_phrase pass_code pwd passwort kennwort contraseña
    contrasena senha motdepasse mot_de_passe wachtwoord hasło heslo lösenord losenord adgangskode salasana jelszó
    пароль 密码 密碼 パスワード 비밀번호 pgpass mnemonic seed_phrase
    recovery_(?:phrase|codes?|key) backup_codes? private_?key privkey secret_?key signing_?key signing_?seed
    secret_?access_?key api_?keys? client_?secret dsa_?key
    """
    )
)
_NAMED = "|".join(
    words_of(
        """
    secret secrets token credential credentials creds cookie bearer jwt sess_?id session_?id csrf xsrf authorization
    (?:access|account|app|application|auth|client|consumer|crypt|cipher|database|db|deploy|encryption|decryption|hmac|host|license|master)_?key
    psk (?:pre_?shared|registration|root|service|shared|shared_access|storage|subscription|ssh|webhook|write|admin)_?key
    access_key_id connection_?string security_code verification_code one_time_code code_verifier client_assertion
    client_key_data private_data saml_?response saml_?assertion (?:github|gitlab|gh|gl|devops|azdo|ext|bitbucket)_pat
    """
    )
)
_OWNERS = "|".join(  # of what is called `pass` or `pw` for short: `dbpass`, `rootpw`
    words_of(
        """
    admin auth bind cert database db ftp http imap key keystore ldap login mail mongo my mysql pg pop proxy redis root
    server smtp sql ssh ssl store su sudo svn trust truststore user wifi
    """
    )
)
_WHOLE = (
    rf"(?:{_OWNERS})(?:pass|pw)|pw|psw|pswd|passw|auth|authn|apikey|otp|totp|cvv|cvc|2fa|mfa|sid|phpsessid|jsessionid"
    r"|asp_net_session_id"
)
_WEAK = "pass|tokens|cookies|pincode|pin_code|access_code|auth_code|session_key"
_LAST = frozenset(  # words that end the name of what is stated about a secret
    words_of(
        """
    algorithm algorithms alias at attempts available bits budget budgets changed class command count counter created
    date days disabled enabled endpoint error errors exists expiration expired expires expiry failed fds file filename
    field format found in index is kind label left len length lifetime limit limits manager max method min minute
    minutes mode name names needed number path per period policies policy present prompt provider reason ref refresh
    required rotated rotation schema scope scopes second seconds size source state status stdin strategy strength
    subject supported time timeout title ttl type types updated uri url usage used valid version hint
    hints reset list table manager page help
    """
    )
)
_QUESTIONS = frozenset(["can", "has", "hide", "is", "needs", "no", "requires", "show", "uses", "with", "without"])
_COUNTS = frozenset(["max", "min", "num", "total", "of", "by", "per", "default"])
_SEPARATORS = re.compile(r"[\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FIND = re.compile(
    rf"(?P<strong>(?:{_STRONG})(?=_|\d*$|\d*_))|(?P<named>(?:{_NAMED})(?=_|\d*$|\d*_)|(?:^|_)(?:{_WHOLE})(?=_|\d*$))"
    r"|^(?P<exact>pin)\d*$"
    rf"|(?P<weak>(?:^|_)(?:{_WEAK})(?=_|$))"
)
_FULL = re.compile(f"(?:{_STRONG})|(?:{_NAMED})")  # one word, however it is written: `PaSsWoRd`
_HAS = re.compile(r"\b(?:has(?=[A-Z_-])|has )")
_FOLDER = re.compile(r"(?:/|~|[A-Z]:\\)[\w./\\ -]*")
_LATIN = str.maketrans("аеіјокмрсухѕԁһԛԝοαερυνκτι", "aeijokmpcyxsdhqwoaepuvkti")  # Cyrillic and Greek letters
_TWO_SCRIPTS = re.compile(r"\b(?=\w*[A-Za-z])(?=\w*[\u0370-\u052f])\w+")
_RANK: dict[str, Naming] = {"strong": "strong", "named": "named", "exact": "named", "weak": "weak"}
# One of these is in every name of a secret; case-folded.
MARKS = words_of(
    """
    pass pw psk secret token key cred cookie auth pin sid jwt otp sess srf bearer code cv connection mnemonic phrase
    senha mfa 2fa psw kennwort contrase seed assertion verifier motdep mot_de private_data saml _pat wachtwoord hasło
    heslo senord adgangskode salasana jelszó пароль 密 パスワード 비밀번호
    """
)


def as_seen(text: str) -> str:
    """A text as a reader sees it: without invisible characters and styles, and a Latin word with Latin letters."""
    text = without_invisible(unicodedata.normalize("NFKC", text))
    return text if text.isascii() else _TWO_SCRIPTS.sub(lambda word: word[0].translate(_LATIN), text)


def folded_name(name: str) -> str:
    """A name as its words, in lower case, with `_` between them."""
    if not name.isascii() or not name.isprintable():
        name = as_seen(name)
    parts = (part if _FULL.fullmatch(part.casefold()) else _HUMP.sub("_", part) for part in _SEPARATORS.split(name))
    return _SEPARATORS.sub("_", "_".join(parts).casefold()).strip("_")


def _naming(name: str) -> Naming:
    words = folded_name(name)
    found: Naming = ""
    for match in _FIND.finditer(words):
        ranks = {_RANK[str(match.lastgroup)], found}
        found = "strong" if "strong" in ranks else "named" if "named" in ranks else "weak"
    if not found:
        return ""
    first, _, rest = words.partition("_")
    if rest and words.rpartition("_")[2] in _LAST:
        return ""
    if rest and first in _QUESTIONS:
        return "weak" if found == "strong" else ""
    if rest and first in _COUNTS:
        return "weak"
    return found


_known = lru_cache(maxsize=4096)(_naming)  # names repeat


def naming(name: str) -> Naming:
    """Whether a name is that of a secret, and how surely."""
    return _known(name) if len(name) <= LONGEST_NAME else _naming(name)


def stated_by(predicate: str) -> Naming:
    """As `naming`, of the object of a statement: `hasPassword` states a password."""
    return naming(_HAS.sub("", predicate))


def is_folder(name: str, value: object) -> bool:
    """Whether a variable of a shell is a folder, and no password."""
    return name in ("PWD", "OLDPWD") and isinstance(value, str) and _FOLDER.fullmatch(value) is not None


def names_secret(name: str) -> bool:
    """Whether a name is that of a secret: `apiKey`, `API-KEY`, `x_api_key`."""
    return naming(name) not in ("", "weak")
