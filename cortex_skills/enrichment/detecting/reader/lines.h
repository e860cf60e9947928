// The lines of some texts, each of which is read once, however many texts it stands in.
#pragma once
#include "disguises.h"
#include "reading.h"

// The words of a line, with the ends of its sentences: where the first and the last of those are, or how many words
// there are when there is none; the categories of what stands before the first end and behind the last, which others
// may share a sentence with, and whether that says an instruction by itself; whether a sentence between them does.
typedef struct {
  const Token *tokens;
  uint32_t count, first_end, last_end;
  Mask head, tail;
  bool head_says, tail_says, says_within;
} Words;

// A line as it may be read.
typedef struct {
  Text text;
  Words words;
  bool is_known;
} Reading;

typedef struct {
  Text raw;
  Reading readings[WAYS];
  Counts counts;
  bool has_script;
} Line;

// Makes ready for so many lines at most, of texts with these signs.
void begin_lines(uint32_t most, uint32_t signs, uint64_t seed);

// The line that was written so; NULL when the host must fold it.
Line *line_of(Text raw);

// A text that the host has folded, as one line, whatever it holds.
Line *line_that_is(Text raw, Text folded, Text plain);

// Some lines that follow each other.
typedef struct {
  Line **at;
  uint32_t count;
} Lines;

// What is counted of them together.
Counts counts_of(Lines lines);

// Their text, as it is read in a way.
Text text_of_lines(Lines lines, Way way);

// Whether their words say an instruction, as they are read in a way.
bool words_say(Lines lines, Way way);

// Whether two ways are the same for all of them.
bool are_read_alike(Lines lines, Way way, Way other);

// Of the disguises that they show, those that hide an instruction; `plain` is their text as it looks.
uint32_t says_without(uint32_t shown, Lines lines, Text plain, uint32_t signs);
