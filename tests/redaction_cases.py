"""Texts with a synthetic secret in each shape that detectors name, and texts with none.

The secrets are made when the tests run, so that no scanner of this repository finds one.
"""

from __future__ import annotations

import json
from random import Random
from string import ascii_letters, ascii_uppercase, digits, hexdigits

_HEX = hexdigits[:16]


def made(length: int, letters: str = ascii_letters + digits, seed: int = 7) -> str:
    """A text that looks like a key: random, and the same in each run."""
    random = Random(f"{seed}/{length}/{letters}")
    return "".join(random.choice(letters) for _ in range(length - 2)) + ("7a" if letters == _HEX else "7q")


WORD = "corn" + "flower" + "-9"
LETTERS = "corn" + "flower"
HEX32, HEX40, HEX64 = made(32, _HEX), made(40, _HEX), made(64, _HEX)
UPPER = made(14, ascii_uppercase + digits).upper()
_LINES = "\n".join([made(64), made(64, seed=8), made(30, seed=9)])


def _pem(kind: str) -> str:
    return f"-----BEGIN {kind}-----\n{_LINES}\n-----END {kind}-----"


def _jwt() -> str:
    return ".".join(("ey" + "J" + made(30), "ey" + "J" + made(40, seed=2), made(43, seed=3)))


# For each kind: texts, and what must not be left of them.
SECRETS: dict[str, list[tuple[str, str]]] = {
    # names, in the notations
    "member password": [(f'{{"password": "{WORD}"}}', WORD), (f"{{'passwd':'{WORD}'}}", WORD)],
    "member pass": [(f'{{"pass":"{WORD}"}}', WORD), (json.dumps({"a": json.dumps({"pass": WORD})}), WORD)],
    "member pwd": [(f'{{"user": "ada", "pwd": "{LETTERS}"}}', LETTERS)],
    "member secret": [(f'{{"secret":"{WORD}","n":1}}', WORD)],
    "member client secret": [(f'{{"clientSecret" : "{WORD}"}}', WORD), (f"client_secret={WORD}&scope=a", WORD)],
    "member api key": [(f'{{"apiKey":"{WORD}"}}', WORD), (f"api-key: {WORD}", WORD), (f"API key: {WORD}", WORD)],
    "member private key": [(f'{{"private_key_id": "x", "private_key": "{WORD}"}}', WORD)],
    "member of another language": [
        (f"contraseña: {WORD}", WORD),
        (f"Passwort={WORD}", WORD),
        (f"пароль: {WORD}", WORD),
    ],
    "access token": [(f'{{"access_token":"{WORD}","token_type":"bearer"}}', WORD)],
    "refresh token": [(f"refreshToken={WORD}", WORD), (f"refresh_token: '{WORD}'", WORD)],
    "session id": [(f"PHPSESSID={WORD}", WORD), (f"JSESSIONID={WORD}; Path=/", WORD), (f'"sessionId": "{WORD}"', WORD)],
    "one-time password": [('{"otp": "493021"}', "493021"), ("totp=493021", "493021")],
    "PIN": [('{"pin": 4930}', "4930"), ("pin: 4930", "4930"), ("the PIN is 493021.", "493021")],
    "CSRF token": [(f"csrftoken={WORD}", WORD), (f"X-CSRF-Token: {WORD}", WORD)],
    "environment variable": [
        (f"DB_PASS={WORD}", WORD),
        (f"export PGPASSWORD='{WORD}'", WORD),
        (f"set MYSQL_PWD={WORD}", WORD),
    ],
    "variable of PowerShell": [(f'$env:API_KEY = "{WORD}"', WORD)],
    "Dockerfile": [(f"FROM x\nENV DB_PASSWORD {WORD}\nRUN y", WORD), (f"ARG NPM_TOKEN={WORD}", WORD)],
    "YAML": [
        (f"db:\n  password: {WORD}\n  user: a", WORD),
        (f"token: |\n  {WORD}\nnext: 1", WORD),
        (f"secret: >-\n    {WORD}", WORD),
    ],
    "YAML of names and values": [
        (f"- name: DB_PASSWORD\n  value: {WORD}", WORD),
        (f'- name: TOKEN\n  value: "{WORD}"', WORD),
    ],
    "TOML": [(f'password = "{WORD}"', WORD), (f"secret_key = '{WORD}'", WORD)],
    "properties": [(f"spring.datasource.password={WORD}", WORD), (f"smtp.pass = {WORD}", WORD)],
    "Python": [
        (f'API_KEY = "{WORD}"', WORD),
        (f'os.environ["API_KEY"] = "{WORD}"', WORD),
        (f'login(password="{WORD}")', WORD),
    ],
    "TypeScript": [(f'const token: string = "{WORD}";', WORD), (f"const apiKey = `{WORD}`", WORD)],
    "Ruby and PHP": [
        (f":password => '{WORD}'", WORD),
        (f"$password = '{WORD}';", WORD),
        (f"define('DB_PASSWORD', '{WORD}');", WORD),
    ],
    "Go": [(f'password := "{WORD}"', WORD)],
    "call of a function": [(f'setPassword("{WORD}")', WORD)],
    "element of XML": [
        (f"<password>{WORD}</password>", WORD),
        (f'<password value="{WORD}"/>', WORD),
        (f'<ns:ApiKey type="x">{WORD}</ns:ApiKey>', WORD),
    ],
    "attributes of XML": [(f'<add key="Password" value="{WORD}"/>', WORD), (f'<user password="{WORD}"/>', WORD)],
    "entities of HTML": [(f"&quot;password&quot;:&quot;{WORD}&quot;", WORD)],
    "form": [(f"user=ada&password={WORD}&x=1", WORD), (f"a%3D1%26password%3D{WORD}", WORD)],
    "form of parts": [(f'--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n{WORD}\r\n--x', WORD)],
    "storage of a browser": [(f"localStorage.setItem('token', '{WORD}')", WORD)],
    "key of a network": [(f"psk={WORD}", WORD), (f"wpa_passphrase={WORD}", WORD)],
    "line of a router": [("username ada password 7 08" + "314D5D1A", "08" + "314D5D1A")],
    "JSON in a URL": [(f"%22password%22%3A%22{WORD}%22%7D", WORD)],
    "JSON within JSON": [(json.dumps(json.dumps({"t": json.dumps({"token": WORD})})), WORD)],
    "connection string": [(f"Server=a;Uid=b;Pwd={WORD};Timeout=3", WORD), (f"host=a password={WORD} dbname=c", WORD)],
    "statement of SQL": [
        (f"CREATE USER a IDENTIFIED BY '{WORD}'", WORD),
        (f"ALTER ROLE a WITH PASSWORD '{WORD}'", WORD),
    ],
    "Turtle": [(f':ada ex:password "{WORD}" .', WORD)],
    "sentence": [
        (f"the password for the db is {WORD}", WORD),
        (f"Password (temporary): {WORD}", WORD),
        (f"passwd\t{WORD}", WORD),
        (f"my password is {WORD}, thanks", WORD),
        (f'The password is "{WORD}".', WORD),
    ],
    # headers
    "Authorization": [(f"Authorization: {LETTERS}", LETTERS), (f'"Authorization": "{LETTERS}"', LETTERS)],
    "Authorization in a command": [(f"curl -H 'Authorization: token {LETTERS}' https://x.example/a", LETTERS)],
    "Proxy-Authorization": [(f"Proxy-Authorization: Digest username={LETTERS}", LETTERS)],
    "bearer": [(f"Bearer {made(30)}", made(30)), ("use bearer abc.def here", "abc.def")],
    "basic": [("Basic " + "YWRhOmh1bnRlcjI=", "YWRhOmh1bnRlcjI")],
    "Cookie": [(f"Cookie: theme=dark; sid={WORD}", WORD), (f"GET / HTTP/1.1\r\nCookie: a={WORD}\r\nHost: b", WORD)],
    "Set-Cookie": [(f"Set-Cookie: a={WORD}; HttpOnly", WORD)],
    "header of a key": [
        (f"X-API-Key: {WORD}", WORD),
        (f"X-Auth-Token: {WORD}", WORD),
        (f'-H "X-Vault-Token: {WORD}"', WORD),
    ],
    # commands
    "option": [(f"tool --password {WORD} x", WORD), (f"tool --token={WORD}", WORD), (f"tool --api-key '{WORD}'", WORD)],
    "curl -u": [
        (f"curl -u ada:{WORD} http://x", WORD),
        (f"curl --user 'ada:{LETTERS}' x", LETTERS),
        ("curl -u a:b3 http://x", "a:b3"),
    ],
    "mysql -p": [(f"mysql -h db -u root -p{WORD} shop", WORD)],
    "sshpass": [(f"sshpass -p {WORD} ssh a@b", WORD), (f"sshpass -p '{WORD}' ssh a@b", WORD)],
    "docker login": [(f"docker login -u ada -p {WORD} registry", WORD)],
    "redis-cli": [(f"redis-cli -h a -a {WORD} ping", WORD)],
    "openssl": [(f"openssl rsa -passin pass:{WORD} -in k", WORD)],
    "ldapsearch": [(f"ldapsearch -D cn=a -w {WORD} -b b", WORD)],
    "htpasswd": [(f"htpasswd -bc file ada {WORD}", WORD)],
    "netrc": [(f"machine x login ada password {LETTERS}", LETTERS)],
    "pgpass": [(f"db.example:5432:shop:ada:{WORD}", WORD)],
    "npmrc": [(f"//registry.example.org/:_authToken={WORD}", WORD), (f"_auth={WORD}", WORD)],
    "hash of a password": [
        ("ada:$6$" + made(8) + "$" + made(60) + ":19000:0", made(60)),
        ("$2b$12$" + made(53), made(53)),
    ],
    # addresses
    "user and password of an address": [
        (f"https://ada:{WORD}@host/x", WORD),
        (f"postgres://ada:p@{WORD}@db:5432/x", WORD),
    ],
    "empty user of an address": [(f"redis://:{WORD}@cache:6379/0", WORD)],
    "token of an address": [
        (f"https://{made(20)}@host/x.git", made(20)),
        ("https://" + "TOKEN" + "1@host/x", "TOKEN1"),
    ],
    "address of MySQL": [(f"ada:{WORD}@tcp(db:3306)/shop", WORD), (f"ada:{WORD}@db.example:3306", WORD)],
    "address without a scheme": [(f"ada:{WORD}@db.example.org", WORD), (f"thin:ada/{WORD}@//db/x", WORD)],
    "signature of a share": [(f"SharedAccessSignature sr=a&sig={made(44)}&se=1", made(44))],
    "query of an address": [(f"https://x/y?api_key={WORD}&b=1", WORD), (f"https://x/y?access_token={WORD}", WORD)],
    "signed address": [
        (f"https://a.blob/x?sv=1&sig={made(44)}", made(44)),
        (f"https://s3/x?X-Amz-Signature={HEX64}", HEX64),
    ],
    "Slack hook": [("https://hooks.slack.com/" + "services/T000/B000/" + made(24), made(24))],
    "Discord hook": [("https://discord.com/api/" + f"webhooks/123456789/{made(40)}", made(40))],
    # blocks
    "private key RSA": [
        (_pem("RSA PRIVATE" + " KEY"), made(64)),
        (_pem("RSA PRIVATE" + " KEY").replace("\n", "\\n"), made(64)),
    ],
    "private key EC": [(_pem("EC PRIVATE" + " KEY"), made(64))],
    "private key OpenSSH": [(_pem("OPENSSH PRIVATE" + " KEY"), made(64))],
    "private key PKCS 8": [
        (_pem("ENCRYPTED PRIVATE" + " KEY"), made(64)),
        (f"-----BEGIN PRIVATE KEY-----\n{_LINES}", made(64)),
    ],
    "PGP block": [(_pem("PGP PRIVATE" + " KEY BLOCK"), made(64))],
    "PuTTY key": [(f"PuTTY-User-Key-File-3: x\nPrivate-Lines: 2\n{_LINES}\nPrivate-MAC: 1", made(64))],
    "JSON Web Key": [(f'{{"kty":"OKP","x":"a","d":"{made(43)}"}}', made(43))],
    "mnemonic": [
        (f"mnemonic: {LETTERS} apple river stone", "river"),
        (f'"seed_phrase": "{LETTERS} apple river"', "river"),
    ],
    # tokens of services
    "JSON Web Token": [(_jwt(), made(40, seed=2))],
    "AWS key id": [("AKI" + "A" + UPPER, UPPER), ("ASI" + "A" + UPPER, UPPER)],
    "AWS secret": [(f"aws_secret_access_key = {made(40)}", made(40)), (f"AKIA… {made(40)}", made(40))],
    "Azure storage": [(f"AccountName=a;AccountKey={made(86)}==;EndpointSuffix=b", made(86))],
    "Azure client secret": [("abc" + "8Q" + "~" + made(34), made(34))],
    "base64 of 48 bytes": [(f"use {made(64)} there", made(64))],
}
_OF_SERVICES = {
    "Google key": "AI" + "za{35}",
    "Google OAuth": "ya" + "29.{40}",
    "Google client secret": "GOC" + "SPX-{28}",
    "GitHub": "gh" + "p_{36}",
    "GitHub app": "gh" + "s_{36}",
    "GitHub fine-grained": "github" + "_pat_{60}",
    "GitLab": "gl" + "pat-{20}",
    "GitLab runner": "gl" + "rt-{20}",
    "Slack bot": "xo" + "xb-123456789012-{24}",
    "Slack app": "xa" + "pp-1-{40}",
    "OpenAI": "s" + "k-proj-{48}",
    "Anthropic": "s" + "k-ant-api03-{60}",
    "Hugging Face": "h" + "f_{34}",
    "Replicate": "r" + "8_{37}",
    "Groq": "gs" + "k_{48}",
    "xAI": "xa" + "i-{60}",
    "npm": "np" + "m_{36}",
    "PyPI": "pyp" + "i-AgEIcHlwaS5vcmc{60}",
    "RubyGems": "ruby" + "gems_{hex}",
    "Docker Hub": "dc" + "kr_pat_{27}",
    "Stripe": "sk" + "_live_{24}",
    "Stripe hook": "wh" + "sec_{32}",
    "Square": "sq0" + "csp-{43}",
    "Shopify": "shp" + "at_{hex}",
    "SendGrid": "S" + "G.{22}.{43}",
    "Mailgun": "ke" + "y-{hex}",
    "Mailchimp": "{hex}" + "-us14",
    "Brevo": "xkey" + "sib-{60}",
    "Twilio": "S" + "K{hex}",
    "Telegram": "123456789" + ":AA{33}",
    "Discord bot": "M" + "{24}.{6}.{38}",
    "DigitalOcean": "dop" + "_v1_{hex}{hex}",
    "Databricks": "dap" + "i{hex}",
    "Linear": "lin" + "_api_{40}",
    "Notion": "nt" + "n_{46}",
    "Figma": "fig" + "d_{40}",
    "Postman": "PM" + "AK-{24}-{34}",
    "Vault": "hv" + "s.{60}",
    "Doppler": "dp" + ".pt.{43}",
    "Atlassian": "ATA" + "TT3{60}",
    "New Relic": "NR" + "AK-{27}",
    "Grafana": "gls" + "a_{32}_7a7a7a7a",
    "Sentry": "sntr" + "ys_{60}",
    "Supabase": "sb" + "p_{hex}",
    "PlanetScale": "pscale" + "_tkn_{43}",
    "Terraform Cloud": "{14}" + ".atlasv1.{60}",
    "Fly": "fm" + "2_{60}",
    "Pulumi": "pu" + "l-{hex}",
    "Alibaba": "LT" + "AI{20}",
    "age": "AGE-SECRET" + "-KEY-1{58}",
    "Facebook": "EA" + "A{80}",
    "Airtable": "pa" + "t{14}.{hex}{hex}",
    "Dynatrace": "dt0" + "c01.{24}.{64}",
    "Octopus": "AP" + "I-{26}",
    "SonarQube": "sq" + "u_{hex}",
    "OpenShift": "sha" + "256~{43}",
    "Twitter": "A" * 22 + "{60}",
    "MaxMind": "{6}" + "_{29}_mmk",
    "Artifactory": "AK" + "Cp{60}",
}


def _of_service(pattern: str) -> tuple[str, str]:
    text, parts = pattern, []
    for seed, name in enumerate(["hex", "hex", *map(str, range(6, 90))]):
        while f"{{{name}}}" in text:
            part = HEX32 if name == "hex" else made(int(name), ascii_letters + digits, seed)
            part = part.upper() if pattern.startswith(("AGE", "API")) else part
            parts.append(part)
            text = text.replace(f"{{{name}}}", part, 1)
    return text, max(parts, key=len)


SECRETS |= {name: [_of_service(pattern)] for name, pattern in _OF_SERVICES.items()}

_UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
INNOCENT = [
    # prose
    "Please reset your password before Monday.",
    "The password is required, and the token is optional.",
    "Passwords: at least twelve characters, no names.",
    "password: must have a digit",
    "Forgot your password? Ask the secretary for a new passport.",
    "A token is a unit of text; a tokenizer makes tokens of it.",
    "The secret of good bread is time.",
    "secret: nobody knows who paid",
    "She is the bearer of bad news.",
    "Basic income and basic needs are basic things.",
    "Basic authentication is off; bearer tokens work.",
    "The key is under the mat, next to the key-board.",
    "Cookies taste best warm.",
    "Use the API key of the test account.",
    "Our author, Ada Lovelace, wrote the passage on page 12.",
    "He passed the exam: 12 pass, 3 fail.",
    "The opinion of the authority on tokenization and passengers.",
    "Key: blue means water.",
    "ends at 10:30, costs 4.50 = cheap",
    "The monkey pinned a note to the keyboard.",
    "the pin code has four digits",
    "The password of the server is rotated every 90 days.",
    "a password of 12 characters, of which 3 are digits",
    "the password policy (new): at least twelve letters",
    "set the field token, then the field user",
    "Tokens: creation, validation and lookup",
    "runs = may_run(scope, shows_token=visitor.shows_token)",
    "def leaving(cancel: CancelToken) -> None:",
    "credentials: tuple[str, ...] = ()",
    "_max_token = 512",
    'given = fields.get("token", "")',
    'rule("secret", "reveal", ahead=10)',
    'names_secret("passport"), is_token("x-ray")',
    "session_id = _SESSION_ID",
    'CREDENTIALS = "https://www.w3.org/2018/credentials#"',
    "and bearer tokens (`cortex-skills token`)",
    "secrets:      # see the page",
    "auth: {type: digest, user: cortex}",
    "[--token NAME] [--credential FILE.json]",
    "replace <token> by the text, then <password> by another",
    "`logic/`), credentials (`signing/`), proofs",
    "Compass and bypass are words; so is hotpink.",
    "Die Autorin hat das Passwort vergessen.",
    "東京 and Zürich",
    "Read the report of 2026 and write a summary.",
    "Ask at ada@example.org or +49 30 1234567.",
    # names
    "hasToken",
    "mayros:hasPassword",
    "passport",
    "author",
    "secretary",
    "schema:accessCode",
    "max_tokens: 4096",
    "total_tokens=1234, prompt_tokens=1000",
    "token_type: bearer",
    "password_length = 12",
    "tokenizer: cl100k_base",
    "author: ada",
    "keyboard = qwertz",
    "primary_key: id",
    "sort_key=name",
    "passed=12 failed=0",
    "password: string",
    "def login(user: str, password: str) -> bool:",
    "token: Optional",
    "password = get_password()",
    "password = os.environ",
    "token=$TOKEN",
    "password: ${{ secrets.DB_PASSWORD }}",
    "api_key: <your key>",
    "secret: null",
    "password: ********",
    "?token a ex:Token .",
    "SELECT ?s WHERE { ?s ex:hasToken ?o FILTER(?o > 5) }",
    # identifiers
    _UUID,
    f"urn:uuid:{_UUID}",
    f"https://example.org/data/{_UUID}",
    f"https://example.org/{HEX64}#it",
    f"http://example.org/Q42?version={HEX40}",
    f"commit {HEX40}",
    HEX32,
    HEX40,
    HEX64,
    HEX64 + HEX64,
    f"sha256:{HEX64}",
    "sha256-" + "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "aGVsbG8gd29ybGQgMTIzNDU2Nzg5MA==",
    "dQw4w9WgXcQ",
    "VGhpcyBpcyBhbiBpZA",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
    "z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB5Q1Z8b7xG7h3D2mJ0k9l8n7b6v5c4x3z2a1s0d9f8g ada@host",
    "ipfs QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKb1zJ",
    "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi",
    "https://drive.example/file/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/view",
    "eyJpZCI6MX0=",
    "/home/Ada1/Projects/CortexSkills2/UserProfilePage/ProfileHeaderView.tsx",
    "src/components/UserProfile2/ProfileHeaderView",
    "a_very_long_snake_case_identifier_with_number_2_in_it",
    "git@github.com:acme/tool.git",
    "ssh://git@github.com/acme/tool.git",
    "http://localhost:8080/users/ada@example.org",
    "mailto:ada.l2@example.org",
    "to:ada2@example.org",
    "urn:x:y2@example.org",
    "https://example.org/?a=1&b=2&state=open&code=de",
    "version 1.2.3-beta.4+build.20260131 of 2026-01-31T12:00:00.000Z",
    "10.0.0.1:8080, fe80::1ff:fe23:4567:890a, 00:1B:44:11:3A:B7",
    "ISBN 978-3-16-148410-0, IBAN of nobody, 1234567890123456789012",
    "mayros:nails mayros:inStock 250",
    "approval 7e4712ab90cd34ef56ab78cd90ef12ab waits",
    "sk-learn and ask-me-anything-about-it",
    "a" * 60,
    "internationalization",
    "X" * 50,
]
