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
enum { LONGEST_END = 25, MIDDLE_DOT = 0xb7, SPELLED = 5, MOST_BETWEEN = 6 };

const uint8_t roles_of[128] = {
    ['a' ... 'z'] = SMALL,  ['A' ... 'Z'] = LARGE,  ['0'] = LIKE | EDGE, ['1'] = LIKE | EDGE,
    ['3'] = LIKE | EDGE,    ['4'] = LIKE | EDGE,    ['5'] = LIKE | EDGE, ['7'] = LIKE | EDGE,
    ['@'] = LIKE | EDGE,    ['$'] = LIKE | EDGE,    ['!'] = LIKE,        ['|'] = LIKE | BREAK,
    ['-'] = BREAK,          ['.'] = BREAK,          ['*'] = BREAK,       ['_'] = BREAK,
    ['/'] = BREAK,
};

static bool is_in_word(uint32_t code) { return code == '_' || class_of(code) & ALNUM; }

// Everything at once, and without branches where it can be: most lines show nothing, and cost only this.
static Counts counted_roughly(Text plain) {
  Counts counts = {0};
  uint32_t run = 0, word = 0, before = 0, earlier = 0;
  for (uint32_t place = 0; place < plain.size; counts.chars++) {
    uint32_t code = plain.at[place];
    bool in_run;
    if (code < sizeof roles_of) {
      uint32_t roles = roles_of[code];
      place++;
      in_run = (roles & (SMALL | LARGE)) != 0;
      // A letter that stands three times is doubled once.
      counts.doubles += (roles & SMALL) && code == before && code != earlier;
      counts.blanks += code == ' ';
      counts.likes += (roles & LIKE) != 0;
      counts.hyphens += code == '-';
      counts.breaks += (roles & BREAK) != 0;
    } else {
      code = next_char(plain, &place);
      in_run = is_letter(code);
      counts.breaks += code == MIDDLE_DOT;
    }
    run = in_run ? run + 1 : 0;
    counts.long_words += run == LONG_WORD;
    bool in_word = in_run || is_in_word(code);
    counts.singles += word == 1 && !in_word;
    word = in_word ? word + 1 : 0;
    earlier = before;
    before = code;
  }
  counts.singles += word == 1;
  return counts;
}

// Whether a word begins or ends at a place.
static bool is_boundary(Text text, uint32_t place) {
  uint32_t before = place, behind = place;
  bool left = place && is_in_word(char_before(text, &before));
  return left != (place < text.size && is_in_word(next_char(text, &behind)));
}

// Whether a letter at a place is followed by a digit or sign that may be one, too.
static bool is_before_like(Text plain, uint32_t place) {
  return is(plain, place, SMALL) && is(plain, place + 1, LIKE) &&
         (is(plain, place + 2, SMALL | LIKE) || (is(plain, place + 1, EDGE) && is_boundary(plain, place + 2)));
}

// Whether a word begins at a place with a digit or sign that may be a letter.
static bool begins_with_like(Text plain, uint32_t place) {
  return is(plain, place, EDGE) && is(plain, place + 1, SMALL) && is(plain, place + 2, SMALL) &&
         is_boundary(plain, place);
}

// How many digits, or signs like letters, stand in words.
static uint32_t likes_in_words(Text plain) {
  uint32_t count = 0;
  for (uint32_t place = 0; place < plain.size;) {
    if (is_before_like(plain, place)) {
      count++;
      place += 2;
    } else if (begins_with_like(plain, place)) {
      count++;
      for (place += 3; is(plain, place, SMALL);) place++;
    } else {
      place++;
    }
  }
  return count;
}

bool is_hump(Text raw, uint32_t place) {
  return place && is(raw, place, LARGE) &&
         (is(raw, place - 1, SMALL) || (is(raw, place - 1, LARGE) && is(raw, place + 1, SMALL)));
}

static uint32_t humps(Text raw) {
  uint32_t count = 0;
  for (uint32_t place = 0; place < raw.size; place++)
    if (raw.at[place] >= 'A' && raw.at[place] <= 'Z') count += is_hump(raw, place);
  return count;
}

// Whether a letter stands before a place, which becomes that of the letter.
static bool is_behind_letter(Text plain, uint32_t *place) { return *place && is_letter(char_before(plain, place)); }

// Whether a letter stands at a place, which becomes that behind it.
static bool is_before_letter(Text plain, uint32_t *place) {
  return *place < plain.size && is_letter(next_char(plain, place));
}

bool is_hyphen(Text plain, uint32_t place) {
  uint32_t before = place, behind = place + 1;
  return plain.at[place] == '-' && is_behind_letter(plain, &before) && is_before_letter(plain, &behind);
}

static uint32_t hyphens_in_words(Text plain) {
  uint32_t count = 0;
  for (uint32_t place = 0; place < plain.size; place++) count += is_hyphen(plain, place);
  return count;
}

// How many pairs of letters are parted by a sign that breaks words; no letter is of two pairs.
static uint32_t parted(Text plain) {
  uint32_t count = 0;
  for (uint32_t place = 0, taken = 0; place < plain.size;) {
    uint32_t left = place, code = next_char(plain, &place), right = place;
    bool is_break = code < sizeof roles_of ? roles_of[code] & BREAK : code == MIDDLE_DOT;
    if (is_break && left > taken && is_behind_letter(plain, &left) && is_before_letter(plain, &right)) {
      count++;
      taken = right;
    }
  }
  return count;
}

// Whether a word begins with a letter twice, as hardly a word does.
static bool begins_doubled(Text plain) {
  for (uint32_t place = 0; place + 2 < plain.size; place++) {
    uint8_t first = plain.at[place];
    bool is_vowel = first == 'a' || first == 'e' || first == 'i' || first == 'o';
    if (first == plain.at[place + 1] && is(plain, place, SMALL) && !is_vowel && is(plain, place + 2, SMALL) &&
        is_boundary(plain, place))
      return true;
  }
  return false;
}

Counts counted(Text raw, Text plain) {
  Counts counts = counted_roughly(plain);
  counts.humps = humps(raw);
  if (counts.likes) counts.likes = likes_in_words(plain);
  if (counts.hyphens) counts.hyphens = hyphens_in_words(plain);
  if (counts.breaks) counts.parted = parted(plain);
  if (counts.doubles) counts.doubled_first = begins_doubled(plain);
  return counts;
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
         (is_broken ? BROKEN : 0) | (counts->singles >= SPELLED ? LETTERS : 0);
}

static bool is_between_letters(uint32_t code) {
  return class_of(code) & SPACE || code == '.' || code == '-' || code == '_' || code == '*' || code == '/' ||
         code == '|' || code == ',' || code == '\'' || code == '"' || code == MIDDLE_DOT;
}

bool is_spelled(Text plain) {
  // How long the word is in which a place is, how many words of one letter stand before it, how many of them are no
  // digits, and how many signs stand between.
  uint32_t word = 0, singles = 0, letters = 0, between = 0;
  bool was_letter = false;
  for (uint32_t place = 0; place <= plain.size;) {
    bool at_end = place == plain.size;
    uint32_t code = at_end ? '\n' : next_char(plain, &place);
    if (is_in_word(code) && code != '_') {
      was_letter = is_letter(code);
      if (++word == 2) singles = letters = 0;
      between = 0;
      continue;
    }
    if (word == 1) {
      singles++;
      letters += was_letter;
    }
    if (singles >= SPELLED && letters >= FEW) return true;
    word = 0;
    if (!is_between_letters(code) || ++between > MOST_BETWEEN) singles = letters = 0;
    if (at_end) break;
  }
  return false;
}
