// What may stand in texts by its form, and what the host is told of it.
#pragma once
#include "reader.h"

// Texts one behind the other, with a line end between them: where each of them ends.
typedef struct {
  Text text;
  const uint32_t *ends;
  uint32_t count;
} Joined;

enum { OVER_LINES = -2 };

// A pattern, whether it surely stands there, the number of the text in which it may stand, and the line there; or
// OVER_LINES, and no line.
typedef struct {
  uint16_t pattern, is_sure;
  int32_t number;
  uint32_t start, size;
} Place;

// Where which patterns may stand.
typedef struct {
  uint32_t count;
  Place *places;
} Forms;

Forms forms_of(Joined texts);

// What a text may be by its form: the lesser signs that may stand in it, and whether it may be an instruction.
typedef struct {
  uint32_t signs;
  bool may_be_order;
} Formed;

Formed formed(Text text);

// The lesser sign that a pattern stands for, a bit; 0 when it is an instruction.
uint32_t sign_of(uint32_t pattern);
