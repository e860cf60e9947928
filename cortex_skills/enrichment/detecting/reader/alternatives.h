// What the parts of `forms` share: alternatives of patterns, and the sets of literals that a text meets.
#pragma once
#include "automata.h"
#include "forms.h"

enum { MOST_SETS = 3, SETS = 1024 };

// Whether a match may cross lines; whether its automaton accepts nothing else; whether it wants that a line begins or
// ends; its sets; how many bytes of a match may stand before a literal of the first; where its automaton lies.
typedef struct {
  uint32_t pattern, crosses, is_exact, is_at_line_end, sets[MOST_SETS], reach, automaton;
} Alternative;

// The sets of which a text, or a line, holds a literal, and where the first and the last begin of those.
typedef struct {
  uint64_t bits[SETS / 64];
  uint32_t first[SETS], last[SETS];
} Met;

// Notes that a literal of a set begins at a place; whether it is the first one.
static inline bool meet_at(Met *met, uint32_t number, uint32_t at) {
  bool is_first = !is_set(met->bits, number);
  if (is_first || at < met->first[number]) met->first[number] = at;
  if (is_first || at > met->last[number]) met->last[number] = at;
  set_bit(met->bits, number);
  return is_first;
}

// Whether a text has met all sets of an alternative.
static inline bool are_met(const Alternative *alternative, const Met *met) {
  for (uint32_t place = 0; place < MOST_SETS; place++)
    if (!is_set(met->bits, alternative->sets[place])) return false;
  return true;
}

// Whether the automaton of an alternative accepts something in a text that has met its sets.
Answer stands(const Alternative *alternative, const Met *met, Text text);

// The alternatives that have a set first, one behind the other; behind the last of them.
const Alternative *first_of(uint32_t set);

// Takes an alternative that may cross lines.
void learn_crossing(const Alternative *alternative);
