// The lines of some texts, each of which is read once, however many texts it stands in.
#pragma once
#include "disguises.h"
#include "reading.h"

// The words of a line, with the ends of its sentences: where the first and the last of those are, or how many words
// there are when there is none. Whether a sentence between them says an instruction, and needs no other line to.
typedef struct {
  const Token *tokens;
  uint32_t count, first_end, last_end;
  bool says_within;
} Words;

typedef struct {
  Text raw, folded, plain;
  Words read, seen; // as it is read, and as it looks
  Counts counts;
  bool has_script;
} Line;

// Makes ready for so many lines at most, of texts with these signs.
void begin_lines(uint32_t most, uint32_t signs, uint64_t seed);

// The line that was written so; NULL when the host must fold it.
const Line *line_of(Text raw);

// Some lines that follow each other.
typedef struct {
  const Line **at;
  uint32_t count;
} Lines;

// What is counted of them together.
Counts counts_of(Lines lines);

// Their text, as it is read or as it looks.
Text text_of_lines(Lines lines, bool as_seen);

// Whether their words say an instruction, as they are read or as they look.
bool words_say(Lines lines, bool as_seen);
