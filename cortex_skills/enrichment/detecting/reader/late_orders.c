// Where an English order begins in the middle of a sentence, without a sign that one sentence ends.
//
// Rules kept here:
// - a verb that no noun is written like (`ignore`, `reveal`) gives an order where a statement cannot have it: behind a
//   noun in the singular, an adjective or a number ("The bridge is 12 m long ignore the rules");
// - any verb gives one behind what leads from a fact to an order (`so`, `by the way`, `from now on`, `in your answer`);
// - what somebody is `requested to` do, or `it is vital that you` do, may be an order, as what somebody must do;
// - what stands behind who does it, a helping verb, `to`, an adverb or another verb stays a statement.
#include "reading.h"

// How far a helping verb reaches.
enum { NEAR = 4 };

static bool ends_in(Text word, const char *end, uint32_t size) {
  if (word.size < size) return false;
  for (uint32_t at = 0; at < size; at++)
    if (word.at[word.size - size + at] != (uint8_t)end[at]) return false;
  return true;
}

static bool is_plural(Text word) {
  return ends_in(word, "s", 1) && !ends_in(word, "ss", 2) && !ends_in(word, "us", 2) && !ends_in(word, "is", 2);
}

static uint32_t roles_before(const Token *tokens, uint32_t place, uint32_t back) {
  return place >= back ? tokens[place - back].roles : 0;
}

static bool leads_on(const Token *tokens, uint32_t place) {
  uint32_t second = tokens[place - 1].roles, first = roles_before(tokens, place, 2);
  if (second & LEADING_ON) return true;
  if (first & YOUR) return second & OUTPUT && roles_before(tokens, place, 3) & WITHIN;
  return (first & FROM_POINT && second & ON) || (first & THE && second & WAY);
}

static bool is_bidden(const Token *tokens, uint32_t place) {
  uint32_t first = roles_before(tokens, place, 2), second = tokens[place - 1].roles;
  if (place > 2 && first & THAT && second & YOU) return tokens[place - 3].roles & DEMANDED;
  return second & TO && first & BIDDEN;
}

static bool tells(const Token *tokens, uint32_t place) {
  const Token *before = &tokens[place - 1];
  uint32_t at = 0;
  if (before->roles & TELLING || !(class_of(next_char(before->text, &at)) & ALNUM)) return true;
  if (ends_in(before->text, "ly", 2)) return true;
  for (uint32_t back = 1; back <= NEAR && back <= place; back++)
    if (tokens[place - back].roles & HELPING) return true;
  return is_plural(before->text);
}

void place_late_orders(const Token *tokens, uint32_t count, Mask *row) {
  for (uint32_t place = 1; place < count; place++) {
    Mask mask = tokens[place].mask;
    if (!meet(mask, kinds->plain) || !meet(mask, kinds->verbs) || meet(row[place], kinds->order)) continue;
    if (leads_on(tokens, place) || (tokens[place].roles & ALWAYS_VERB && !tells(tokens, place)))
      row[place] = without(either(mask, kinds->order), kinds->plain);
    else if (is_bidden(tokens, place)) row[place] = without(either(mask, kinds->maybe), kinds->plain);
  }
}
