// Words whose letters stand apart, and how they read together.
//
// Rules kept here:
// - letters and digits that stand alone one after the other are a chain, with no more than blanks and signs between two,
//   and few of them; digits count, too: read as one word, they let others stand near each other;
// - `_` stands between letters, and is a word by itself: of a chain with one, it is told that its letters may say
//   something, and the host looks closer; of any other, whether they do.
#include "disguises.h"

enum { MOST_BETWEEN = 6 };

// Where a chain begins and ends, how many stand alone in it, and whether any is a letter, or `_`.
typedef struct {
  uint32_t begin, end, singles;
  bool has_letter, has_low;
} Chain;

static bool parts_letters(uint32_t code) {
  return code == '.' || code == '-' || code == '*' || code == '/' || code == '|' || code == MIDDLE_DOT;
}

static bool is_blank(uint32_t code) { return code == ' '; }

static bool is_between_letters(uint32_t code) {
  return is_space(code) || parts_letters(code) || code == '_' || code == ',' || code == '\'' || code == '"';
}

static void add_single(Chain *chain, uint32_t begin, uint32_t end, uint32_t code) {
  if (!chain->singles++) chain->begin = begin;
  chain->end = end;
  chain->has_letter = chain->has_letter || is_letter(code);
  chain->has_low = chain->has_low || code == '_';
}

// What stands at a place, if that is a letter or digit; whether it stands alone. The place becomes that behind the
// letters and digits that stand there.
static bool is_single_at(Text plain, uint32_t *place, uint32_t *code) {
  uint32_t count = 0, behind = *place;
  for (uint32_t next; behind < plain.size && class_of(next = next_char(plain, &behind)) & ALNUM; *place = behind) {
    if (!count++) *code = next;
    for (; behind < plain.size && is_alnum_of_ascii(plain.at[behind]); behind++) count++;
  }
  return count == 1;
}

// Finds the next chain behind a place; false when there is none.
static bool next_chain(Text plain, uint32_t *place, Chain *chain) {
  *chain = (Chain){0};
  for (uint32_t between = 0; *place < plain.size;) {
    uint32_t begin = *place, code = 0;
    bool is_single = is_single_at(plain, place, &code), is_over = !is_single;
    if (is_single) add_single(chain, begin, *place, code);
    else if (*place == begin) {
      code = next_char(plain, place);
      if (code == '_') add_single(chain, begin, *place, code);
      between = code == '_' ? 0 : between + 1;
      is_over = !is_between_letters(code) || between > MOST_BETWEEN;
    }
    if (is_single) between = 0;
    if (!is_over) continue;
    if (chain->singles >= SPELLED) return true;
    *chain = (Chain){0};
    between = 0;
  }
  return chain->singles >= SPELLED;
}

static bool may_say(const Chain *chain, Text plain) {
  if (!chain->has_letter || chain->has_low) return chain->has_letter;
  return judge_run_together((Text){plain.at + chain->begin, chain->end - chain->begin}) >= 0;
}

// Whether a word of one character stands at a place.
static bool is_alone_at(Text plain, uint32_t place) {
  if (place == plain.size || !is_in_word(next_char(plain, &place))) return false;
  return place == plain.size || !is_in_word(next_char(plain, &place));
}

// A text whose words of one character stand together where one sign of a kind was between them.
static Text joined(Text plain, bool (*is_between)(uint32_t code)) {
  uint8_t *view = take(plain.size), *end = view;
  for (uint32_t place = 0, word = 0; place < plain.size;) {
    uint32_t start = place, code = next_char(plain, &place);
    bool is_left_out = word == 1 && is_between(code) && is_alone_at(plain, place);
    word = is_in_word(code) ? word + 1 : 0;
    while (start < place && !is_left_out) *end++ = plain.at[start++];
  }
  return (Text){view, end - view};
}

static bool is_spelled(Text plain) {
  Chain chain;
  uint32_t place = 0;
  return next_chain(plain, &place, &chain);
}

bool letters_say(Text plain) {
  Chain chain;
  for (uint32_t place = 0; next_chain(plain, &place, &chain);)
    if (may_say(&chain, plain)) return true;
  return false;
}

uint32_t put_letters_together(Text plain, Text *to) {
  bool (*const between[])(uint32_t) = {parts_letters, is_blank};
  uint32_t count = 0;
  if (!is_spelled(plain)) return 0;
  for (uint32_t way = 0; way < MOST_TOGETHER; way++) {
    Text view = joined(plain, between[way]);
    if (view.size < plain.size) to[count++] = view;
  }
  return count;
}
