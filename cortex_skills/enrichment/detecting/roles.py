"""What words and signs do beside others, by which the reader tells an English order from a statement.

Rules kept here:
- a role belongs to the word itself, wherever it stands and whatever its categories are; `tables` tells the reader;
- the order of `ROLES` is that of `reader/words.h`.
"""

from __future__ import annotations

# The signs that end sentences and clauses, and quotation marks.
ENDS = frozenset(".!?;…。！？；؟।|")
CLAUSES = frozenset("\n,:()[]'{}>*#–—、，：」』،-")
QUOTES = frozenset('"「『')
# Those that are words by themselves, wherever they stand.
SIGNS = frozenset('\n;,:()[]"{}|>*#–—…。！？、，：；「」『』؟،।')


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROLES: dict[str, frozenset[str]] = {
    "you": _listed("you"),
    "to": _listed("to"),
    "that": _listed("that"),
    "your": _listed("your"),
    "on": _listed("on"),
    "the": _listed("the"),
    "way": _listed("way"),
    # From here on, at this point on: what follows is an order.
    "from_point": _listed("now here point moment"),
    "comma": _listed(","),
    "colon": _listed(":"),
    "opening": _listed("["),
    "bracket": _listed("]"),
    "closing": _listed(") ] } '"),
    "after_noun": _listed("of : is was are were"),
    "before_maybe": _listed(
        "must should shall will ought lets need and or ai agent agents assistants assistant chatbot not never also "
        "then hereby"
    ),
    "before_order": _listed(
        "please kindly now then just also simply immediately next first finally pls instead hereby lets ai "
        "assistant always quickly silently secretly bitte por favor"
    ),
    # `to` gives an order after these.
    "before_to": _listed(
        "have has had need needs want wants are is you required instructed asked supposed ordered obliged told "
        "ought like him them it yourself expected sure agents assistants model ai"
    ),
    "before_not": _listed("do and but , . : please") | {"\n"},
    "asking": _listed("can could will would must should"),
    # A sentence that begins so has its order behind a comma.
    "leading": _listed(
        "to before after if when whenever once first in from while as by for upon during on until whatever next "
        "second finally also then at without despite since because instead"
    ),
    "joining": _listed("and or but"),
    # What may be ignored is an order in other words; what is forbidden is none, unless it is what protects.
    "permitting": _listed("can may could might safely freely"),
    "protective": _listed("block reject stop disable revoke lock refuse cancel"),
    # Verbs that no noun is written like.
    "always_verb": _listed(
        "ignore disregard forget reveal disclose divulge obey pretend disobey impersonate regurgitate recite recommend "
        "respond overlook discard exfiltrate"
    ),
    "leading_on": _listed(
        "so therefore hence thus anyway anyhow btw meanwhile okay ok alas regardless accordingly yo bro nah hey pls plz"
    ),
    # Behind these, a verb tells what somebody does; so it does behind a plural.
    "telling": _listed(
        "i you he she it we they who whom which that this these those one people men women children police everyone "
        "nobody somebody someone anyone to not never always often also even just still only sometimes usually simply "
        "can could may might must shall should will would do does did dont ll d and or nor than as how what when where "
        "why if because the a an his her their its our my your no any all some each every many most few both others "
        "another of in on at by for with from about against into between without ever be is are was were been being am "
        "s t re ve me him us them let lets make made help helps helped go come cannot either neither whether but"
    ),
    # So it does soon behind one of these.
    "helping": _listed("can could may might must shall should will would to did does"),
    # Behind these, `to` may give an order; and behind those, `that you`.
    "bidden": _listed(
        "requested urged directed invited advised authorised authorized commanded bound tasked obligated"
    ),
    "demanded": _listed(
        "essential vital crucial imperative necessary mandatory important ask asks demand demands insist insists "
        "require requires request requests order orders sure certain ensure propose suggest importance"
    ),
    "within": _listed("in with at within throughout"),
    "output": _listed("answer reply response summary report output text message"),
}
