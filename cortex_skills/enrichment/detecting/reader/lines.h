// The lines of some texts, each of which is read once, however many texts it stands in.
#pragma once
#include "disguises.h"
#include "forms.h"
#include "reading.h"

// What words say: the lesser signs beside any of which they say an instruction, a bit each, and the first rule by which
// they do without; -1, when they do not.
typedef struct {
  uint32_t beside;
  int32_t rule;
} Said;

// The words of a line, with the ends of its sentences: where the first and the last of those are, or how many words
// there are when there is none; the categories of what stands before the first end and behind the last, which others
// may share a sentence with, and what that says by itself; what the sentences between them say.
typedef struct {
  const Token *tokens;
  uint32_t count, first_end, last_end;
  Mask head, tail;
  Said head_says, tail_says, says_within;
} Words;

// A line as it may be read, its words, and what may stand in it by its form; both when they were asked for.
typedef struct {
  Text text;
  Words words;
  Forms forms;
  bool has_words, has_forms;
} Reading;

// Whether something says an instruction, when that was asked.
typedef enum { NOT_ASKED, SAYS_NOT, SAYS_SO } Verdict;

// What is noted of a line when a document is looked at as a whole: the lesser signs that may stand in it, as it is
// written and as it looks; whether a code may, and how often a plus may stand between letters.
typedef struct {
  uint32_t signs[AS_SEEN + 1];
  uint32_t pluses, foreign;
  bool is_coded;
} Noted;

// What is true of a line, a bit each: it has words of languages without blanks, the host has folded it, it may name who
// speaks, and holds what is folded to a line end.
enum { HAS_SCRIPT = 1, FOLDED_BY_HOST = 2, MAY_NAME_SPEAKER = 4, HAS_LINE_END = 8 };

// A line, and how it reads: the same in all ways in which its text is the same; nothing in those that were not asked for,
// but as it is written, and as it looks.
typedef struct {
  Text raw;
  Reading *readings[WAYS];
  Counts counts;
  uint32_t flags;
  Verdict of_long_words;
  Noted noted;
} Line;

// Makes ready for so many lines at most.
void begin_lines(uint32_t most, uint64_t seed);

// The line that was written so; NULL when the host must fold it.
Line *line_of(Text raw);

// Notes a line that the host has folded.
void add_folded_line(Text raw, Text folded, Text plain);

// Some lines that follow each other.
typedef struct {
  Line **at;
  uint32_t count;
} Lines;

// What is counted of them together.
Counts counts_of(Lines lines);

// Their text, as it is read in a way.
Text text_of_lines(Lines lines, Way way);

// What may stand in a line by its form, as it is read in a way.
Forms forms_of_line(Line *line, Way way);

// The first rule by which their words say an instruction, as they are read in a way; BESIDE_SIGNS, when they do beside
// such lesser signs alone; -1, when they do not.
enum { BESIDE_SIGNS = INT32_MAX };
int32_t words_say_beside(Lines lines, Way way, uint32_t signs);

// Whether words that are written as one say an instruction: none goes on from line to line.
bool long_words_say(Lines lines);

// What is true of any of them.
uint32_t flags_of(Lines lines);

// Whether two ways are the same for all of them.
bool are_read_alike(Lines lines, Way way, Way other);
