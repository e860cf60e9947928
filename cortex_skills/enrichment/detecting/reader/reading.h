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

// Whether a sentence goes over lines.
bool has_line_end(Sentence sentence);

// Takes the line ends out of the words of a sentence, and gives these the categories of the phrases that went over them;
// how many are left, and all such categories.
uint32_t join_lines(Token *tokens, uint32_t count, Mask *phrases);

// Whether a text holds words of languages without blanks.
bool has_script(Text text);

// Whether any rule may hold in a sentence whose words have these categories.
bool may_say(Mask whole, uint32_t signs);

// The number of the rule that holds in one sentence, or -1; the same when the categories of its words are known, and
// of the sentence as it stands, where any other is judged without its line ends, too.
int32_t judge_sentence(Sentence sentence, Asked *asked);
typedef int32_t Judge(Sentence sentence, Mask whole, Asked *asked);
Judge judge_words, judge_as_it_stands;

// The first answer that is no -1, of all sentences of a folded text.
int32_t each_sentence(Text folded, Asked *asked);

// The same of a text of which only the letters are left; none when they are no English.
int32_t each_squeezed(Text span, Asked *asked);

// The categories of the words in their places; verbs that only name something are none.
void place_words(const Token *tokens, uint32_t count, Mask *row);

// The same, with orders that begin in the middle of a sentence: they are noted in `row`.
void place_late_orders(const Token *tokens, uint32_t count, Mask *row);
