// Words that are written so that they are not seen: how much of each disguise a text shows.
//
// Rules kept here:
// - a disguise is shown when it is seen so often that words are hardly written so: so many times, or once in so many
//   characters; a shape that single words of facts have (`python3`, `well-known`, `iPhone`) is none;
// - what is counted of a text is the sum of what is counted of its lines: a line is gone through once, and looked at
//   closer where there is something;
// - it is read without a disguise (`disguises_views.c`) when it shows that one, and no sooner.
#include "disguises.h"

// How often a disguise must be seen to be one: so many times, or once in so many characters.
enum { PAIR = 2, FEW = 3, RARE = 18, OFTEN = 12 };
enum { LONGEST_END = 25 };

const uint8_t roles_of[128] = {
    ['a' ... 'z'] = SMALL,  ['A' ... 'Z'] = LARGE,  ['0'] = LIKE | EDGE, ['1'] = LIKE | EDGE,
    ['3'] = LIKE | EDGE,    ['4'] = LIKE | EDGE,    ['5'] = LIKE | EDGE, ['7'] = LIKE | EDGE,
    ['@'] = LIKE | EDGE,    ['$'] = LIKE | EDGE,    ['!'] = LIKE,        ['|'] = LIKE | BREAK,
    ['-'] = BREAK,          ['.'] = BREAK,          ['*'] = BREAK,       ['_'] = BREAK,
    ['/'] = BREAK,
};

bool is_hump(Text raw, uint32_t place) {
  return place && is(raw, place, LARGE) &&
         (is(raw, place - 1, SMALL) || (is(raw, place - 1, LARGE) && is(raw, place + 1, SMALL)));
}

bool is_behind_letter(Text plain, uint32_t *place) { return *place && is_letter(char_before(plain, place)); }

bool is_before_letter(Text plain, uint32_t *place) {
  return *place < plain.size && is_letter(next_char(plain, place));
}

bool is_hyphen(Text plain, uint32_t place) {
  uint32_t before = place, behind = place + 1;
  return plain.at[place] == '-' && is_behind_letter(plain, &before) && is_before_letter(plain, &behind);
}

// Whether a text begins as a sentence ends.
static bool begins_with_end(Text raw) {
  uint32_t before = 0, code = 0;
  for (uint32_t place = 0, chars = 0; place < raw.size && chars <= LONGEST_END; chars++) {
    before = code;
    code = next_char(raw, &place);
    if (!is_space(code)) continue;
    bool is_end = before == '.' || before == '!' || before == '?' || before == ';' || before == ',';
    return code == ' ' && is_end && chars > 1 && is(raw, place, SMALL);
  }
  return false;
}

// Where the last word of a text begins; its end when there is none.
static uint32_t last_word(Text raw) {
  uint32_t begin = raw.size;
  for (uint32_t place = begin; place;) {
    if (!is_space(char_before(raw, &place)))
      begin = place;
    else if (begin < raw.size)
      break;
  }
  return begin;
}

static bool is_at(Text raw, uint32_t place, uint16_t class) {
  return place < raw.size && class_of(next_char(raw, &place)) & class;
}

// Whether a text begins as a sentence ends, or ends as one begins.
static bool ends_first(Text raw) {
  return begins_with_end(raw) || (is_at(raw, 0, LOWER) && is_at(raw, last_word(raw), UPPER));
}

uint32_t shown_by(const Counts *counts, Text raw) {
  uint64_t chars = counts->chars;
  bool is_broken = (uint64_t)counts->breaks * OFTEN > chars && (uint64_t)counts->parted * OFTEN > chars;
  bool is_doubled = (uint64_t)counts->doubles * RARE > chars || counts->doubled_first;
  return (counts->likes >= PAIR ? DIGITS : 0) | (counts->humps >= FEW ? CAMEL : 0) |
         (counts->long_words ? LONG : 0) | (counts->blanks >= PAIR && ends_first(raw) ? BACKWARDS : 0) |
         (counts->doubles >= FEW && is_doubled ? DOUBLES : 0) | (counts->hyphens >= FEW ? BREAKS : 0) |
         (is_broken ? BROKEN : 0) | (counts->singles + 1 >= SPELLED ? LETTERS : 0) |
         (counts->turned >= PAIR ? TURNED : 0);
}
