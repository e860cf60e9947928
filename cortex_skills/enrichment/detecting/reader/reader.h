// What the parts of the reader share: texts, masks, classes of characters, room to work in.
//
// Rules kept here:
// - a text is UTF-8 as Python encodes it with `surrogatepass`: whoever steps over it by `next_char` stays within it;
// - room is taken by `take`, and lasts until the next call of the host, or until `back_to`;
// - what is known of words and characters comes from the host (`learn`, `classify`): nothing is defined twice.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(name)))

typedef struct {
  const uint8_t *at;
  uint32_t size;
} Text;

// What a character is, a bit each.
enum {
  ALNUM = 1,           // `str.isalnum`
  LETTER = 2,          // the same, and no decimal digit
  SPACE = 4,           // `str.isspace`
  ENDING = 8,          // ends a sentence
  CLAUSING = 16,       // ends a clause
  QUOTING = 32,        // a quotation mark
  SIGN = 64,           // a token by itself
  UPPER = 128,         // `str.isupper`
  LOWER = 256,         // `str.islower`
  BY_NEIGHBOURS = 512, // may be folded otherwise beside others
  PRINTABLE = 1024,    // `str.isprintable`
  TOLD = 2048,         // the host has told what it is
};

// A character: its classes, the letter of ASCII that it looks like, or 0, and what it is folded to; nothing of one that
// the host has not told of.
typedef struct {
  uint16_t class;
  uint8_t look;
  const struct Folded *folded;
} Character;

enum { CODES = 0x110000 };
extern Character characters[CODES];

// Whether a call has met a character that the host has not told of: what it returns says so, and means nothing.
extern bool met_unknown;
// What is answered when a call was about one, or about one that the host must fold.
enum { UNKNOWN = -2, FOLD_IT = -3 };

// What a call answers, when it met no such character.
int32_t answered(int32_t answer);

static inline uint16_t class_of(uint32_t code) {
  uint16_t class = characters[code < CODES ? code : 0].class;
  if (!class) met_unknown = true;
  return class;
}

// Whether a character is read as others than letters and signs of ASCII; of one that was not told of, it may be not.
bool is_foreign(uint32_t code);

// Whether a character cannot be printed; of one that was not told of, it may be, but for those of private use.
bool is_never_printed(uint32_t code);

// Whether a character is one of a word, as `\w` is.
static inline bool is_in_word(uint32_t code) { return code == '_' || class_of(code) & ALNUM; }

static inline bool is_small(uint8_t byte) { return (uint8_t)(byte - 'a') < 26; }

static inline bool is_alnum_of_ascii(uint8_t byte) {
  return ((uint8_t)((byte | 0x20) - 'a') < 26) | ((uint8_t)(byte - '0') < 10);
}

// Room for so many bytes, aligned to 8, right behind what was taken last; the guest ends (traps) when there is none.
void *take(uint32_t size);

// The same, with a zero in each.
void *zeroed(uint32_t size);

// How many places a table has that so many fill by half at most: a power of two.
uint32_t places_for(uint32_t count);

// What the host gave for this call.
const void *given(void);

// What was taken since `mark` is free again.
void *mark(void);
void back_to(void *mark);

// What was taken until now stays from call to call.
void keep(void);

// A copy of a text, which may be written to.
uint8_t *copied(Text text);

// A copy of a text with a blank for each line end.
Text in_one_line(Text text);

static inline bool same(Text text, Text other) {
  if (text.size != other.size) return false;
  const uint8_t *at = text.at, *to = other.at;
  uint32_t size = text.size, place = 0;
  for (uint64_t some, others; place + sizeof some <= size; place += sizeof some) {
    __builtin_memcpy(&some, at + place, sizeof some);
    __builtin_memcpy(&others, to + place, sizeof others);
    if (some != others) return false;
  }
  while (place < size && at[place] == to[place]) place++;
  return place == size;
}

// The character at a place, and the place behind it.
static inline uint32_t next_char(Text text, uint32_t *place) {
  const uint8_t *at = text.at + *place;
  uint32_t left = text.size - *place, first = at[0];
  if (first < 0x80 || left < 2) {
    *place += 1;
    return first;
  }
  if (first < 0xe0 || left < 3) {
    *place += 2;
    return (first & 0x1f) << 6 | (at[1] & 0x3f);
  }
  if (first < 0xf0 || left < 4) {
    *place += 3;
    return (first & 0xf) << 12 | (at[1] & 0x3f) << 6 | (at[2] & 0x3f);
  }
  *place += 4;
  return (first & 7) << 18 | (at[1] & 0x3f) << 12 | (at[2] & 0x3f) << 6 | (at[3] & 0x3f);
}

// The character that ends before a place, and the place where it begins; the place is greater than 0.
static inline uint32_t char_before(Text text, uint32_t *place) {
  do *place -= 1;
  while (*place && (text.at[*place] & 0xc0) == 0x80);
  uint32_t at = *place;
  return next_char(text, &at);
}

// Many bytes of a text at once.
typedef uint8_t Bytes __attribute__((vector_size(16)));

// The bytes at a place, which need not be aligned.
static inline Bytes bytes_at(const uint8_t *at) {
  Bytes bytes;
  __builtin_memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

// A bit for each byte of which something is true.
static inline uint64_t bits_of(Bytes are_so) { return wasm_i8x16_bitmask((v128_t)are_so); }

// Where a byte first stands in a text; its size when that is nowhere.
static inline uint32_t place_of(uint8_t byte, Text text) {
  const uint8_t *at = text.at;
  uint32_t place = 0, size = text.size;
  for (uint64_t found; place + sizeof(Bytes) <= size; place += sizeof(Bytes))
    if ((found = bits_of((Bytes)(bytes_at(at + place) == byte)))) return place + __builtin_ctzll(found);
  while (place < size && at[place] != byte) place++;
  return place;
}

// How often a byte stands in a text.
static inline uint32_t count_of(uint8_t byte, Text text) {
  uint32_t count = 0;
  for (uint32_t place = 0; place < text.size; place++) count += text.at[place] == byte;
  return count;
}

static inline void set_bit(uint64_t *bits, uint32_t bit) { bits[bit / 64] |= 1ull << bit % 64; }

static inline bool is_set(const uint64_t *bits, uint32_t bit) { return bits[bit / 64] >> bit % 64 & 1; }

// Whether a text stands at a place of another, which may lie outside of it.
static inline bool stands_at(Text text, Text other, int32_t place) {
  return place >= 0 && place + text.size <= other.size && same(text, (Text){other.at + place, text.size});
}

// Takes what stands before the next sign of a kind, or before the end; the sign goes with it.
static inline Text taken_until(uint8_t sign, Text *left) {
  Text found = {left->at, place_of(sign, *left)};
  uint32_t behind = found.size < left->size ? found.size + 1 : found.size;
  *left = (Text){left->at + behind, left->size - behind};
  return found;
}

bool is_ascii(Text text);

// A text in plain lower-case letters; false when the host must fold it, because letters may become one.
bool fold(Text raw, Text *folded);

// A folded text with every letter that looks like a Latin one as that one; the same text when there is none.
Text look_alike(Text folded);

// The number of the rule that holds in a folded text with these signs, -1 when none does; `title` leaves out soft
// rules.
int32_t judge(Text folded, uint32_t signs, bool title);

// The same of a text whose blanks were taken out, of which only the letters are read.
int32_t judge_run_together(Text span);

// The bits of `shapes.py`: what a text shows, or what says an instruction.
enum {
  DIGITS = 1 << 0,
  LETTERS = 1 << 1,
  CAMEL = 1 << 2,
  LONG = 1 << 3,
  TURN = 1 << 4,
  CODE = 1 << 5,
  WORDS = 1 << 6,
  BACKWARDS = 1 << 7,
  TURNED = 1 << 8,
  DOUBLES = 1 << 9,
  BREAKS = 1 << 10,
  BROKEN = 1 << 11,
};
// Above them stands one more than the number of the rule by which words surely say one.
enum { ABOVE = 16 };

// The first of its words that are written as one which say an instruction: the number of the rule, or -1.
int32_t judge_long_words(Text plain);

// The categories of all that stands in a folded text.
const void *meaning_of(Text folded);

// What is known of rules, sorted by their heads.
void sort_rules(void);
