// Where in a sentence an English verb gives an order.
//
// Rules kept here:
// - it does at the start of a clause, after words such as `please` and `do not`, after a label in brackets, and after
//   another order; it may (`maybe`) after `to`, `must`, `you`; anywhere else it is not counted as a verb;
// - what may be ignored is an order in other words; what is forbidden is none, unless it is what protects.
#include "reading.h"

// What is known of a sentence while its verbs are placed.
typedef struct {
  const Token *tokens;
  const Mask *row;
  uint32_t count;
  bool order_seen, leads, is_labelled;
} Placing;

static uint32_t roles_at(const Placing *in, uint32_t place) { return place < in->count ? in->tokens[place].roles : 0; }

static bool is_adverb(Text word) {
  return word.size >= 2 && word.at[word.size - 2] == 'l' && word.at[word.size - 1] == 'y';
}

static Mask as_noun(Mask mask) { return meet(mask, kinds->order) ? mask : without(mask, kinds->verbs); }

// The categories of an English verb, by what stands before it.
static Mask placed(const Placing *in, uint32_t place, Mask mask) {
  Mask order = either(mask, kinds->order), maybe = either(mask, kinds->maybe);
  if (roles_at(in, place + 1) & AFTER_NOUN) return as_noun(mask);
  if (place == 0) return order;
  uint32_t before = in->tokens[place - 1].roles;
  Mask kind = in->row[place - 1];
  if (meet(kind, either(kinds->clause, kinds->quoted))) {
    if (before & CLOSING && !(in->is_labelled && before & BRACKET)) return as_noun(mask);
    return !(before & COMMA) || in->order_seen || in->leads ? order : maybe;
  }
  uint32_t earlier = place > 1 ? in->tokens[place - 2].roles : 0;
  if (is_adverb(in->tokens[place - 1].text) && earlier & BEFORE_MAYBE) before = earlier;
  if (meet(kind, kinds->not) && meet(mask, kinds->deeds) && !(in->tokens[place].roles & PROTECTIVE)) {
    mask = without(mask, kinds->deeds);
    order = either(mask, kinds->order);
    maybe = either(mask, kinds->maybe);
  }
  if (meet(mask, kinds->ignore) && before & PERMITTING) return maybe;
  if (before & JOINING) return in->order_seen ? order : maybe;
  if (before & BEFORE_ORDER) return order;
  if (meet(kind, kinds->not) && (place == 1 || earlier & BEFORE_NOT)) return order;
  if (before & YOU) return earlier & ASKING ? order : without(mask, kinds->verbs);
  if (before & BEFORE_MAYBE || (before & TO && earlier & BEFORE_TO)) return maybe;
  return as_noun(mask);
}

void place_words(const Token *tokens, uint32_t count, Mask *row) {
  Placing in = {tokens, row, count, false, false, tokens[0].roles & OPENING};
  in.leads = tokens[0].roles & LEADING || (roles_at(&in, 1) & COLON && roles_at(&in, 2) & LEADING);
  for (uint32_t place = 0; place < count; place++) row[place] = tokens[place].mask;
  for (uint32_t place = 0; place < count; place++) {
    Mask mask = row[place];
    if (!meet(mask, kinds->plain) || !meet(mask, kinds->verbs)) continue;
    mask = placed(&in, place, mask);
    in.order_seen = in.order_seen || meet(mask, kinds->order);
    row[place] = without(mask, kinds->plain);
  }
}
