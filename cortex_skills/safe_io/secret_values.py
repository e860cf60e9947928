"""Values in a text that the name before them makes secrets: `DB_PASS=x`, `"pass": "x"`, `Cookie: x`, `--token x`.

Rules kept here:
- names are those of `secret_names`, in any notation: JSON and YAML, variables, headers, options, calls, elements of
  XML, forms;
- a value ends with its quote, or else where the notation ends it; headers and phrases end with the line;
- what stands for a value is none: a type, a placeholder, a variable, a call of a function, a word of a sentence;
- only the words are read that have a mark of such a name, each of them once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cortex_skills.safe_io.secret_names import MARKS, folded_name, is_folder, naming, stated_by, words_of
from cortex_skills.safe_io.secret_shapes import MASK

_QUOTE = r"\\{0,7}[\"'`]{1,3}|&quot;|&#(?:34|39);|%2[27]|”|’"
_NAME = re.compile(
    rf"(?<![\w.-])(?P<name>[\w.-]++)(?P<close>(?:{_QUOTE}|[\])\\]|\*\*|__|>){{0,4}})"
    r"(?:[ \t]\([^()\n]{1,30}\))?[ \t]*+(?P<sep>=>|:=|->|<-|={1,3}|[-–—|](?=[ \t])|!==?|:|%(?:25)*3[AaDd]"
    r"|(?<![ \t])\((?=[\"'])|,[ \t]*+(?=[\"'])|(?=[\"'`]|\\{1,7}[\"']|[0-9]{4}))"
    r"(?:\*\*|__)?[ \t]*+(?:[!&][\w-]++[ \t]+)?"
)
_WORD = re.compile(r"[\w.-]++")
_OPEN = re.compile(rf"(?:\b[bfru]|@)?({_QUOTE})")
_BARE = re.compile(r"(?:[^\s\"'`,;&\\<|]|[,;&|](?!\s|\Z|[\w.%-]+=)|\\(?![nrt\"'\\/])|(?<=[^\s,;:=])['\"](?=\w))++")
_LINE = re.compile(r"(?:=\\{0,7}\"[^\r\n\"]*+\"|[^\r\n\"])*+")  # a parameter of a header may be quoted
_DASHES = frozenset(["-", "–", "—", "|", "->", "<-"])  # a value behind these is one if it looks like a password
_FIRST_OF_TWO = re.compile(r"(?:\[|(?<!\w)\() ?[\"']\Z")
_SECOND_OF_TWO = re.compile(r"([\"'])(?=[^\"']*[0-9])(?=[^\"']*[^\W\d_])[^\"'\n]{6,}+\1 ?[\])]")
_LETTERS_AND_DIGITS = re.compile(r"[\"']?(?=[^\s\"'|]*[0-9])(?=[^\s\"'|]*[^\W\d_])[^\s\"'|(<]{6,}")
_BELOW = re.compile(  # a value alone in the line below its name, with letters and digits
    r"\r?\n[ \t]*[\"']?"
    r"((?=[^\s\"']*[0-9])(?=[^\s\"']*[^\W\d_])[^\s:\"'(#-][^\s:\"'(]{4,})[\"']?[ \t]*(?=\r?\n|\Z|[\"'])"
)
_BLOCK = re.compile(r"[|>][+-]?[0-9]?[ \t]*\r?\n((?:[ \t]+[^\n]*(?:\n|\Z))+)")
_NEXT_WORD = re.compile(r"[ \t]+[^\W_]")
_ANNOTATION = re.compile(r"[^\S\n]*=(?![=>])[^\S\n]*")
_OPTION = re.compile(
    r"(?<![\w-])--?(?P<name>[A-Za-z][\w-]++)[ \t]++(?P<value>(?![-|&;<>])[^\s\"'`]++|\"[^\"\n]*+|'[^'\n]*+)"
)
_NAMES_VALUE = re.compile(r"[A-Z_|]{2,}|[\w./~-]+\.(?:json|pem|key|txt|ya?ml|p12|pfx|crt|cer|env|toml|md)")
_ELEMENT = re.compile(r"<(?P<name>[\w:.-]++)(?:\s[^<>]*+)?>(?:(?P<value>[^<>]++)</|(?P<bare>\w[^<>]*+)\Z)")
_PAIR = re.compile(
    r"\b(?:name|key|header|variable|field|env|type|id|property)\\*[\"']?\s*[:=]\s*\\*[\"']?(?P<name>[\w.-]++)\\*[\"']?[,;]?\s+"
    r"\\*[\"']?(?:value|content)\\*[\"']?\s*[:=]\s*"
    r"(?:\\*\"(?P<value>[^\"\\]++)|'(?P<single>[^']++)|(?P<bare>[^\s\"'\\][^\s,}\"']*+))"
)
_INSTRUCTION = re.compile(
    r"(?<![A-Za-z0-9.-])(?:ENV|ARG|SetEnv|setenv|setx|config(?:ure)?[ \t]set|set[ \t]-\w+|(?:add|set)_header)"
    r"[ \t]+(?P<name>[\w-]++)[ \t]+(?P<value>[^\s\"'\\]++)"
)
_NAMED_ELEMENT = re.compile(
    r"<[\w:.-]++\s[^<>]{0,200}?\b(?:name|key)=\\*[\"'](?P<name>[\w.-]++)\\*[\"'][^<>]{0,200}?>(?P<value>[^<>]++)</"
)
_PROPERTY = re.compile(r"<key>(?P<name>[\w.-]++)</key>\s*<string>(?P<value>[^<>]++)</")
_ATTRIBUTE = re.compile(r"<(?P<name>[\w:.-]++)\s[^<>]{0,200}?\bvalue=\\*[\"'](?P<value>[^\"'<>\\]++)")
_DEFAULT = re.compile(  # of Terraform
    r"\bvariable\s+\\*\"(?P<name>[\w-]++)\\*\"\s*\{[^{}]{0,300}?\bdefault\s*=\s*\\*\"(?P<value>[^\"\\\n]++)"
)
_PART = re.compile(r"\bname=\"(?P<name>[\w.-]++)\"[^\n]{0,100}\n\r?\n(?P<value>[^\r\n]++)")
_OTHER_NOTATIONS = (
    ("-", _OPTION),
    (">", _ELEMENT),
    ("value", _PAIR),
    ("content", _PAIR),
    ("=", _NAMED_ELEMENT),
    ("<key>", _PROPERTY),
    ("value=", _ATTRIBUTE),
    ("default", _DEFAULT),
    ("name=", _PART),
    ("ENV", _INSTRUCTION),
    ("ARG", _INSTRUCTION),
    ("set", _INSTRUCTION),
    ("Set", _INSTRUCTION),
)
_PRIVATE_PART = re.compile(r"(\\*\"(?:d|p|q|dp|dq|qi|k)\\*\"\s*:\s*\\*\")[\w-]{8,}+")
_WHOLE_LINE = frozenset(
    [
        "authorization",
        "proxy_authorization",
        "cookie",
        "set_cookie",
        "passphrase",
        "mnemonic",
        "seed_phrase",
        "recovery_phrase",
    ]
)
_SETTERS = frozenset(["set", "with", "use", "add", "put", "new", "header", "append", "define", "setenv", "putenv"])
_CALLED = re.compile(r"(\w*)\([\"'`]\Z")
_NOTHING = ('""', "''", "``")  # a value that is empty
_TEMPLATES = ("${", "{{", "http://", "https://")
_IDENTIFIER = re.compile(r"[A-Za-z_.]+")
_SECOND = frozenset(["key", "keys", "word", "phrase", "code", "codes", "string", "secret", "token"])
_FIRST_WORD = re.compile(r"([A-Za-z]{2,20})[ \t]\Z")
_WORDS = "|".join(
    words_of(
        """
    string str bytes bytestring int bool boolean any object text varchar char optional required none null nil true false
    yes no undefined unknown missing invalid expired unset empty incorrect wrong correct valid changed ok failed needed
    tbd n/a never always bearer basic digest oauth2? ntlm kerberos saml oidc
    include omit same-origin enabled disabled on off password passwd secret token key
    """
    )
)
_STANDS_FOR = re.compile(
    r"(?i)[|>][+-]?[0-9]?|#+"
    r"|\$\{.*|\$\(.*|\{\{.*|%\w+%|%\(\w+\).*|[*x•.…]{2,}|\[?(?:redacted|secret|hidden|masked)\]?"
    rf"|your[-_ ]\w[\w -]*|(?:{_WORDS})(?:[\]?!.)|]|\[\])*"
)
_HOLDERS = "|".join(
    words_of(
        """
    os process self this settings config cfg env args opts options params secrets vars? local data request req ctx
    module credentials user app sys event
    """
    )
)
_VARIABLE = re.compile(
    rf"\([A-Za-z_].*|[A-Za-z_][\w.]*\[.*|\$[A-Z_][A-Z0-9_]*\}}?|\$[a-z_]+;?|[A-Za-z_][\w.]*\(.*|(?:{_HOLDERS})\.[A-Za-z_][\w.]*(?:\[.*)?"
)


def without_values(text: str, folded: str) -> str:
    """A text in which the values of names of secrets are replaced; `folded` is the text, case-folded."""
    marks = [mark for mark in MARKS if mark in folded]
    if '"kty' in folded:
        text = _PRIVATE_PART.sub(rf"\1{MASK}", text)
        folded = text.casefold()
    if not marks:
        return text
    pieces: list[str] = []
    done = 0
    for found in _names_in(text, folded, marks):
        if found.start() >= done and (span := _value_of(text, found)) is not None:
            pieces += [text[done : span[0]], MASK]
            done = span[1]
    if done:
        text = "".join([*pieces, text[done:]])
    for sign, pattern in _OTHER_NOTATIONS:
        if sign in text:
            text = pattern.sub(_option_value if pattern is _OPTION else _named_value, text)
    return text


def _names_in(text: str, folded: str, marks: list[str]) -> Iterator[re.Match[str]]:
    """The words that have a mark, in their order, where something follows that may be a value."""
    if len(folded) != len(text):
        yield from _NAME.finditer(text)
        return
    places = []
    for mark in marks:
        place = folded.find(mark)
        while place >= 0:
            places.append(place)
            place = folded.find(mark, place + len(mark))
    end = 0
    for place in sorted(places):
        if place >= end:
            start = place
            while start > end and (text[start - 1].isalnum() or text[start - 1] in "_.-"):
                start -= 1
            word = _WORD.match(text, start)
            end = start + 1 if word is None else word.end()
            if (found := _NAME.match(text, start)) is not None:
                yield found


def _option_value(found: re.Match[str]) -> str:
    """A match of an option, whose value is no secret where it is the name of a value or a file: `--token NAME`."""
    value = found["value"]
    return found[0] if _NAMES_VALUE.fullmatch(value.rstrip(")],.;")) else _named_value(found)


def _named_value(found: re.Match[str]) -> str:
    """A match without its value, if its name is that of a secret."""
    if not naming(found["name"]):
        return found[0]
    group = next(
        name for name in ("value", "single", "bare") if name in found.re.groupindex and found[name] is not None
    )
    value = found[group].lstrip("\"'")
    if not value.strip() or _STANDS_FOR.fullmatch(value) or _VARIABLE.fullmatch(value):
        return found[0]
    start, end = (place - found.start() for place in found.span(group))
    return f"{found[0][: end - len(value)]}{MASK}{found[0][end:]}" if start >= 0 else found[0]


def _value_of(text: str, found: re.Match[str]) -> tuple[int, int] | None:
    """Where the value begins and ends that belongs to a name; None if it is no secret."""
    name, close, sep = found["name"], found["close"], found["sep"]
    kind = naming(name) if sep else stated_by(name)
    if kind in ("", "weak") and name.casefold() in _SECOND:
        before = _FIRST_WORD.search(text, max(0, found.start() - 24), found.start())
        kind = kind if before is None else naming(f"{before[1]}_{name}") or kind
    if not kind or (sep == "" and kind != "strong") or (sep.startswith(",") and not _is_passed(text, found, kind)):
        return None
    if sep == "":  # of a command, or the object of a statement: `ex:password "x"`
        is_predicate = close == ">" or (not close and text[found.start() - 1 : found.start()] == ":")
        is_number = text[found.end()].isdigit()
        if text[found.end() - 1] not in " \t" or (not is_predicate and (close or is_number)):
            return None
    if sep in _DASHES and (kind != "strong" or not _LETTERS_AND_DIGITS.match(text, found.end())):
        return None
    if sep == "(" and not _is_call(name):
        return None
    return _end(text, found, kind, found.end())


def _is_passed(text: str, found: re.Match[str], kind: str) -> bool:
    """Whether a quoted name is the first argument of a call, or item of a pair, and the value the second."""
    if _FIRST_OF_TWO.search(text, max(0, found.start() - 3), found.start()) and _SECOND_OF_TWO.match(text, found.end()):
        return True
    called = _CALLED.search(text, max(0, found.start() - 40), found.start())
    if called is None:
        return False
    return kind == "strong" or not _SETTERS.isdisjoint(folded_name(called[1]).split("_"))


def _is_call(name: str) -> bool:
    """Whether a function with this name takes a secret: `setPassword`, `api_key`; `names_secret` does not."""
    first, *rest = folded_name(name).split("_")
    return first in _SETTERS or (len(rest) < 2 and "." not in name and naming(first) != "") or naming(name) == "strong"


def _end(text: str, found: re.Match[str], kind: str, start: int) -> tuple[int, int] | None:
    name, close, sep = found["name"], found["close"], found["sep"]
    if sep == ":" and (block := _BLOCK.match(text, start)):
        return block.span(1)
    if sep == ":" and kind != "weak" and (below := _BELOW.match(text, start)) and not _stands_for(below[1]):
        return below.span(1)
    if opened := _OPEN.match(text, start):
        begin = opened.end()
        if opened[1].strip("\\") in _NOTHING:
            return None
        end = _end_of_quoted(text, begin, opened[1])
        value = text[begin:end]
        is_name = sep == "(" or sep.startswith(",")
        if not value or _STANDS_FOR.fullmatch(value) or value.startswith(_TEMPLATES) or (is_name and naming(value)):
            return None
        return begin, end
    if folded_name(name) in _WHOLE_LINE and not close:
        line = _LINE.match(text, start)
        outer = text[found.start() - 1 : found.start()]
        end = line.end() if line is not None else start
        if outer in ("'", "`") and outer in text[start:end]:
            end = text.index(outer, start)
        return None if _stands_for(text[start:end].strip()) else (start, end)
    if text[start : start + 1] in ("[", "{") or text[start : start + 2] in ("('", '("'):
        holds_texts = close or (text[start] != "{" and (sep == ":" or text[start + 1 : start + 2] in ("'", '"')))
        if holds_texts or sep == ":" or text[start] == "[":
            return (start, _end_of_structure(text, start)) if holds_texts else None
    bare = _BARE.match(text, start)
    if bare is None:
        return None
    end = bare.end()
    value = bare[0].rstrip(".!?") if sep == ":" else bare[0]
    while value[-1:] in (")", "]", "}") and value.count(value[-1]) > value.count(
        {")": "(", "]": "[", "}": "{"}[value[-1]]
    ):
        value = value[:-1]
    if not value or is_folder(name, value) or (kind == "weak" and value.replace(".", "").isdigit()):
        return None
    if sep == ":" and (typed := _ANNOTATION.match(text, end)) and value.isidentifier():
        return _end(text, found, kind, typed.end())
    is_word = not close.strip("`)]*_") and value.isalpha()
    if kind == "weak" and sep == ":" and value.rstrip(",;").isalpha() and not close:
        return None
    is_sentence = sep == ":" and is_word and _NEXT_WORD.match(text, end) is not None
    if is_sentence or _stands_for(value) or value.startswith(("http://", "https://")):
        return None
    if ("_" in value or "." in value or value.casefold() == name.casefold()) and _IDENTIFIER.fullmatch(value):
        return None if naming(value) else (start, start + len(value))
    return start, start + len(value)


def _stands_for(value: str) -> bool:
    return _STANDS_FOR.fullmatch(value) is not None or _VARIABLE.fullmatch(value) is not None


def _end_of_quoted(text: str, begin: int, quote: str) -> int:
    """Where a quoted value ends: at the same quote that is not escaped, or with its line."""
    line = text.find("\n", begin) if len(quote) < 3 else -1
    limit = len(text) if line < 0 else line
    place = begin
    while (place := text.find(quote, place, limit)) >= 0:
        escapes = 0
        while place - escapes > begin and text[place - escapes - 1] == "\\":
            escapes += 1
        if escapes % 2 == 0:
            return place
        place += 1
    return limit


def _end_of_structure(text: str, start: int) -> int:
    """Where a list or an object ends; the end of the text if it does not."""
    depth = 0
    for found in re.compile(r"[\[\]{}()]").finditer(text, start):
        depth += 1 if found[0] in "[{(" else -1
        if depth == 0:
            return found.end()
    return len(text)
