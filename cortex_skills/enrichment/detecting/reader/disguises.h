// What both parts of `disguises` ask of a text: what it shows, and how it reads without that.
#pragma once
#include "reader.h"

// So many letters written as one may be several words.
enum { LONG_WORD = 16 };

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

// Whether a word begins with a capital at a place, within what is written as one.
bool is_hump(Text raw, uint32_t place);

// Whether a hyphen stands at a place, between letters.
bool is_hyphen(Text plain, uint32_t place);

// Whether a text says an instruction when it is read in a way.
bool says_with_letters_for_signs(Text plain, uint32_t signs);
bool says_with_humps_apart(Text raw);
bool says_backwards(Text plain, uint32_t signs);
bool says_without_doubles(Text plain, uint32_t signs);
bool says_without_hyphens(Text plain, uint32_t signs);
