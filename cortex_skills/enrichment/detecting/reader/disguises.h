// What both parts of `disguises` ask of a text: what it shows, and how it reads without that.
#pragma once
#include "reader.h"

// So many letters written as one may be several words.
enum { LONG_WORD = 16, MIDDLE_DOT = 0xb7 };

// What a byte of ASCII may be to a disguise.
enum {
  SMALL = 1,
  LARGE = 2,
  LIKE = 4, // a digit or sign that looks like a letter
  EDGE = 8, // one that does so at the end of a word, too
  BREAK = 16,
};
extern const uint8_t roles_of[128];

static inline bool is(Text text, uint32_t place, uint8_t roles) {
  return place < text.size && text.at[place] < sizeof roles_of && roles_of[text.at[place]] & roles;
}

static inline bool is_space(uint32_t code) { return class_of(code) & SPACE; }
static inline bool is_letter(uint32_t code) { return class_of(code) & LETTER; }

// How much of each disguise a line shows, or some lines together. Of letters that stand alone one after the other, all
// are counted, but for the first when a longer word stands before it in its line.
typedef struct {
  uint32_t chars, line_ends, blanks, likes, humps, hyphens, breaks, parted, doubles, doubled_first, long_words, singles,
      turned;
} Counts;

Counts counted(Text raw, Text plain, bool is_ascii);

// Which disguises a text shows whose lines show so much.
uint32_t shown_by(const Counts *counts, Text raw);

// Whether the letters that stand apart in a text say an instruction, or may, when nothing else is read; there need be
// none.
bool letters_say(Text plain);

// Writes a text with such letters together, in each of two ways in which they stand apart in it; how many are written.
enum { MOST_TOGETHER = 2 };
uint32_t put_letters_together(Text plain, Text *to);

// How many words in small letters of ASCII stand in a text that are known to be turned.
uint32_t turned_in(Text plain);

// Whether a text shows so many ways in which it may have been turned that it is left to the host.
bool is_turned_in_many_ways(Text plain);

// A text as it was before it was turned, in all ways that it shows, each as sentences; nothing when there are none, or
// many.
Text turned(Text plain);

// So many letters that stand alone one after the other may be such a word.
enum { SPELLED = 6 };

// The ways in which a line is read, whatever stands beside it: as it is written, as it looks, with letters for digits
// and signs in either of two ways, with a blank before each hump, without hyphens.
typedef enum { AS_WRITTEN, AS_SEEN, WITH_LETTERS, WITH_OTHERS, APART, UNHYPHENED, WAYS } Way;

// A line in one of the ways from WITH_LETTERS on; `plain` is how it looks.
Text read_in(Way way, Text raw, Text plain);

// Whether a letter stands before a place, which becomes that of the letter.
bool is_behind_letter(Text plain, uint32_t *place);

// Whether a letter stands at a place, which becomes that behind it.
bool is_before_letter(Text plain, uint32_t *place);

// Whether a word begins with a capital at a place, within what is written as one.
bool is_hump(Text raw, uint32_t place);

// Whether a text may name who speaks, in capitals.
bool may_name_speaker(Text raw);

// Whether a hyphen stands at a place, between letters.
bool is_hyphen(Text plain, uint32_t place);
