// What a part of a document shows, and what it says by its words.
//
// Rules kept here:
// - a part is judged as it is written, as it looks, as one line, and without the disguises that it shows; each with the
//   lesser signs that may stand in it then;
// - words without line ends are read as one line where they are read (`reading.c`), others here.
#include "parts.h"

Part part_of(Lines lines, Text raw) {
  Counts counts = counts_of(lines);
  Part part = {.lines = lines, .raw = raw, .shown = shown_by(&counts, raw), .has_line_ends = counts.line_ends};
  if (part.shown || part.has_line_ends) part.plain = text_of_lines(lines, AS_SEEN);
  return part;
}

static Formed formed_in(const Part *part, Text text, Way way, bool in_one_line) {
  Lines lines = part->lines;
  Piece *pieces = take(lines.count * sizeof *pieces);
  for (uint32_t each = 0; each < lines.count; each++) {
    Line *line = lines.at[each];
    pieces[each] = (Piece){line->readings[way]->text.size, false, forms_of_line(line, way)};
  }
  return formed_over_lines(text, pieces, lines.count, in_one_line);
}

Formed formed_as_seen(const Part *part) {
  return part->has_line_ends ? formed_in(part, part->plain, AS_SEEN, true) : (Formed){0, false};
}

Formed formed_as_written(const Part *part) {
  Lines lines = part->lines;
  if (!part->has_line_ends || are_read_alike(lines, AS_WRITTEN, AS_SEEN)) return (Formed){0, false};
  return formed_in(part, text_of_lines(lines, AS_WRITTEN), AS_WRITTEN, false);
}

static bool view_says(const View *view, Lines lines) {
  if (view->way == WAYS) return judge(view->text, view->signs, false) >= 0;
  if (view->way != APART) return words_say_beside(lines, view->way, view->signs) >= 0;
  // What looks like a capital within a word is no sign of a rule; what is parted there, the host must fold anew.
  return flags_of(lines) & FOLDED_BY_HOST || words_say_beside(lines, APART, 0) >= 0;
}

static uint32_t said_in_disguise(const Part *part, const View *views) {
  uint32_t said = 0;
  if (part->shown & LETTERS && letters_say(part->plain)) said |= LETTERS;
  if (part->shown & TURNED && is_turned_in_many_ways(part->plain)) said |= TURNED;
  if (part->shown & LONG && long_words_say(part->lines)) said |= LONG;
  if (part->shown & BROKEN && judge_run_together(part->plain) >= 0) said |= BROKEN;
  for (uint32_t each = part->first_view; each < part->behind_views; each++)
    if (!(said & views[each].disguise) && view_says(&views[each], part->lines)) said |= views[each].disguise;
  return said;
}

// The first rule that holds for the words of a part: as it is written, as it looks, or as one line.
static int32_t rule_of_words(const Part *part, Signs signs) {
  Lines lines = part->lines;
  int32_t rule = -1;
  if (!are_read_alike(lines, AS_WRITTEN, AS_SEEN)) rule = words_say_beside(lines, AS_WRITTEN, signs.written);
  if (rule < 0) rule = words_say_beside(lines, AS_SEEN, signs.seen);
  if (rule < 0 && part->has_line_ends && flags_of(lines) & HAS_SCRIPT)
    rule = judge(in_one_line(part->plain), signs.seen, false);
  return rule;
}

uint32_t said_by(const Part *part, const View *views, Signs signs, int32_t *rule) {
  uint32_t said = part->shown ? said_in_disguise(part, views) : 0;
  *rule = rule_of_words(part, signs);
  return *rule < 0 ? said : said | WORDS;
}
