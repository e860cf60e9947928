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

#define EXPORT(name) __attribute__((export_name(name)))

typedef struct {
  const uint8_t *at;
  uint32_t size;
} Text;

// What a character is, a bit each; of ASCII, too.
enum {
  ALNUM = 1,     // `str.isalnum`
  LETTER = 2,    // the same, and no decimal digit
  SPACE = 4,     // `str.isspace`
  ENDING = 8,    // ends a sentence
  CLAUSING = 16, // ends a clause
  QUOTING = 32,  // a quotation mark
  SIGN = 64,     // a token by itself
};

enum { CODES = 0x110000 };
extern uint8_t classes[CODES];
static inline uint8_t class_of(uint32_t code) { return classes[code < CODES ? code : 0]; }

// Room for so many bytes, aligned to 8, right behind what was taken last; the guest ends (traps) when there is none.
void *take(uint32_t size);

// What was taken since `mark` is free again.
void *mark(void);
void back_to(void *mark);

// What was taken until now stays from call to call.
void keep(void);

// A copy of a text, with room for `more` bytes behind it, which may be written to.
uint8_t *copied(Text text, uint32_t more);

static inline bool same(Text text, Text other) {
  if (text.size != other.size) return false;
  for (uint32_t place = 0; place < text.size; place++)
    if (text.at[place] != other.at[place]) return false;
  return true;
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

// The number of the rule that holds in a folded text with these signs, -1 when none does; `title` leaves out soft rules.
int32_t judge(Text folded, uint32_t signs, bool title);

// The same of a text whose blanks were taken out, of which only the letters are read.
int32_t judge_run_together(Text span);

// The bits of `shapes.py`: what a text shows, and, shifted by SAYS, what says an instruction.
enum { DIGITS = 1, CAMEL = 4, LONG = 8, WORDS = 64, BACKWARDS = 128, DOUBLES = 512, BREAKS = 1024, SAYS = 16 };

// Which disguises a text shows, and which of them hide an instruction; `plain` is the text folded, as it looks.
uint32_t disguises(Text raw, Text plain, uint32_t signs);

// Take in the words that are known by what they are without doubled letters: pairs of words, apart by line ends.
void learn_single(Text pairs);

// What is known of rules, sorted by their heads.
void sort_rules(void);
