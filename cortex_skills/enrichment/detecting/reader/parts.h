// A part of a document: some of its lines that follow each other, as they are and without the disguises that they show.
#pragma once
#include "lines.h"

typedef struct {
  Lines lines;
  Text raw;
  Text plain; // as it looks; nothing when it shows no disguise and has no line ends
  uint32_t shown, first_view, behind_views;
  bool has_line_ends; // it is read as if it had none, too
} Part;

// What a part may be by its form over its lines, as it looks, and as if it stood in one line; nothing when it does.
Formed formed_as_seen(const Part *part);

// What it may be over its lines as it is written; nothing when that is how it looks.
Formed formed_as_written(const Part *part);

// A part as it reads without a disguise, the lesser signs that may stand in it then, and whether it may be an
// instruction by its form over its lines.
typedef struct {
  uint32_t part, disguise, signs;
  bool may_be_order;
  Way way; // in which its lines are read; WAYS when it is read as a whole
  Text text;
} View;

enum { MOST_VIEWS = 9 };

Part part_of(Lines lines, Text raw);

// Writes how a part reads without the disguises that it shows; behind the last of these views.
View *put_views(View *to, const Part *part);

// The lesser signs that may stand in a part: as it is written, and as it looks, or would as one line.
typedef struct {
  uint32_t written, seen;
} Signs;

// What a part says by its words, and in its views: bits of disguises, and WORDS; writes the first rule that holds for its
// words, or BESIDE_SIGNS, or -1.
uint32_t said_by(const Part *part, const View *views, Signs signs, int32_t *rule);
