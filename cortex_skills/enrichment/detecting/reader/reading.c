// A folded text as a row of categories: what each word, phrase or sign does in its sentence.
//
// Rules kept here:
// - a sentence ends at a full stop, a line end or the like; a clause at a comma or a dash;
// - where English verbs give orders is told by `placing.c` and `late_orders.c`;
// - languages without blanks, and texts without them, are read by looking for known words at every letter.
#include "reading.h"

// Of the letters of a text that was squeezed, so many belong to words that are known.
static const double ENGLISH = 0.55;

// For so many tokens room is taken at once; a phrase has so many words at most.
enum { SOME = 64, LONGEST_PHRASE = 16 };

// Categories, in room for all that may come.
typedef struct {
  Mask *masks;
  uint32_t count;
} Row;

static void add(Row *row, Mask mask) { row->masks[row->count++] = mask; }

// Where the word ends that begins at a place; there, when none does. Its hash.
static uint32_t end_of_word(Text text, uint32_t place, uint32_t *hashed) {
  uint32_t hash = HASH_START;
  for (;;) {
    for (; place < text.size && is_alnum_of_ascii(text.at[place]); place++) hash = hash_on(hash, text.at[place]);
    if (place == text.size || text.at[place] < 0x80) break;
    uint32_t behind = place;
    if (!(class_of(next_char(text, &behind)) & ALNUM)) break;
    while (place < behind) hash = hash_on(hash, text.at[place++]);
  }
  *hashed = hash;
  return place;
}

// Whether a character is a token between two others; `next` is 0 at the end.
static bool is_sign(bool is_behind_word, uint32_t code, uint32_t next) {
  if (code == '.' || code == '!' || code == '?') return !is_in_word(next);
  if (code == '\'') return !is_in_word(next) || !is_behind_word;
  if (code == '-') return next == ' ' || next == '\n' || !next;
  return class_of(code) & SIGN;
}

// Finds where the next token of a text begins, at a place or behind it, and its hash, not what is known of it;
// false when there is none.
static bool next_token(Text text, uint32_t *place, bool *is_behind_word, Token *token) {
  while (*place < text.size) {
    uint32_t start = *place, hash, end = start;
    if (text.at[start] != ' ') end = end_of_word(text, start, &hash);
    bool is_word = end > start, was_behind_word = *is_behind_word;
    *is_behind_word = is_word;
    if (!is_word) {
      uint32_t code = next_char(text, &end), behind = end;
      *place = end;
      *is_behind_word = code == '_';
      if (code == ' ' || !is_sign(was_behind_word, code, end < text.size ? next_char(text, &behind) : 0)) continue;
      hash = hash_of((Text){text.at + start, end - start});
    }
    *place = end;
    token->text = (Text){text.at + start, end - start};
    token->hash = hash;
    return true;
  }
  return false;
}

// Gives a word the categories of the phrases that begin with it; these.
static Mask add_phrases_at(Token *tokens, uint32_t count) {
  Mask found = phrases_at(tokens, count);
  tokens->mask = either(tokens->mask, found);
  return found;
}

static void add_phrases(Token *tokens, uint32_t count) {
  for (uint32_t place = 0; place < count; place++)
    if (meet(tokens[place].mask, kinds->first)) {
      add_phrases_at(tokens + place, count - place);
      tokens[place].mask = without(tokens[place].mask, kinds->first);
      tokens[place].roles |= BEGINS_PHRASES;
    }
}

static bool is_line_end(const Token *token) { return token->text.size == 1 && *token->text.at == '\n'; }

Mask add_phrases_over(const uint32_t *places, uint32_t place_count, Token *tokens, uint32_t count) {
  Mask found = {{0}};
  for (uint32_t each = 0, looked_at = 0; each < place_count; looked_at = places[each++]) {
    uint32_t at = places[each] > LONGEST_PHRASE ? places[each] - LONGEST_PHRASE : 0;
    for (at = at > looked_at ? at : looked_at; at < places[each]; at++)
      if (tokens[at].roles & BEGINS_PHRASES) found = either(found, add_phrases_at(tokens + at, count - at));
  }
  return found;
}

Sentence without_line_ends(Sentence sentence) {
  // By line end: how many of the other tokens stand before it.
  uint32_t end_count = 0;
  for (uint32_t place = 0; place < sentence.count; place++) end_count += is_line_end(&sentence.tokens[place]);
  if (!end_count) return sentence;
  Token *tokens = take((sentence.count - end_count) * sizeof *tokens);
  uint32_t *ends = take(end_count * sizeof *ends), count = 0;
  for (uint32_t place = 0, each = 0; place < sentence.count; place++)
    if (is_line_end(&sentence.tokens[place])) ends[each++] = count;
    else tokens[count++] = sentence.tokens[place];
  add_phrases_over(ends, end_count, tokens, count);
  return (Sentence){tokens, NULL, count};
}

// Where "n't" next stands in a text, at a place or behind it; its size when that is nowhere.
static uint32_t next_not(Text text, uint32_t place) {
  for (uint32_t at = place; at < text.size; at++) {
    at += place_of('\'', (Text){text.at + at, text.size - at});
    if (at > place && at + 1 < text.size && text.at[at - 1] == 'n' && text.at[at + 1] == 't') return at - 1;
  }
  return text.size;
}

// A text in which "n't" is the word `not`.
static Text with_nots(Text text) {
  uint32_t next = next_not(text, 0);
  if (next == text.size) return text;
  // Each becomes one byte longer, and has three.
  uint8_t *to = take(text.size + text.size / 3), *end = to;
  for (uint32_t place = 0; place < text.size; next = next_not(text, place)) {
    __builtin_memcpy(end, text.at + place, next - place);
    end += next - place;
    place = next;
    if (next == text.size) break;
    __builtin_memcpy(end, " not", 4);
    end += 4;
    place += 3;
  }
  return (Text){to, end - to};
}

Token *tokens_of(Text folded, uint32_t *count) {
  Text text = with_nots(folded);
  Token *tokens = take(SOME * sizeof *tokens);
  uint32_t place = 0, start = 0, found = 0;
  bool is_behind_word = false;
  for (uint32_t room = SOME; next_token(text, &place, &is_behind_word, tokens + found); found++) {
    if (found + 1 == room) {
      take(SOME * sizeof *tokens);
      room += SOME;
    }
    look_up(tokens + found);
    if (!is_end(tokens + found)) continue;
    add_phrases(tokens + start, found - start);
    start = found + 1;
  }
  add_phrases(tokens + start, found - start);
  back_to(tokens + found);
  *count = found;
  return tokens;
}

// The sentences of a text without words of languages without blanks.
static int32_t spaced(Text text, Asked *asked) {
  void *begun = mark();
  uint32_t count, end;
  Token *tokens = tokens_of(text, &count);
  int32_t found = -1;
  for (uint32_t start = 0; start < count && found < 0; start = end + 1) {
    for (end = start; end < count && !is_end(&tokens[end]);) end++;
    if (end > start) found = asked->judge((Sentence){tokens + start, NULL, end - start}, asked);
  }
  back_to(begun);
  return found;
}

// The sentences of a row whose words have their places already.
static int32_t split(Row row, Asked *asked) {
  for (uint32_t start = 0, end; start < row.count; start = end + 1) {
    for (end = start; end < row.count && !equal(row.masks[end], kinds->end);) end++;
    int32_t found = end > start ? asked->judge((Sentence){NULL, row.masks + start, end - start}, asked) : -1;
    if (found >= 0) return found;
  }
  return -1;
}

// Adds the longest known word at each place, one after the other; how many letters they have.
static uint32_t walk(Text text, Tree tree, Row *row) {
  uint32_t covered = 0;
  for (uint32_t place = 0; place < text.size;) {
    uint32_t behind = place;
    uint32_t code = next_char(text, &behind);
    uint32_t end = place;
    Mask found;
    if (longest(tree, text, &end, &found)) {
      if (any(found)) add(row, found);
      for (uint32_t at = place; at < end; at++) covered += (text.at[at] & 0xc0) != 0x80;
    } else {
      uint16_t class = class_of(code);
      if (class & ENDING) add(row, kinds->end);
      else if (class & CLAUSING) add(row, kinds->clause);
      else if (class & QUOTING) add(row, kinds->quoted);
    }
    place = end > place ? end : behind;
  }
  return covered;
}

// Whether a character is of a language without blanks; and whether it is, or stands among such.
static bool is_script(uint32_t code) {
  return (code >= 0xe00 && code <= 0xeff) || (code >= 0x1000 && code <= 0x109f) ||
         (code >= 0x3040 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x9fff);
}
static bool is_in_script(uint32_t code) {
  return is_script(code) || (code >= 0xff01 && code <= 0xff1b) || code == 0x3001 || code == 0x3002 || code == 0x300c ||
         code == 0x300d;
}

bool has_script(Text text) {
  // All of them have three bytes, and begin so.
  uint32_t count = 0;
  for (uint32_t place = 0; place < text.size; place++) count += text.at[place] >= 0xe0;
  for (uint32_t place = 0; count && place < text.size;)
    if (text.at[place] < 0xe0) place++;
    else if (is_script(next_char(text, &place))) return true;
  return false;
}

// Whether the first or the last character of a text that is no blank ends a sentence.
static bool begins_with_end(Text text) {
  for (uint32_t place = 0; place < text.size;) {
    uint16_t class = class_of(next_char(text, &place));
    if (!(class & SPACE)) return class & ENDING;
  }
  return false;
}
static bool ends_with_end(Text text) {
  for (uint32_t place = text.size; place;) {
    uint16_t class = class_of(char_before(text, &place));
    if (!(class & SPACE)) return class & ENDING;
  }
  return false;
}

// Adds the words of a sentence, in their places, to a row.
typedef struct {
  Asked asked;
  Row *row;
  bool is_first;
} Collecting;

static int32_t collect(Sentence sentence, Asked *asked) {
  Collecting *collecting = (Collecting *)asked;
  Row *row = collecting->row;
  if (!collecting->is_first) add(row, kinds->end);
  collecting->is_first = false;
  place_words(sentence.tokens, sentence.count, row->masks + row->count);
  row->count += sentence.count;
  return -1;
}

// Adds what stands in a part of a text that is all among languages without blanks, or all outside.
static void add_part(Text part, Row *row) {
  if (has_script(part)) {
    walk(part, UNSPACED, row);
    return;
  }
  if (begins_with_end(part)) add(row, kinds->end);
  Collecting collecting = {{collect, 0, false}, row, true};
  spaced(part, &collecting.asked);
  if (ends_with_end(part)) add(row, kinds->end);
}

// The sentences of a text with words of languages without blanks; a sentence may hold both kinds of words.
static int32_t unspaced(Text text, Asked *asked) {
  // No part adds more than two to what stands in its bytes.
  Row row = {take((text.size + 2) * 2 * sizeof(Mask)), 0};
  for (uint32_t start = 0, place; start < text.size; start = place) {
    place = start;
    bool within = is_in_script(next_char(text, &place));
    for (uint32_t behind = place; place < text.size; place = behind)
      if (is_in_script(next_char(text, &behind)) != within) break;
    add_part((Text){text.at + start, place - start}, &row);
  }
  return split(row, asked);
}

int32_t each_sentence(Text folded, Asked *asked) {
  void *start = mark();
  int32_t found = has_script(folded) ? unspaced(folded, asked) : spaced(folded, asked);
  back_to(start);
  return found;
}

int32_t each_squeezed(Text span, Asked *asked) {
  void *start = mark();
  uint8_t *letters = take(span.size);
  uint32_t size = 0, count = 0;
  for (uint32_t place = 0, behind = 0; behind < span.size; place = behind) {
    if (!(class_of(next_char(span, &behind)) & LETTER)) continue;
    while (place < behind) letters[size++] = span.at[place++];
    count++;
  }
  Row row = {take((size + 1) * sizeof(Mask)), 0};
  uint32_t covered = walk((Text){letters, size}, SQUEEZED, &row);
  int32_t found = covered >= ENGLISH * count ? split(row, asked) : -1;
  back_to(start);
  return found;
}
