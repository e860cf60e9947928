// A folded text as sentences: rows of words, and the categories that each may have.
#pragma once
#include "words.h"

// The words of a sentence; or, where they have their places already, their categories alone.
typedef struct {
  const Token *tokens;
  const Mask *placed;
  uint32_t count;
} Sentence;

// What is asked of each sentence: the number of a rule, or -1.
typedef struct Asked {
  int32_t (*judge)(Sentence sentence, struct Asked *asked);
  uint32_t signs;
  bool title;
} Asked;

// The words and signs of a text that holds none of a language without blanks, with their categories; they stand right
// below what is taken next. The ends of sentences are among them.
Token *tokens_of(Text folded, uint32_t *count);

// Whether a token ends a sentence.
static inline bool is_end(const Token *token) { return equal(token->mask, kinds->end); }

// A sentence as if it stood in one line: without its line ends, and with the phrases that went over them, in room of its
// own. The same sentence when it has no line end.
Sentence without_line_ends(Sentence sentence);

// Gives words the categories of the phrases that go over places between them, which are told in their order; all of
// those.
Mask add_phrases_over(const uint32_t *places, uint32_t place_count, Token *tokens, uint32_t count);

// Whether a text holds words of languages without blanks.
bool has_script(Text text);

// Whether any rule may hold in a sentence whose words have these categories.
bool may_say(Mask whole, uint32_t signs);

// The number of the rule that holds in one sentence, or -1, as it stands or without line ends; the same as it stands,
// when the categories of its words are known.
int32_t judge_sentence(Sentence sentence, Asked *asked);
int32_t judge_as_it_stands(Sentence sentence, Mask whole, Asked *asked);

// The first answer that is no -1, of all sentences of a folded text.
int32_t each_sentence(Text folded, Asked *asked);

// The same of a text of which only the letters are left; none when they are no English.
int32_t each_squeezed(Text span, Asked *asked);

// The categories of the words in their places; verbs that only name something are none.
void place_words(const Token *tokens, uint32_t count, Mask *row);

// The same, with orders that begin in the middle of a sentence: they are noted in `row`.
void place_late_orders(const Token *tokens, uint32_t count, Mask *row);
