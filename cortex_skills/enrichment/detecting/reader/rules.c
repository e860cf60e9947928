// Whether a row of words is an instruction: what a known rule starts at, with all that it asks for around it.
//
// Rules kept here:
// - a rule is its head and what must stand around it within a sentence: `back` words before and `ahead` words after;
// - a verb counts when it gives an order, or when it may and the sentence speaks to `you` or of a model;
// - a sentence that goes over line ends is judged without them, too;
// - linear: each head is looked at once, with a window of bounded size.
#include "reading.h"

// What stands before a verb that gives an order belongs to it as far as this.
enum { BEFORE_VERB = 3, MOST_RULES = 1024 };

// The numbers of the rules by the category of their head, in their order.
typedef struct {
  uint16_t rules[MOST_RULES];
  uint32_t count;
} Heads;

// Places in a sentence.
typedef struct {
  uint32_t *at, count;
} Places;

static Heads by_head[MASK_BITS];
static Mask heads;

static bool has_bit(Mask mask, uint32_t bit) { return mask.bits[bit / 64] >> bit % 64 & 1; }

static uint32_t first_bit(Mask mask) {
  for (uint32_t part = 0; part < MASK_BITS / 64; part++)
    if (mask.bits[part]) return part * 64 + __builtin_ctzll(mask.bits[part]);
  return MASK_BITS;
}

// What the host has told of rules, by their heads.
void sort_rules(void) {
  heads = (Mask){{0}};
  for (uint32_t bit = 0; bit < MASK_BITS; bit++) by_head[bit].count = 0;
  if (rule_count > MOST_RULES) __builtin_trap();
  for (uint32_t number = 0; number < rule_count; number++) {
    heads = either(heads, rules[number].head);
    for (uint32_t bit = 0; bit < MASK_BITS; bit++)
      if (has_bit(rules[number].head, bit)) by_head[bit].rules[by_head[bit].count++] = number;
  }
}

// Whether all that a rule asks for may be in a sentence whose words have these categories.
static bool is_possible(const Rule *rule, Mask whole, uint32_t signs) {
  for (uint32_t group = 0; group < rule->needs; group++)
    if (!meet(whole, rule->need[group])) return false;
  return !rule->signs || rule->signs & signs;
}

// Whether a rule holds at one of the words that have its head, which stand at these places.
static bool holds(const Rule *rule, Places heads, const Mask *words, uint32_t count) {
  for (uint32_t each = 0; each < heads.count; each++) {
    uint32_t place = heads.at[each];
    Mask own = words[place];
    uint32_t back = rule->back, from, to;
    if (rule->ordering && !meet(own, kinds->late) && back > BEFORE_VERB) back = BEFORE_VERB;
    from = place > back ? place - back : 0;
    to = count - place > rule->ahead + 1 ? place + rule->ahead + 1 : count;
    Mask near = {{0}};
    for (uint32_t at = from; at < to; at++)
      if (at != place) near = either(near, words[at]);
    if (meet(near, rule->unless)) continue;
    if (rule->ordering && !meet(own, kinds->order) && !(meet(own, kinds->maybe) && meet(near, kinds->to_reader)))
      continue;
    uint32_t group = 0;
    while (group < rule->needs && meet(near, rule->need[group])) group++;
    if (group == rule->needs) return true;
  }
  return false;
}

// The words of a sentence in their places. Commas and the like are no words: they take no room in a window.
static uint32_t words_of(Sentence sentence, Mask whole, Mask *words) {
  if (sentence.placed) __builtin_memcpy(words, sentence.placed, sentence.count * sizeof(Mask));
  else {
    place_words(sentence.tokens, sentence.count, words);
    place_late_orders(sentence.tokens, sentence.count, words);
  }
  // What somebody else must do, or is told to do, is told.
  bool is_told = !meet(whole, kinds->spoken_to);
  uint32_t count = 0;
  for (uint32_t place = 0; place < sentence.count; place++) {
    Mask mask = words[place];
    if (equal(mask, kinds->clause)) continue;
    bool is_statement = is_told && meet(mask, kinds->maybe) && !meet(mask, kinds->order);
    words[count++] = is_statement ? without(mask, kinds->verbs) : mask;
  }
  return count;
}

bool may_say(Mask whole, uint32_t signs) {
  Mask left = both(whole, heads);
  for (uint32_t bit; (bit = first_bit(left)) < MASK_BITS; left.bits[bit / 64] &= left.bits[bit / 64] - 1)
    for (uint32_t each = 0; each < by_head[bit].count; each++)
      if (is_possible(&rules[by_head[bit].rules[each]], whole, signs)) return true;
  return false;
}

static Mask meaning_of_sentence(Sentence sentence) {
  Mask found = {{0}};
  for (uint32_t place = 0; place < sentence.count; place++)
    found = either(found, sentence.placed ? sentence.placed[place] : sentence.tokens[place].mask);
  return found;
}

// Where the words stand that have a category.
static Places places_of(uint32_t bit, const Mask *words, uint32_t count) {
  Places found = {take(count * sizeof *found.at), 0};
  for (uint32_t place = 0; place < count; place++)
    if (has_bit(words[place], bit)) found.at[found.count++] = place;
  return found;
}

int32_t judge_as_it_stands(Sentence sentence, Mask whole, Asked *asked) {
  // Most sentences have not all that any rule asks for, wherever it stood: they cost no more than this.
  Mask *words = NULL;
  uint32_t count = 0;
  int32_t found = -1;
  void *start = mark();
  Mask left = both(whole, heads);
  for (uint32_t bit; found < 0 && (bit = first_bit(left)) < MASK_BITS; left.bits[bit / 64] &= left.bits[bit / 64] - 1) {
    Places at = {0};
    for (uint32_t each = 0; each < by_head[bit].count && found < 0; each++) {
      const Rule *rule = &rules[by_head[bit].rules[each]];
      if ((asked->title && rule->soft) || !is_possible(rule, whole, asked->signs)) continue;
      if (!words) {
        words = take(sentence.count * sizeof(Mask));
        count = words_of(sentence, whole, words);
      }
      if (!at.at) at = places_of(bit, words, count);
      if (holds(rule, at, words, count)) found = rule - rules;
    }
    if (at.at) back_to(at.at);
  }
  back_to(start);
  return found;
}

int32_t judge_sentence(Sentence sentence, Asked *asked) {
  int32_t found = judge_as_it_stands(sentence, meaning_of_sentence(sentence), asked);
  if (found >= 0 || sentence.placed) return found;
  void *start = mark();
  Sentence joined = without_line_ends(sentence);
  if (joined.count && joined.count < sentence.count)
    found = judge_as_it_stands(joined, meaning_of_sentence(joined), asked);
  back_to(start);
  return found;
}

int32_t judge(Text folded, uint32_t signs, bool title) {
  Asked asked = {judge_sentence, signs, title};
  return each_sentence(folded, &asked);
}

int32_t judge_run_together(Text span) {
  Asked asked = {judge_sentence, 0, false};
  return each_squeezed(span, &asked);
}

static Mask meant;

static int32_t gather(Sentence sentence, Asked *asked) {
  (void)asked;
  meant = either(meant, meaning_of_sentence(sentence));
  return -1;
}

const void *meaning_of(Text folded) {
  Asked asked = {gather, 0, false};
  meant = (Mask){{0}};
  each_sentence(folded, &asked);
  return &meant;
}
