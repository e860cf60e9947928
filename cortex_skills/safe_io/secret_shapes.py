"""What secrets look like without a name: keys of services, private keys, passwords in addresses and in commands.

Rules kept here:
- a word of a text is searched only if it is long enough, and a pattern of several words only in a text that has one of
  its marks; all of it takes time that grows as the text does;
- an identifier is no secret: UUIDs, digests in hexadecimal, IRIs, names, public keys and hashes of files stay.
"""

from __future__ import annotations

import base64
import codecs
import re
from collections.abc import Callable

from cortex_skills.safe_io.secret_names import words_of

MASK = "[redacted]"

SHORTEST_WORD = 14
_SHORTEST_RANDOM = 40

# How the keys of services begin; what follows has `_BODY` with a digit, or is long and of both cases. Case counts.
_PREFIXES = words_of(
    """
    sk- sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ whsec_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat-
    gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas- glffct- GR1348941 xoxa- xoxb- xoxe- xoxe. xoxo-
    xoxp- xoxr- xoxs- xapp- xwfp- AIza ya29. GOCSPX- 1//0 hf_ api_org_ npm_ pypi-AgE rubygems_ dckr_pat_ dckr_oat_
    CLOJARS_ oy2 dop_v1_ doo_v1_ dor_v1_ shpat_ shpss_ shpca_ shppa_ sq0atp- sq0csp- sq0idp- EAAA SG. xkeysib-
    lin_api_ lin_oauth_ ntn_ pat-na1- pat-eu1- figd_ PMAK- dp.pt. dp.st. dp.ct. dp.scim. dp.audit. hvs. hvb. hvr.
    ATATT3 ATCTT3 ATBB BBDC- NRAK- NRII- NRJS- NRBR- NRRA- NRAL- glc_ glsa_ sntrys_ sntryu_ phc_ phx_ CFPAT- fo1_
    fm1_ fm1r_ fm1a_ fm2_ pscale_tkn_ pscale_pw_ pscale_oauth_ AGE-SECRET-KEY-1 sbp_ sb_secret_ r8_ gsk_ pplx- xai-
    nvapi- tvly- dapi ops_eyJ lsv2_pt_ lsv2_sk_ pul- pnu_ sgp_ HRKU- nfp_ rnd_ LTAI AKID SCW AKCp EZAK EZTK
    duffel_live_ duffel_test_ ion_ shippo_live_ shippo_test_ FLWSECK- FLWSECK_TEST- tk-us- cio-gp- zpka_ waka_ rdme_
    ABSK xprv z3u2 access_token$ postman- snyk_ sl. AP- KGAT_ sdk- mob- tskey- lip_ ddp_ dd_api_ MDAx jina_ AQVN t1.
    pdl_live_ pdl_sdbx_ cfut_ EAACEdEose0cBA dt0c01. aio_ AKC sm_pat_ squ_
    sqp_ sqa_ fio-u- dnkey- tfp_ ico- pubkey- access-sandbox- access-production- access-development- gpk_
    s-s4t2ud- s-s4t2af-
    """
)
_BODY = re.compile(
    r"(?:(?=[\w+/=.~$-]{0,40}[0-9])|(?=[a-z]{0,20}[A-Z])(?=[A-Z]{0,20}[a-z])(?=[A-Za-z]{32}))"
    r"[\w+/=~$-]{4}[\w+/=.~$-]{8,}+"
)
_OWN_SHAPES = {  # those that need another shape behind their beginning
    "AKIA ASIA ABIA ACCA A3T": r"[A-Z0-9]{12,}+",
    "AC SK": r"[0-9a-f]{32}\b",
    "key-": r"[0-9a-f]{32}\b",
    "s.": r"[A-Za-z0-9]{24}\b",
    "secret_": r"[A-Za-z0-9]{40,}+",
    "re_": r"[A-Za-z0-9]{6,}_[A-Za-z0-9]{16,}+",
    "EAA": r"[A-Za-z0-9]{60,}+",
    "pat": r"[A-Za-z0-9]{14}\.[0-9a-f]{64}",
    "pat. sat.": r"[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}",
    "cio": r"[A-Za-z0-9]{32}\b",
    "1/": r"[0-9]{10,}:[0-9a-f]{32}",
    "API-": r"[A-Z0-9]{26}\b",
    "v1.0-": r"[0-9a-f]{24}-[0-9a-f]{60,}+",
    "ZXlK": r"[\w+/=]{20,}+",
    "AAAAAAAAAA": r"A{8,}[\w%]{20,}+",
    "AAAA": r"[\w-]{7}:[\w-]{60,}+",
    "mfa.": r"[\w-]{60,}+",
    "eyJ": r"[\w-]{5,}+\.[\w-]{4,}+(?:\.[\w-]*){0,3}",
    "LS0tLS1CRUdJTi": r"[\w+/=]{8,}+",
}
_ADDRESSES = "mailto|acct|xmpp|sips?|to|cc|bcc|from|urn|e-?mail|did|ssh|git|scp|file"
_WITHIN = (  # those that begin with something else
    (":AA", re.compile(r"\b[0-9]{8,10}:AA[\w-]{30,}+")),
    ("-us", re.compile(r"\b[0-9a-f]{32}-us[0-9]{1,2}\b")),
    (".atlasv1.", re.compile(r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{16,}+")),
    ("sha256~", re.compile(r"\bsha256~[\w-]{40,}+")),
    ("_mmk", re.compile(r"\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b")),
    ("Q~", re.compile(r"(?<![\w~.-])[\w~.-]{3}[0-9]Q~[\w~.-]{30,}+")),
    ("@", re.compile(r"(?<=:)(?<!://)[^\s:@/\"']{3,}+(?=@(?:(?:tcp|unix)\(|[\w.-]+:[0-9]{2,5}\b))")),
    (
        "@",
        re.compile(
            rf"((?<![\w:/@])(?!(?:{_ADDRESSES}):)[\w.-]+:)(?=[^\s:@/\"']*[0-9])[^\s:@/\"']{{4,}}+(?=@[\w-]+\.\w)"
        ),
    ),
    ("thin:", re.compile(r"(\bthin:[\w.-]+/)[^\s@/\"']++(?=@)")),
    (":5432:", re.compile(r"((?<![\w:])[A-Za-z*][\w.*-]*+:5432:[^:\s]++:[^:\s]++:)[^\s\"'\\]++")),
    (":*:", re.compile(r"((?<![\w:])[A-Za-z*][\w.*-]*+:[0-9*]{1,5}:[^:\s]++:[^:\s]++:)[^\s\"'\\]++")),
    (".", re.compile(r"\b[MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,}+")),
    (
        "$",
        re.compile(
            r"\$(?:[126]|2[abxy]|5|y|7|apr1|argon2(?:i|d|id)|scrypt|pbkdf2[\w-]*)\$(?:[^\s:\"',]|,(?=[a-z]=)){8,}+"
        ),
    ),
    ("{", re.compile(r"\{S?(?:SHA|SHA256|SHA512|MD5|CRYPT)\}[\w+/=$.]{12,}+")),
)
_START = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9].")
_RUN = re.compile(r"(?<![A-Za-z0-9+/_=.:#@%~-])(?<!base64,)[A-Za-z0-9+/_-]{40,}+={0,2}")
_PUBLIC = re.compile(r"sha[0-9]{3}-|AAAA[A-Z][0-9A-Za-z]NzaC1|AAAAE2VjZHNh|AAAAGnNr|z6Mk|Qm[1-9A-HJ-NP-Za-km-z]{44}$")
_LAYOUT = dict.fromkeys(map(ord, "\r\n\t"))
_URL_SAFE = str.maketrans("-_", "+/")
_PUBLIC_BLOCK = re.compile(  # a certificate or public key, of which no line is anything else
    r"(-{5}BEGIN (?:TRUSTED |RSA |EC |PGP )?(?:CERTIFICATE|PUBLIC KEY)(?: REQUEST| BLOCK)?-{5}\s*+"
    r"(?:\\*[rn])*+(?:[A-Za-z0-9+/=]{1,76}(?:\s++|(?:\\++[rn])++|\Z))++(?:-{5}END|…|\Z))"
)
_CHANGE = re.compile(r"[a-z](?![a-z])|[A-Z](?![A-Z])|[0-9](?![0-9])")
_AUTHORITY = re.compile(r"(?<=://)[^\s/?#\"'<>]+")
_ACCOUNTS = frozenset({"git", "anonymous"})
_WEB = ("http://", "https://", "ftp://", "ws://", "wss://")
_QUERY = re.compile(
    r"(?i)((?:[?&]|\b)(?:x-amz-|x-goog-)?(?:sig|signature|credential|key|code|state|sid|hash)=)[^&\s\"'<>#]{16,}+"
)
_HOOK = re.compile(
    r"((?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks|[\w-]+\.webhook\.office\.com"
    r"|hooks\.zapier\.com/hooks/catch|api\.telegram\.org/bot|api\.softlayer\.com/soap/v3(?:\.1)?|maker\.ifttt\.com/trigger)/?)[^\s\"'<>]{8,}+"
)
_HOOK_MARKS = ("hooks", "webhook", "api.telegram", "softlayer", "ifttt")

# Secrets of several words: each with the marks of which a folded text must have one, and what replaces a match.
_KEY_BLOCK = r"-{4,5} ?BEGIN [A-Z0-9 ]*(?:PRIVATE KEY|SECRET)[A-Z0-9 ]*-{4,5}.*?(?:-{4,5} ?END [A-Z0-9 ]*-{4,5}|\Z)"
_CREDENTIAL = r"(?=[^\s\"',;]*(?:[0-9=]|[._](?=\w)|[a-z][A-Z])|[^\s\"',;]{24})[\w.~+/=:-]{6,}+"
_LOGIN = r"(?:docker|podman|az|helm)\b[^\n|;]{0,80}?\blogin\b[^\n|;]{0,200}?\s-p"
_LDAP = r"ldap(?:search|modify|add|passwd)\b[^\n|;]{0,200}?\s-w"
_MYSQL = r"(?:mysql(?:dump|admin|import)?|mariadb(?:-dump)?|7z)\b[^\n|;]{0,200}?\s-p"
_STATED = (
    r"password|pass ?phrase|passcode|passwd|pin(?: code)?|(?:api|access|secret|private) key|token|secret"
    r"|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|пароль"
)
_STATES = r"is|was|to|ist|lautet|est|es|é"
_MIXED = r"(?!\\|(?:sha|md|aes|rsa)[0-9])(?=[^\s\"'`]*[0-9])(?=[^\s\"'`]*[^\W\d_])[^\s\"'`]{6,}+"  # letters and digits
_PHRASES = (
    (("----",), re.compile(f"(?s){_KEY_BLOCK}"), MASK),
    (("private-lines",), re.compile(r"(?s)(Private-Lines: [0-9]+\s).*?(?=Private-MAC|\Z)"), rf"\1{MASK}\n"),
    (
        ("bearer", "basic", "ssws"),
        re.compile(rf"\b(?:[Bb]earer|BEARER|[Bb]asic|BASIC|SSWS)\s++{_CREDENTIAL}"),
        MASK,
    ),
    (
        ("identified",),
        re.compile(r"(?i)(\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?['\"])[^'\"]++"),
        rf"\1{MASK}",
    ),
    (
        ("passw", "pwd", "secret ", "пароль", "kennwort"),
        re.compile(
            rf"(?i)(\b(?:(?:password|passwd|pwd|passwort|kennwort|пароль)\s+|(?:password|secret)\s+[0-9]\s+)){_MIXED}"
        ),
        rf"\1{MASK}",
    ),
    (("login",), re.compile(r"(\blogin\s+\S+\s+password\s+)\S++"), rf"\1{MASK}"),
    (
        ("mot de passe", "parola d", "palabra de paso"),
        re.compile(
            rf"(?i)(\b(?:mot de passe|parola d[’']ordine|palabra de paso)\s{{0,3}}[:=]\s{{0,3}}[\"'«]?){_MIXED}"
        ),
        rf"\1{MASK}",
    ),
    (
        ("auth ", "login "),  # SMTP and IMAP
        re.compile(rf"((?<![\w.-])(?:AUTH (?:PLAIN|LOGIN|XOAUTH2)|AUTHENTICATE PLAIN|LOGIN \S+)[ \t]+[\"']?){_MIXED}"),
        rf"\1{MASK}",
    ),
    (
        ("pass", "pin", " key", "token", "secret", "kennwort", "contrase", "senha", "wachtwoord", "пароль"),
        re.compile(
            rf"(?i)(\b(?:{_STATED})(?:\s+\w+){{0,5}}?\s+(?:{_STATES})(?:\s+now)?:?\s+[\"'`]?)"
            rf"(?:{_MIXED}|[0-9]{{4,8}}\b(?![-.]\w))"
        ),
        rf"\1{MASK}",
    ),
)
_COMMANDS = tuple(  # the same of commands: in texts with an option
    (marks, re.compile(pattern), rf"\1{MASK}")
    for marks, pattern in (
        (
            ("-u", "-user"),  # but `-u 1000:1000`, a user and a group
            r"((?<!\S)(?:-u|-U|--(?:proxy-)?user)[ =]?[\"']?(?![0-9]+:[0-9]+(?!\S))[^\s:\"'=]{1,64}[:%])[^\s\"']++",
        ),
        (
            ("mongo", "user", "sqlcmd", "ipmitool", "keygen", "http"),
            r"\b((?:(?:mongo(?:sh|dump|restore|export|import)?|user(?:add|mod)|sqlcmd|ipmitool)\b[^\n|;]{0,200}?\s-[pP]"
            r"|ssh-keygen\b[^\n|;]{0,200}?\s-N|https?\s[^\n|;]{0,200}?-a\s+[^\s:]+:)\s*[\"']?)[^\s\"'-][^\s\"']*+",
        ),
        (("mysql", "mariadb", "7z"), rf"\b({_MYSQL})[^\s\"']{{4,}}+"),
        (
            ("sshpass", "redis-cli", "login", "ldap", "zip"),
            rf"\b((?:sshpass\s+-p|redis-cli\b[^\n|;]{{0,200}}?\s-a|{_LOGIN}|{_LDAP}|(?:un)?zip\s+-P)\s*[\"']?)"
            r"[^\s\"'-][^\s\"']*+",
        ),
        (("pass:",), r"(-pass(?:in|out)\s+pass:)\S++"),
        (("htpasswd",), r"(\bhtpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+)\S++"),
    )
)


def _patterns() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """The patterns of keys of services by their first two characters."""
    own = [(prefix, re.compile(body)) for names, body in _OWN_SHAPES.items() for prefix in names.split()]
    found: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for prefix, body in [*own, *((prefix, _BODY) for prefix in _PREFIXES)]:
        found.setdefault(prefix[:2], []).append((prefix, body))
    return found


_BY_START = _patterns()


# Words that were found to hold no secret: names of the graph are in one answer after the other.
_PLAIN_WORDS = set[str]()
_MOST_PLAIN, _LONGEST_PLAIN = 4096, 128


def without_phrases(text: str, folded: str) -> str:
    """A text without secrets of several words; `folded` is the text, case-folded."""
    if " " not in text and "\n" not in text and "\t" not in text:
        return text
    for marks, pattern, replacement in _PHRASES if " -" not in text else _PHRASES + _COMMANDS:
        for mark in marks:
            if mark in folded:
                text = pattern.sub(replacement, text)
                break
    return text


def without_words(text: str, has_secret: Callable[[str], bool]) -> str:
    """A text without words that are secrets, or hold one; `has_secret` judges what a word in base64 says."""
    if "-----BEGIN " in text and len(pieces := _PUBLIC_BLOCK.split(text)) > 1:
        pieces[::2] = (without_words(piece, has_secret) for piece in pieces[::2])
        return "".join(pieces)
    for word in text.split():
        if len(word) < SHORTEST_WORD or word.isalpha() or word in _PLAIN_WORDS:
            continue
        if (shown := _shown_word(word, has_secret)) != word:
            text = text.replace(word, shown)
        elif len(word) <= _LONGEST_PLAIN:
            if len(_PLAIN_WORDS) >= _MOST_PLAIN:
                _PLAIN_WORDS.clear()
            _PLAIN_WORDS.add(word)
    return text


def _shown_word(word: str, has_secret: Callable[[str], bool]) -> str:
    if "://" in word:
        word = _shown_address(word)
    if "&" in word or "?" in word:
        word = _QUERY.sub(rf"\1{MASK}", word)
    pieces, done = [], 0
    for start in _START.finditer(word):
        place = start.start()
        if place >= done and start[0] in _BY_START and (end := _end_of_key(word, place, start[0])):
            pieces += [word[done:place], MASK]
            done = end
    word = "".join([*pieces, word[done:]]) if done else word
    for mark, pattern in _WITHIN:
        if mark in word:
            word = pattern.sub(_shown_part, word)
    return _RUN.sub(lambda run: _shown_run(run, has_secret), word) if len(word) >= _SHORTEST_RANDOM else word


def _shown_part(found: re.Match[str]) -> str:
    """What is before a secret, where the pattern has that as its group."""
    return (found[1] if found.re.groups else "") + MASK


def _end_of_key(word: str, place: int, start: str) -> int:
    """Where the key of a service ends that begins at a place; 0 if there is none."""
    for prefix, body in _BY_START[start]:
        if word.startswith(prefix, place) and (found := body.match(word, place + len(prefix))):
            return found.end()
    return 0


def _said(run: str) -> str:
    """The text that a run of characters is in base64; empty if it is none."""
    whole = run.rstrip("=").translate(_URL_SAFE)
    try:
        text, _ = codecs.utf_8_decode(base64.b64decode(whole + "=" * (-len(whole) % 4)))  # which may be cut
    except ValueError:
        return ""
    return text if text.translate(_LAYOUT).isprintable() else ""


def _shown_run(found: re.Match[str], has_secret: Callable[[str], bool]) -> str:
    """A run of characters without what looks random: letters of both cases and digits that change often."""
    run = found[0]
    if run.islower() or run.isupper() or run.startswith("/") or _PUBLIC.match(run) or not any(map(str.isdigit, run)):
        return run
    if len(_CHANGE.findall(run)) < 0.4 * len(run):
        return run
    said = _said(run)
    return MASK if not said or has_secret(said) else run


def _shown_address(word: str) -> str:
    if "@" in word:
        is_web = any(scheme in word for scheme in _WEB)
        word = _AUTHORITY.sub(lambda found: _shown_authority(found[0], is_web), word)
    if any(mark in word for mark in _HOOK_MARKS):
        word = _HOOK.sub(rf"\1{MASK}", word)
    return word


def _shown_authority(authority: str, is_web: bool) -> str:
    """The part of an address before its path, without a password or a token before the `@`.

    On the web a user that is alone there is mostly a token.
    """
    user, at, host = authority.rpartition("@")
    if not at or (":" not in user and (user in _ACCOUNTS if is_web else len(user) < 16 or user.isalpha())):
        return authority
    return f"{MASK}@{host}"
