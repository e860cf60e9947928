// What the parts of `codes` share: how they tell where a code may stand, and bytes that may be a text.
//
// Rules kept here:
// - what a part clears, no way of `decoding.py` reads, in whichever neighbouring lines it is looked for; what it tells
//   of may be none.
#pragma once
#include "coded_lines.h"

// Tells that something may stand at a place.
void tell(uint32_t place, uint16_t what);

// What a byte may be part of, a bit each. Behind the kinds of a text stands the end of a group, and room of none.
enum {
  WORD = 1,            // a run in base 64, and in all bases that have fewer letters
  VISIBLE = 2,         // one in base 85
  SIGN_OF_CODE = 4,    // what an escape, an entity or a plus is told by
  ROW = 8,             // numbers, and what stands between them
  STROKES = 16,        // dots and strokes, and what stands between them
  BETWEEN_GROUPS = 32, // what parts groups of letters
  FIRST_OF_ROT47 = 64, // one of its words may begin with it
  BEFORE_ROT47 = 128,  // or stand behind it
  BEHIND = 128,
};

bool is_of_number(uint8_t byte);
bool is_between_numbers(uint8_t byte);
bool may_be_of_strokes(uint8_t byte);
bool ends_group(uint8_t byte);

// What is known of the words and signs before a place: where the run of words began that goes on with the word at
// `next`, and where the letters end that may be one of UTF-7.
typedef struct {
  uint32_t begin, next, end_of_utf7;
} Words;

// What each part looks for in a run of its kind, or at a place.
void look_at_sign(Text text, uint32_t place, uint32_t *end_of_utf7);
void look_at_word(Text text, uint32_t start, uint32_t end, Words *words);
void look_at_signed_word(Text text, uint32_t start, uint32_t end);
void look_at_numbers(Text text, uint32_t start, uint32_t end);
void look_at_strokes(Text text, uint32_t start, uint32_t end);
void look_at_rot47(Text text, uint32_t place);
void know_rot47(Text word);
void look_for_groups(Text text, const uint8_t *kind);

// Bytes that come one after the other, of what may be a text that can be read (`bases.text_of`): in UTF-8, or, with a
// NUL in it, in UTF-16. What the host has not told of may be read.
typedef struct {
  uint32_t size, chars, readable;
  uint32_t code, left; // of the character at the end, of which so many bytes are missing
  uint32_t ends;       // whether what came was such a text, a bit for each byte, the lowest for the last
  struct {
    uint32_t readable, end; // characters; behind how many bytes the first one came that cannot be printed, or 0
  } wide[2];                // the same in UTF-16, with the larger half of a number first, or last
  uint8_t second, last;     // of the bytes
  bool is_over;             // no UTF-8 any more, whatever comes
  bool has_nul;
  bool has_control; // what cannot be read, before the last character
} Plain;

void put_byte(Plain *plain, uint8_t byte);

// A run of base 64 may begin or end within a character; one more byte may be cut where a sign stands within it.
enum { CUT = 3, CUT_AT_SIGN = 4 };

// Whether what came is such a text, or was before up to so many bytes came.
static inline bool may_be_text(const Plain *plain, uint32_t cut) { return plain->ends & ((2u << cut) - 1); }

// Whether it is none, whatever comes and is cut.
static inline bool is_no_text(const Plain *plain) { return plain->is_over && !may_be_text(plain, CUT_AT_SIGN); }

// Bytes that are written as numbers of some bits each.
typedef struct {
  uint32_t held, bits;
  Plain plain;
} Bits;

static inline void put_bits(Bits *bits, uint32_t value, uint32_t width) {
  bits->held = bits->held << width | value;
  bits->bits += width;
  if (bits->bits < 8) return;
  bits->bits -= 8;
  put_byte(&bits->plain, bits->held >> bits->bits);
}

// What a letter stands for in a base; NONE for what is no letter of it.
enum { NONE = 0xff };
uint8_t of_base16(uint8_t letter);
uint8_t of_base32(uint8_t letter);
uint8_t of_base32_hex(uint8_t letter);
uint8_t of_base64(uint8_t letter);

// So many numbers in a row are a code, or letters of strokes.
enum { ROW_OF = 8 };
// So many letters of a run over lines are read from each place where it may begin: what is a text so far may be one.
enum { FAR = 32 };

static inline bool is_hex(uint8_t byte) { return of_base16(byte) != NONE; }
static inline bool is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }
static inline bool is_letter_of_ascii(uint8_t byte) { return (uint8_t)((byte | 0x20) - 'a') < 26; }
