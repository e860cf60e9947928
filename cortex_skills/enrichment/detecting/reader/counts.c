// How much of each disguise a line shows.
//
// Rules kept here:
// - the bytes of a line are gone through once, many at a time, for where something may be; only there is it looked at
//   closer, as characters;
// - what is no ASCII has no part in most disguises; for the others a line is gone through by its characters.
#include "bytes.h"
#include "disguises.h"

// What a byte may be to a disguise.
typedef enum { ALNUMS, LOWS, BLANKS, LINE_ENDS, HYPHENS, SAME, LIKES, BREAKERS, KINDS } Kind;

// Where in a line the bytes of each kind are; blocks before the first and behind the last have none.
typedef struct {
  Bits *bits;
  uint32_t count;
} Marks;

static Bits *marked(const Marks *marks, Kind kind) { return marks->bits + kind * (marks->count + 2) + 1; }

static Bytes is_in(Bytes bytes, uint8_t first, uint8_t count) { return (Bytes)((Bytes)(bytes - first) < count); }

static Bytes is_any(Bytes bytes, const char *signs) {
  Bytes found = (Bytes)(bytes == (uint8_t)*signs);
  while (*++signs) found |= (Bytes)(bytes == (uint8_t)*signs);
  return found;
}

static Marks marks_of(Text plain) {
  Blocks blocks = blocks_of(plain);
  Marks marks = {zeroed(KINDS * (blocks.count + 2) * sizeof(Bits)), blocks.count};
  for (uint32_t block = 0; block < blocks.count; block++) {
    Bits found[KINDS] = {0};
    for (uint32_t part = 0; part < BLOCK && block * BLOCK + part < plain.size; part += sizeof(Bytes)) {
      const uint8_t *at = blocks.at + block * BLOCK + part;
      Bytes bytes = bytes_at(at), same = (Bytes)(bytes == bytes_at(at - 1));
      found[ALNUMS] |= bits_of(is_in(bytes | 0x20, 'a', 26) | is_in(bytes, '0', 10)) << part;
      found[LOWS] |= bits_of((Bytes)(bytes == '_')) << part;
      found[BLANKS] |= bits_of((Bytes)(bytes == ' ')) << part;
      found[LINE_ENDS] |= bits_of((Bytes)(bytes == '\n')) << part;
      found[HYPHENS] |= bits_of((Bytes)(bytes == '-')) << part;
      found[SAME] |= bits_of(same & is_in(bytes, 'a', 26)) << part;
      found[LIKES] |= bits_of(is_any(bytes, "013457@$!|")) << part;
      // The last one begins a middle dot.
      found[BREAKERS] |= bits_of(is_any(bytes, "-._*/|\xc2")) << part;
    }
    for (uint32_t kind = 0; kind < KINDS; kind++) marked(&marks, kind)[block] = found[kind];
  }
  return marks;
}

static uint32_t how_many(const Marks *marks, Kind kind) {
  const Bits *bits = marked(marks, kind);
  uint32_t count = 0;
  for (uint32_t block = 0; block < marks->count; block++) count += __builtin_popcountll(bits[block]);
  return count;
}

static uint32_t next_marked(const Marks *marks, Kind kind, uint32_t place) {
  return next_place(marked(marks, kind), marks->count, place);
}

static Bits before(const Bits *block) { return *block << 1 | block[-1] >> (BLOCK - 1); }
static Bits behind(const Bits *block) { return *block >> 1 | block[1] << (BLOCK - 1); }

// How many letters are doubled; one that stands three times is doubled once.
static uint32_t doubles(const Marks *marks) {
  const Bits *same = marked(marks, SAME);
  uint32_t count = 0;
  for (uint32_t block = 0; block < marks->count; block++)
    count += __builtin_popcountll(same[block] & ~before(same + block));
  return count;
}

// How many letters and digits stand alone, with no longer word between them and the one before. What stands between
// them may be a word by itself, too.
static uint32_t singles(const Marks *marks) {
  const Bits *alnums = marked(marks, ALNUMS), *lows = marked(marks, LOWS);
  uint32_t count = 0, looked = 0;
  for (uint32_t block = 0; block < marks->count; block++) {
    Bits left = lows[block] | (alnums[block] & ~(before(alnums + block) | behind(alnums + block)));
    for (; left; left &= left - 1) {
      uint32_t place = block * BLOCK + __builtin_ctzll(left);
      count += next_marked(marks, ALNUMS, looked) >= place;
      looked = place + 1;
    }
  }
  return count;
}

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

// What is counted of the characters of a line that is no ASCII.
static void count_chars(Text plain, Counts *counts) {
  uint32_t run = 0, word = 0;
  bool is_behind_longer = false;
  counts->chars = counts->long_words = counts->singles = 0;
  for (uint32_t place = 0; place < plain.size; counts->chars++) {
    uint32_t code = next_char(plain, &place), alone = word == 1;
    word = class_of(code) & ALNUM ? word + 1 : 0;
    alone = (alone && !word) + (code == '_');
    counts->singles += is_behind_longer && alone ? alone - 1 : alone;
    is_behind_longer = word > 1 || (is_behind_longer && !alone);
    run = is_letter(code) ? run + 1 : 0;
    counts->long_words += run == LONG_WORD;
  }
  counts->singles += word == 1 && !is_behind_longer;
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
static uint32_t likes_in_words(Text plain, const Marks *marks) {
  uint32_t count = 0, taken = 0;
  for (uint32_t place = 0; (place = next_marked(marks, LIKES, place)) != NO_PLACE; place++) {
    if (place < taken) continue;
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

static uint32_t hyphens_in_words(Text plain, const Marks *marks) {
  uint32_t count = 0;
  for (uint32_t place = 0; (place = next_marked(marks, HYPHENS, place)) != NO_PLACE; place++)
    count += is_hyphen(plain, place);
  return count;
}

// How many bytes a sign has that breaks words and stands at a place; 0 when there is none.
static uint32_t break_at(Text plain, uint32_t place) {
  if (is(plain, place, BREAK)) return 1;
  uint32_t behind = place;
  return next_char(plain, &behind) == MIDDLE_DOT ? behind - place : 0;
}

// How many signs there are that break words, and how many of them part two letters; no letter is of two pairs.
static void count_breaks(Text plain, const Marks *marks, Counts *counts) {
  uint32_t taken = 0;
  for (uint32_t place = 0; (place = next_marked(marks, BREAKERS, place)) != NO_PLACE; place++) {
    uint32_t size = break_at(plain, place), left = place, right = place + size;
    counts->breaks += size != 0;
    if (size && left > taken && is_behind_letter(plain, &left) && is_before_letter(plain, &right)) {
      counts->parted++;
      taken = right;
    }
  }
}

// Whether a word begins with a letter twice, as hardly a word does.
static bool begins_doubled(Text plain, const Marks *marks) {
  for (uint32_t second = 1; (second = next_marked(marks, SAME, second)) != NO_PLACE; second++) {
    uint8_t letter = plain.at[second];
    bool is_vowel = letter == 'a' || letter == 'e' || letter == 'i' || letter == 'o';
    if (!is_vowel && is(plain, second + 1, SMALL) && is_boundary(plain, second - 1)) return true;
  }
  return false;
}

static uint32_t humps(Text raw) {
  uint32_t count = 0, place = 1;
  for (; place + sizeof(Bytes) < raw.size; place += sizeof(Bytes)) {
    Bytes bytes = bytes_at(raw.at + place), last = bytes_at(raw.at + place - 1), next = bytes_at(raw.at + place + 1);
    Bytes is_begun = is_in(last, 'a', 26) | (is_in(last, 'A', 26) & is_in(next, 'a', 26));
    count += __builtin_popcountll(bits_of(is_in(bytes, 'A', 26) & is_begun));
  }
  for (; place < raw.size; place++) count += is(raw, place, LARGE) && is_hump(raw, place);
  return count;
}

Counts counted(Text raw, Text plain, bool is_ascii) {
  void *start = mark();
  Marks marks = marks_of(plain);
  Counts counts = {
      .chars = plain.size,
      .line_ends = how_many(&marks, LINE_ENDS),
      .blanks = how_many(&marks, BLANKS),
      .likes = likes_in_words(plain, &marks),
      .humps = humps(raw),
      .hyphens = hyphens_in_words(plain, &marks),
      .doubles = doubles(&marks),
      .doubled_first = begins_doubled(plain, &marks),
      .long_words = long_words_of(plain),
      .singles = singles(&marks),
      .turned = turned_in(plain),
  };
  count_breaks(plain, &marks, &counts);
  if (!is_ascii) count_chars(plain, &counts);
  back_to(start);
  return counts;
}
