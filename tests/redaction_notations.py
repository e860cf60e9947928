"""More texts with a synthetic secret, by the notation that it is written in, and similar texts without one."""

from __future__ import annotations

import base64
from string import ascii_letters
from typing import Any

from tests.redaction_cases import HEX32, HEX64, INNOCENT, SECRETS, WORD, made

_MIXED = "corn9" + "Flower"
_LONG = made(64, seed=3)
_SAID = base64.b64encode(f"[db]\nuser = ada\npassword = {WORD}\nhost = db.example.org".encode()).decode()
_PLAIN = base64.b64encode(b"An ordinary text that was encoded in 2026, with 12 numbers and names.").decode()

SECRETS |= {
    "name for short": [(f"{name}={WORD}", WORD) for name in ("dbpass", "userpass", "rootpw", "SMTPPASS", "storepass")],
    "option with one dash": [(f"keytool -storepass {WORD} -v", WORD), (f"x -keypass {WORD}", WORD)],
    "token in a variable called PAT": [(f"GITHUB_PAT={WORD}", WORD), (f"AZURE_DEVOPS_EXT_PAT: {WORD}", WORD)],
    "assertion of SAML": [(f"SAMLResponse={WORD}&RelayState=1", WORD)],
    "mixed case": [(f"PaSsWoRd={WORD}", WORD), (f"SeCret: {WORD}", WORD), (f"DB_PassWord = {WORD}", WORD)],
    "letters of another script": [(f"p\u0430ssword={WORD}", WORD), (f"t\u03bfken: {WORD}", WORD)],
    "percent-encoded": [(f"password%253D{WORD}", WORD), (f"pass%77ord={WORD}", WORD), (f"%74oken%3a{WORD}", WORD)],
    "HTML-encoded": [(f"pass&#119;ord={WORD}", WORD), (f"pass&#x77;ord: {WORD}", WORD)],
    "in the line below": [(f"password:\n    {_MIXED}\nuser: ada", _MIXED), (f"Password:\r\n{_MIXED}", _MIXED)],
    "tag or anchor of YAML": [(f"password: !vault {WORD}", WORD), (f"password: &it {WORD}", WORD)],
    "other separators": [
        (f"{before}{_MIXED}", _MIXED)
        for before in ("Password - ", "password -> ", "Password \u2014 ", "**Password:** ", "**Password**: ")
    ]
    + [(f"| password | {_MIXED} |", _MIXED), (f'password <- "{_MIXED}"', _MIXED)],
    "sentence": [
        (f"{before} {_MIXED} now", _MIXED)
        for before in (
            "The API key is",
            "my token is",
            "Das Passwort ist",
            "le mot de passe est",
            "la contrase\u00f1a es",
        )
    ],
    "other languages": [(f"{name}: {WORD}", WORD) for name in ("Wachtwoord", "L\u00f6senord", "Has\u0142o", "salasana")]
    + [(f"{name}: {_MIXED}", _MIXED) for name in ("Mot de passe ", "parola d'ordine")],
    "parameters of a header": [(f'Authorization: Digest username="u", response="{HEX32}"', HEX32)],
    "protocol of mail": [(f"AUTH PLAIN {_MIXED}", _MIXED), (f"(LOGIN ada {_MIXED})", _MIXED)],
    "tuple": [(f"get(u, auth=('ada', '{WORD}'))", WORD), (f"headers = [('Authorization', '{WORD}')]", WORD)],
    "markup": [
        (f"<key>password</key><string>{WORD}</string>", WORD),
        (f'<string name="api_key">{WORD}</string>', WORD),
        (f'<input type="password" value="{WORD}">', WORD),
        (f'<meta name="csrf-token" content="{WORD}">', WORD),
    ],
    "statement": [
        (f'mayros:ada mayros:password "{WORD}"', WORD),
        (f'mayros:ada mayros:hasPassword "{WORD}"@en', WORD),
        (f'<urn:a> <http://x.example/ns#apiKey> "{WORD}"^^<urn:t> <urn:g> .', WORD),
        (f'INSERT DATA {{ <urn:a> <http://x.example/hasPassword> "{WORD}" }}', WORD),
        ("mayros:ada mayros:password 73102844", "73102844"),
    ],
    "variable of Terraform": [(f'variable "db_password" {{\n  default = "{WORD}"\n}}', WORD)],
    "configuration by a command": [
        (f"aws configure set aws_secret_access_key {WORD}", WORD),
        (f"set -x API_KEY {WORD}", WORD),
        (f"(setenv API_KEY {WORD})", WORD),
        (f"proxy_set_header Authorization {WORD};", WORD),
    ],
    "other programs": [
        (f"{before} {WORD}", WORD)
        for before in ("zip -P", "mongosh -u a -p", "sqlcmd -S h -U sa -P", "ssh-keygen -f k -N", "useradd -p")
    ],
    "hash with parameters": [(f"$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ${made(32)}", made(32))],
    "key without digits": [("hf" + "_" + made(34, ascii_letters)[:-2] + "aB", made(34, ascii_letters)[:-2])],
    "other services": [
        ("ci" + "o" + made(32), made(32)),
        ("s-s4t2ud-" + HEX64, HEX64),
        (f"pat.{made(22)}.{HEX32[:24]}.{made(20)}", made(20)),
    ],
    "text in base64": [(_SAID, _SAID[20:])],
}

INNOCENT += [
    _PLAIN,
    f"-----BEGIN PUBLIC KEY-----\n{_LONG}\n{made(30)}\n-----END PUBLIC KEY-----",
    f"-----BEGIN CERTIFICATE-----\n{_LONG}\n{made(64, seed=4)}\n{made(30)}\n-----END CERTIFICATE-----",
    "PWD=/home/ada/src",
    "OLDPWD=/tmp",
    "credentials: include",
    "credentials: 'same-origin'",
    "auth: oauth2",
    "def leaving(cancel: CancelToken) -> None:",
    "- **Credential**: a statement with its issuer's signature.",
    "| password | yes | no |",
    "password - optional",
    "if password:\n    return",
    "The token is invalid, and the secret is kept.",
    "The pattern file_pat = a, and Pat: Smith",
    "The underpass and the bypass, low-pass and compass=north",
    "100 % of tokens &amp; keys: 12",
    "set -x token",
    "LOGIN page is new",
    'mayros:ada mayros:hasToken "five"',
    "mayros:ada mayros:hasPassword mayros:password-5",
    "<urn:a> <http://x.example/tokenCount> 5000 .",
    "the password 2026 edition",
    "Passwort: mindestens 12 Zeichen",
    "mot de passe : obligatoire",
    '<string name="password_hint">At least 8</string>',
    "mongod -p 27017",
    "csrf: enabled, mfa: on",
    "fetch(u, {credentials: 'include'})",
]

# What is redacted of JSON because of the member beside it.
MEMBERS: list[tuple[Any, str]] = [
    ({"command": "curl", "args": ["-u", f"ada:{WORD}"]}, WORD),
    ({"command": "sshpass", "args": ["-p", WORD, "ssh", "host"]}, WORD),
    ({"program": "docker", "args": ["login", "-u", "a", "-p", WORD]}, WORD),
    ({"selector": "#password", "value": WORD}, WORD),
    ({"element": "Password field", "text": WORD}, WORD),
    ({"fields": [{"name": "Password field", "type": "textbox", "value": WORD}]}, WORD),
    ({"placeholder": "Enter password", "text": WORD}, WORD),
    ({"ref": "input[name=password]", "text": WORD}, WORD),
    ({"id": "password", "value": WORD}, WORD),
    ({"label": "API key", "val": WORD}, WORD),
    ({"subject": "ada", "predicate": "hasPassword", "object": WORD}, WORD),
    ({"subject": "ada", "predicate": "mayros:hasApiKey", "object": WORD}, WORD),
    ({"PWD": WORD}, WORD),
]
INNOCENT_MEMBERS: list[Any] = [
    {"password": None},
    {"PWD": "/home/ada", "OLDPWD": "/tmp"},
    {"command": "docker", "args": ["run", "-u", "1000:1000", "image"]},
    {"element": "Search field", "text": "passwords"},
    {"subject": "ada", "predicate": "hasPassword", "object": True},
    {"subject": "ada", "predicate": "hasPassword", "object": "mayros:password-5"},
    {"subject": "ada", "predicate": "hasToken", "object": "five"},
    {"id": "tokenizer", "value": 5},
    {"id": "password-reset", "text": "click here"},
    {"selector": "#token-table", "text": "x1"},
    {"name": "Password hint", "value": "dog"},
]
