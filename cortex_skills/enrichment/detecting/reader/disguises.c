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
enum { LONGEST_END = 25, MIDDLE_DOT = 0xb7, MIDDLE_DOT_BEGINS = 0xc2, SPELLED = 6, MOST_BETWEEN = 6 };

const uint8_t roles_of[128] = {
    ['a' ... 'z'] = SMALL,  ['A' ... 'Z'] = LARGE,  ['0'] = LIKE | EDGE, ['1'] = LIKE | EDGE,
    ['3'] = LIKE | EDGE,    ['4'] = LIKE | EDGE,    ['5'] = LIKE | EDGE, ['7'] = LIKE | EDGE,
    ['@'] = LIKE | EDGE,    ['$'] = LIKE | EDGE,    ['!'] = LIKE,        ['|'] = LIKE | BREAK,
    ['-'] = BREAK,          ['.'] = BREAK,          ['*'] = BREAK,       ['_'] = BREAK,
    ['/'] = BREAK,
};

// The bytes of a line of ASCII, with room on both sides to look at the neighbours of each.
enum { BESIDE = 2 };

// How many long words there are: one that is so long holds every sixteenth byte, or the one before it.
static uint32_t long_words_of(Text plain) {
  uint32_t count = 0;
  for (uint32_t place = LONG_WORD - 1; place < plain.size; place += LONG_WORD) {
    uint32_t begin = place, end = place;
    while (begin && place - begin < LONG_WORD && is(plain, begin - 1, SMALL)) begin--;
    while (end - begin < LONG_WORD && is(plain, end, SMALL)) end++;
    // What began before the last of those bytes was counted there.
    count += end > place && end - begin >= LONG_WORD && place - begin < LONG_WORD;
  }
  return count;
}

// A loop for each that is counted, without branches: most lines show nothing, and cost only this.
static Counts counted_in_ascii(Text plain) {
  uint32_t end = plain.size + BESIDE;
  uint8_t *at = zeroed(end + BESIDE);
  __builtin_memcpy(at + BESIDE, plain.at, plain.size);
  // Numbers of their own, so that the compiler may count many bytes at once.
  uint32_t blanks = 0, ends = 0, hyphens = 0, breaks = 0, likes = 0, doubles = 0, singles = 0;
  for (uint32_t place = BESIDE; place < end; place++) {
    blanks += at[place] == ' ';
    ends += at[place] == '\n';
    hyphens += at[place] == '-';
  }
  for (uint32_t place = BESIDE; place < end; place++) {
    breaks += (roles_of[at[place]] & BREAK) != 0;
    likes += (roles_of[at[place]] & LIKE) != 0;
  }
  // A letter that stands three times is doubled once.
  for (uint32_t place = BESIDE; place < end; place++)
    doubles += (roles_of[at[place]] & SMALL) && at[place] == at[place - 1] && at[place] != at[place - 2];
  // What stands between letters may be a word by itself, too.
  for (uint32_t place = BESIDE; place < end; place++)
    singles += at[place] == '_' || (is_alnum_of_ascii(at[place]) && !is_alnum_of_ascii(at[place - 1]) &&
                                    !is_alnum_of_ascii(at[place + 1]));
  Counts counts = {
      .chars = plain.size,
      .blanks = blanks,
      .line_ends = ends,
      .hyphens = hyphens,
      .breaks = breaks,
      .likes = likes,
      .doubles = doubles,
      .singles = singles,
      .long_words = long_words_of(plain),
  };
  back_to(at);
  return counts;
}

static Counts counted_in_any(Text plain) {
  Counts counts = {0};
  uint32_t run = 0, word = 0, before = 0, earlier = 0;
  for (uint32_t place = 0; place < plain.size; counts.chars++) {
    uint32_t code = next_char(plain, &place);
    uint32_t roles = code < sizeof roles_of ? roles_of[code] : code == MIDDLE_DOT ? BREAK : 0;
    bool in_run = is_letter(code), in_word = class_of(code) & ALNUM;
    counts.doubles += (roles & SMALL) && code == before && code != earlier;
    counts.blanks += code == ' ';
    counts.line_ends += code == '\n';
    counts.hyphens += code == '-';
    counts.likes += (roles & LIKE) != 0;
    counts.breaks += (roles & BREAK) != 0;
    run = in_run ? run + 1 : 0;
    counts.long_words += run == LONG_WORD;
    counts.singles += (word == 1 && !in_word) + (code == '_');
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

// Whether a digit or sign at a place may be a letter behind another.
static bool is_behind_small(Text plain, uint32_t place) {
  return is(plain, place - 1, SMALL) &&
         (is(plain, place + 1, SMALL | LIKE) || (is(plain, place, EDGE) && is_boundary(plain, place + 1)));
}

// Whether a word begins at a place with a digit or sign that may be a letter.
static bool begins_with_like(Text plain, uint32_t place) {
  return is(plain, place, EDGE) && is(plain, place + 1, SMALL) && is(plain, place + 2, SMALL) &&
         is_boundary(plain, place);
}

// How many digits, or signs like letters, stand in words; no letter belongs to two.
static uint32_t likes_in_words(Text plain) {
  uint32_t count = 0;
  for (uint32_t place = 0, taken = 0; place < plain.size; place++) {
    if (place < taken || !is(plain, place, LIKE)) continue;
    if (place > taken && is_behind_small(plain, place)) {
      count++;
      taken = place + 1;
    } else if (begins_with_like(plain, place)) {
      count++;
      for (taken = place + 3; is(plain, taken, SMALL);) taken++;
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

// How many bytes a sign has that breaks words and stands at a place; 0 when there is none.
static uint32_t break_at(Text plain, uint32_t place) {
  if (is(plain, place, BREAK)) return 1;
  uint32_t behind = place;
  return plain.at[place] == MIDDLE_DOT_BEGINS && next_char(plain, &behind) == MIDDLE_DOT ? behind - place : 0;
}

// How many pairs of letters are parted by a sign that breaks words; no letter is of two pairs.
static uint32_t parted(Text plain) {
  uint32_t count = 0;
  for (uint32_t place = 1, taken = 0; place < plain.size; place++) {
    uint32_t size = break_at(plain, place), left = place, right = place + size;
    if (size && left > taken && is_behind_letter(plain, &left) && is_before_letter(plain, &right)) {
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
    if (first != plain.at[place + 1] || !is(plain, place, SMALL) || !is(plain, place + 2, SMALL)) continue;
    bool is_vowel = first == 'a' || first == 'e' || first == 'i' || first == 'o';
    if (!is_vowel && is_boundary(plain, place)) return true;
  }
  return false;
}

Counts counted(Text raw, Text plain, bool is_ascii) {
  Counts counts = is_ascii ? counted_in_ascii(plain) : counted_in_any(plain);
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
  // How long the word is in which a place is, how many words of one letter or digit stand before it, and how many signs
  // stand between. Digits apart count, too: read as one word, they let others stand near each other.
  uint32_t word = 0, singles = 0, between = 0;
  for (uint32_t place = 0; place < plain.size;) {
    uint32_t code = next_char(plain, &place);
    if (class_of(code) & ALNUM) {
      if (++word == 2) singles = 0;
      between = 0;
      continue;
    }
    // What stands between letters may be a word by itself, too.
    singles += (word == 1) + (code == '_');
    if (singles >= SPELLED) return true;
    word = 0;
    between = code == '_' ? 0 : between + 1;
    if (!is_between_letters(code) || between > MOST_BETWEEN) singles = 0;
  }
  return singles + (word == 1) >= SPELLED;
}
