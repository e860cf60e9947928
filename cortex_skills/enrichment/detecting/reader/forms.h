// What the host is told of the forms of a text.
#pragma once
#include "reader.h"

enum { OVER_LINES = -2 };

// A pattern, and the number of the line in which it may stand, or OVER_LINES.
typedef struct {
  uint32_t pattern;
  int32_t line;
} Place;

// Whether lines may be so short that they are read as one, how many words may be turned, and how many places follow.
typedef struct {
  uint32_t are_short, turned, count, unused;
} Forms;

// How many words in small letters of ASCII stand in a text that are known to be turned.
uint32_t turned_in(Text plain);
