// What may stand in texts by its form, and what the host is told of it.
#pragma once
#include "reader.h"

// Texts one behind the other, with a line end between them: where each of them ends.
typedef struct {
  Text text;
  const uint32_t *ends;
  uint32_t count;
} Joined;

// Where a pattern may stand that goes over lines, or only would when lines are read as one.
enum { OVER_LINES = -2, AS_ONE = -3 };

// A pattern, whether it surely stands there, the number of the text in which it may stand, and the line there; or one of
// these, and no line.
typedef struct {
  uint16_t pattern, is_sure;
  int32_t number;
  uint32_t start, size;
} Place;

// Whether lines may be so short that they are read as one, and where which patterns may stand.
typedef struct {
  uint32_t are_short, count;
  Place *places;
} Forms;

Forms forms_of(Joined texts);

// The lesser sign that a pattern stands for, a bit; 0 when it is an instruction.
uint32_t sign_of(uint32_t pattern);
