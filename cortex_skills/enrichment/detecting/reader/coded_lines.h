// What is told of the codes in a text.
#pragma once
#include "reader.h"

// What may stand at a place: a code; an entity of HTML; a plus between letters, of which an address has some.
enum { CODED = 1, ENTITY = 2, PLUS = 4 };

// What is told of a line: its number, and what may stand in it, with how often PLUS does above the rest.
typedef struct {
  uint32_t number, what;
} LineInCode;

// The lines of a text in which something may stand, in their order.
const LineInCode *lines_in_code(Text text, uint32_t *count);
