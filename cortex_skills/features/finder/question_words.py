"""The words that make a query a question, and are not what it is about: `when`, `did`, `she`.

Rules kept here:
- question words, auxiliary verbs and pronouns of English, German, French, Spanish, Italian, Portuguese and Dutch;
- a word that names a thing in one of these languages is not in the list: `era`, `hat`, `hoe`, `mir`, `US`.
"""

from __future__ import annotations

from cortex_skills.features.finder.words import without_accents, words

_WORDS = """
    about am any aren't been being can could did didn't do does doesn't doing don't during each ever from had hadn't
    has hasn't have haven't having he her hers him his how i i'm isn't its may me might must my our ours shall she
    should so some than them those wasn't we were weren't what when where which while who whom whose why would you your
    yours wann was wer wem wen wessen wo woher wohin womit wofür woran worüber wie wieviel wieso weshalb weswegen warum
    welche welchem welchen welcher welches habe haben hatte hatten ist sind waren wurde wurden wird werden kann können
    ich mich dich sie ihr ihm ihn uns euch mein meine dein deine sein seine unser
    quand qui que quoi quel quelle quelles quels où pourquoi combien lequel laquelle lesquels lesquelles qu'est
    avons avez ont était étaient sont suis êtes je tu nous vous ils elles
    cuándo quién quiénes qué cuál cuáles dónde adónde cómo cuánto cuánta cuántos cuántas fue fueron eran está están
    estaba tú él nosotros ellos ellas
    quando quale quali perché quanto quante quanti abbiamo hanno sono erano noi voi loro
    quem qual quais onde quantos quantas foram estava eles elas meu minha seu sua
    wanneer wie wat waar waarom hoeveel welk welke waarmee heeft hebben hebt zijn werd werden ik jij hij zij wij jullie
    mijn jouw
"""

QUESTION_WORDS = frozenset(without_accents(word) for word in _WORDS.split())


def asked_words(query: str) -> list[str]:
    """The words of a query without those that only ask.

    >>> asked_words("When did Ana's brother move to Oslo?")
    ['ana', 'brother', 'move', 'to', 'oslo']
    """
    return [word for word in words(query) if without_accents(word) not in QUESTION_WORDS]
