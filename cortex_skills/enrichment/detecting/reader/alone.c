// What may be in one text that nothing is known of, and what a folded one is.
//
// Rules kept here:
// - what is cleared here says nothing; the lesser signs that may stand in a text count as if they did;
// - of a folded text the host looks itself which signs stand in it, and asks again beside those.
#include "coded_lines.h"
#include "forms.h"
#include "parts.h"

static uint32_t hidden_in(View *views, uint32_t count) {
  uint32_t found = 0;
  for (uint32_t each = 0; each < count; each++) {
    // What is parted at capitals is read for its words alone.
    Formed view = views[each].way == APART ? (Formed){0, false} : formed(views[each].text);
    views[each].signs = view.signs;
    if (view.may_be_order) found |= views[each].disguise;
  }
  return found;
}

static bool may_be_coded(Text raw) {
  uint32_t count, pluses = 0, foreign = 0;
  const LineInCode *lines = lines_in_code(raw, &count);
  for (uint32_t each = 0; each < count; each++) {
    if (lines[each].what % PLUS) return true;
    pluses += lines[each].what / PLUS;
    foreign += lines[each].foreign;
  }
  return are_code(pluses, foreign, raw);
}

// What may be in a text, a bit each. Its lines are read as one.
EXPORT("doubts") int32_t doubts(uint32_t size) {
  Text raw = {given(), size};
  begin_lines(1, 0);
  Line *line = line_of(raw);
  if (!line) return answered(FOLD_IT);
  Part part = part_of((Lines){&line, 1}, raw);
  begin_forms(size);
  View views[MOST_VIEWS];
  if (part.shown) part.behind_views = put_views(views, &part) - views;
  uint32_t found = hidden_in(views, part.behind_views) | (may_be_coded(raw) ? CODE : 0);
  if (line->flags & MAY_NAME_SPEAKER) found |= TURN;
  Text seen = line->readings[AS_SEEN]->text, written = line->readings[AS_WRITTEN]->text;
  Formed as_seen = formed(seen), as_written = seen.at == written.at ? as_seen : formed(written);
  Formed as_one = formed_as_seen(&part);
  if (as_seen.may_be_order || as_written.may_be_order || as_one.may_be_order) found |= WORDS;
  int32_t rule;
  uint32_t said = said_by(&part, views, (Signs){as_written.signs, as_seen.signs | as_one.signs}, &rule);
  return answered((int32_t)(found | said));
}

// What a folded text may be by its form; the rules that hold in it beside no sign, and would if it were a title, or -1.
typedef struct {
  Places forms;
  int32_t rule, as_title;
} Judged;

EXPORT("judge_alone") int32_t judge_alone(uint32_t size) {
  Text text = {given(), size};
  begin_forms(size);
  Judged *found = take(sizeof *found);
  found->forms = places_in_text(text);
  found->rule = judge(text, 0, false);
  found->as_title = found->rule < 0 ? -1 : judge(text, 0, true);
  return answered((int32_t)found);
}
