// Whether an automaton accepts something that stands in a text.
//
// Rules kept here:
// - all states are followed at once, and each byte is read once; there is an end to the steps in one text, where RE2
//   would be faster, and to those in all together: who reaches it may be accepted;
// - an edge may want the border of a word: a letter, a digit or `_` of ASCII on one side alone, nothing being none.
#include "automata.h"

enum { BYTES = CLASS_BYTES * 8, STEPS_A_BYTE = 2, MORE_STEPS = 1024, OF_ALL = 32 };

typedef struct {
  uint32_t bits[CLASS_BYTES / 4];
} Class;

// A state: the class of its bytes, and the first of its edges, which end where those of the next state begin.
typedef struct {
  uint16_t class, edges;
} State;

// The states, then the one before the first, whose class has all bytes that may come first; the edges stand behind.
// An edge is twice the state that it leads to, `states` for the end, and one more where it wants the border of a word.
struct Automaton {
  uint16_t states, edges;
  State state[];
};

static const Class *classes;
static Class in_words;
// How many steps may still be made in all texts, and how many were made in this one: one for each edge.
static uint64_t left_of_all, steps;
// By state: the last place before which it was entered, and one more.
static uint32_t *entered;

typedef struct {
  uint16_t *at;
  uint32_t count;
} States;

// The states that have the byte at a place, and those that have the one behind it.
static States now, next;

static bool holds(const Class *class, uint8_t byte) { return class->bits[byte / 32] >> byte % 32 & 1; }

void learn_automata(const void *told, uint32_t most_states) {
  classes = told;
  entered = take(most_states * sizeof *entered);
  now.at = take(most_states * sizeof *now.at);
  next.at = take(most_states * sizeof *next.at);
  for (uint32_t byte = 0; byte < BYTES; byte++)
    if (byte == '_' || is_alnum_of_ascii(byte)) in_words.bits[byte / 32] |= 1u << byte % 32;
}

static uint64_t most_steps(uint32_t size) { return MORE_STEPS + (uint64_t)STEPS_A_BYTE * size; }

void begin_automata(uint32_t size) { left_of_all = OF_ALL * most_steps(size); }

static bool is_border(Text text, uint32_t place) {
  bool before = place && holds(&in_words, text.at[place - 1]);
  return before != (place < text.size && holds(&in_words, text.at[place]));
}

// Enters what follows a state and has the byte at a place; whether the end follows.
static inline bool follow(const Automaton *automaton, uint32_t number, Text text, uint32_t place, States *into) {
  const State *state = &automaton->state[number];
  const uint16_t *edges = (const uint16_t *)&automaton->state[automaton->states + 1];
  uint32_t behind = number < automaton->states ? state[1].edges : automaton->edges;
  steps += behind - state->edges;
  for (uint32_t each = state->edges; each < behind; each++) {
    uint32_t to = edges[each] / 2;
    if (edges[each] & 1 && !is_border(text, place)) continue;
    if (to == automaton->states) return true;
    if (place == text.size || !holds(&classes[automaton->state[to].class], text.at[place])) continue;
    if (entered[to] == place + 1) continue;
    entered[to] = place + 1;
    into->at[into->count++] = to;
  }
  return false;
}

// The next place, up to `last`, at which something may begin; `last + 1` when there is none.
static uint32_t next_begin(const Class *first, Text text, uint32_t place, uint32_t last) {
  while (place <= last && !holds(first, text.at[place])) place++;
  return place;
}

// Goes on from all states to a place; whether the end follows one.
static bool step(const Automaton *automaton, Text text, uint32_t place) {
  next.count = 0;
  for (uint32_t each = 0; each < now.count; each++)
    if (follow(automaton, now.at[each], text, place, &next)) return true;
  States read = now;
  now = next;
  next = read;
  return false;
}

Answer accepts(const Automaton *automaton, Text text, uint32_t first, uint32_t last) {
  const Class *begins = &classes[automaton->state[automaton->states].class];
  __builtin_memset(entered, 0, automaton->states * sizeof *entered);
  now.count = 0;
  uint64_t most = most_steps(text.size);
  if (most > left_of_all) most = left_of_all;
  steps = 0;
  Answer answer = NO;
  uint32_t begin = next_begin(begins, text, first, last);
  for (uint32_t place = begin; answer == NO && place < text.size && (now.count || begin <= last); place++) {
    if (!now.count) place = begin;
    if (place == begin) {
      follow(automaton, automaton->states, text, place, &now);
      begin = next_begin(begins, text, place + 1, last);
    }
    answer = steps > most ? PERHAPS : step(automaton, text, place + 1) ? YES : NO;
  }
  left_of_all -= steps < left_of_all ? steps : left_of_all;
  return answer;
}
