// What is told of the codes in a text.
#pragma once
#include "reader.h"

// What may stand at a place, as `ways.py` has it: an escape; an entity of HTML; a run in some base, in base 85 or a word
// of rot47, a row of numbers, of strokes, of groups; a plus between letters, of which an address has some.
enum {
  ESCAPED = 1,
  ENTITY = 2,
  BASED = 4,
  SIGNED = 8,
  NUMBERED = 16,
  STROKED = 32,
  GROUPED = 64,
  PLUS = 128,
  FOREIGN = 256, // a character in UTF-7 that is no Latin letter
};

// What is told of a line: its number, what may stand in it, with how often PLUS does above the rest, and how often
// FOREIGN does.
typedef struct {
  uint32_t number, what, foreign, unused;
} LineInCode;

// Whether a text with so many pluses, and so many such characters, may be in code for them.
bool are_code(uint32_t pluses, uint32_t foreign, Text raw);

// The lines of a text in which something may stand, in their order.
const LineInCode *lines_in_code(Text text, uint32_t *count);
