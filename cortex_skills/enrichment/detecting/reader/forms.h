// What may stand in texts by its form, and what the host is told of it.
#pragma once
#include "reader.h"

// That a pattern may stand in a line of a text, whether it surely does, and would in one line with others.
typedef struct Form {
  const struct Form *next;
  uint16_t pattern;
  bool is_sure, is_sure_in_one;
  uint32_t start, size; // of the line
} Form;

// That a line of a text has literals of a set: where the first and the last of them begin.
typedef struct Hit {
  const struct Hit *next;
  uint32_t set, first, last;
} Hit;

// That a literal of a set may go on over an end of a line: where it would begin.
typedef struct Overhang {
  const struct Overhang *next;
  Text literal;
  uint32_t set;
  int32_t start;
} Overhang;

// What may stand in the lines of a text, each by itself; and what they have of that which may go over lines.
typedef struct {
  const Form *forms;
  const Hit *hits;
  const Overhang *overhangs;
} Forms;

// Makes ready for texts of so many bytes together.
void begin_forms(uint32_t size);

Forms forms_in(Text text);

// A piece of some texts, of whole lines: how many bytes it has, and what may stand in it; whether that is told of
// elsewhere, but for what goes over lines.
typedef struct {
  uint32_t size;
  bool is_told;
  Forms forms;
} Piece;

// Texts one behind the other, with a line end between them, and between the pieces of each: where each text ends.
typedef struct {
  Text text;
  const uint32_t *ends;
  const Piece *pieces;
  uint32_t count, piece_count;
} Joined;

// A pattern, whether it surely stands there, the number of the text in which it may stand, and the line there; no line,
// when it may stand over lines.
typedef struct {
  uint16_t pattern, is_sure;
  uint32_t number, start, size;
} Place;

// Where which patterns may stand.
typedef struct {
  uint32_t count;
  Place *places;
} Places;

// In the lines of some texts.
Places places_in(Joined texts);

// In one text, in its lines or over them.
Places places_in_text(Text text);

// What a text may be by its form: the lesser signs that may stand in it, and whether it may be an instruction.
typedef struct {
  uint32_t signs;
  bool may_be_order;
} Formed;

Formed formed(Text text);

// The same of a text over its lines, when what may stand in its pieces is known; and as if it stood in one line, when
// that is asked for.
Formed formed_over_lines(Text text, const Piece *pieces, uint32_t count, bool in_one_line);

// The lesser sign that a pattern stands for, a bit; 0 when it is an instruction.
uint32_t sign_of(uint32_t pattern);
