"""What may be doubted of a text.

Rules kept here:
- what is not in doubt is not there: whoever looks for a disguise asks first whether it is doubted, and then exactly.
"""

from __future__ import annotations

# Digits in its words, letters apart, humps, words written as one, turns of a chat, code; its words as they are, from
# the last to the first, or turned; doubled letters, hyphens in words, words that are broken up. Those that the reader
# tells of each text have the same bits in `reader/reader.h`.
(DIGITS, LETTERS, CAMEL, LONG, TURN, CODE, WORDS, BACKWARDS, TURNED, DOUBLES, BREAKS, BROKEN) = (
    1 << place for place in range(12)
)
EVERYTHING = (1 << 12) - 1
# Above them may stand one more than the number of the rule that surely holds for the words of a text, which has nothing
# then that comes before its words.
ABOVE = 16
# Those that are looked for in a text as it is written.
ALL = TURN | CODE
# Who speaks, in capitals.
SPEAKERS = ("SYSTEM", "ADMIN", "ASSISTANT", "USER", "DEVELOPER", "ROOT", "HUMAN", "AI")
