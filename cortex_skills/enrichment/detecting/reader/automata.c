// Whether an automaton accepts something that stands in a text.
//
// Rules kept here:
// - all states are followed at once, and each byte is read once; there is an end to the steps in one text, where RE2
//   would be faster, and to those in all together: who reaches it may be accepted;
// - an edge may want the border of a word: a letter, a digit or `_` of ASCII on one side alone, nothing being none.
#include "automata.h"

enum { BYTES = 256, BITS = 32, STEPS_A_BYTE = 2, MORE_STEPS = 1024, OF_ALL = 32 };

// Twice the state that it leads to, `states` for the end, and one more where it wants the border of a word; the class of
// bytes that the state has.
typedef struct {
  uint16_t to, class;
} Edge;

// The states, and the class of all bytes that may come first; where the edges of each state begin, of the one before the
// first behind all others, and where they end. The edges stand behind.
struct Automaton {
  uint16_t states, begins, edges[];
};

// By byte: the classes that it is of, a bit each, in so many numbers; what stands behind a text is of none.
static const uint32_t *classes_of, *of_none;
static uint32_t class_size;
// How many steps may still be made in all texts, and how many were made in this one: one for each edge.
static uint64_t left_of_all, steps;
// By state: the last place before which it was entered, and as many more as were read before this text, and one.
static uint32_t *entered, state_count, read_before;

typedef struct {
  uint16_t *at;
  uint32_t count;
} States;

// The states that have the byte at a place, and those that have the one behind it.
static States now, next;

const void *learn_automata(const void *told, uint32_t classes, uint32_t most_states) {
  classes_of = told;
  class_size = (classes + BITS - 1) / BITS;
  of_none = zeroed(class_size * sizeof *of_none);
  state_count = most_states;
  entered = zeroed(most_states * sizeof *entered);
  now.at = take(most_states * sizeof *now.at);
  next.at = take(most_states * sizeof *next.at);
  return classes_of + BYTES * class_size;
}

static uint64_t most_steps(uint32_t size) { return MORE_STEPS + (uint64_t)STEPS_A_BYTE * size; }

void begin_automata(uint32_t size) { left_of_all = OF_ALL * most_steps(size); }

static bool is_in_word_of_ascii(uint8_t byte) { return byte == '_' || is_alnum_of_ascii(byte); }

static bool is_border(Text text, uint32_t place) {
  bool before = place && is_in_word_of_ascii(text.at[place - 1]);
  return before != (place < text.size && is_in_word_of_ascii(text.at[place]));
}

static const uint32_t *classes_at(Text text, uint32_t place) {
  return place < text.size ? classes_of + text.at[place] * class_size : of_none;
}

static bool is_of(const uint32_t *classes, uint32_t class) { return classes[class / BITS] >> class % BITS & 1; }

// Enters what follows a state and has the byte at a place, which is of some classes; whether the end follows.
static bool follow(const Automaton *automaton, uint32_t number, Text text, uint32_t place, const uint32_t *classes,
                   States *into) {
  const Edge *edges = (const Edge *)&automaton->edges[automaton->states + 2];
  uint32_t each = automaton->edges[number], behind = automaton->edges[number + 1];
  uint32_t entering = read_before + place + 1;
  for (steps += behind - each; each < behind; each++) {
    Edge edge = edges[each];
    uint32_t to = edge.to / 2;
    if (to == automaton->states) {
      if (!(edge.to & 1) || is_border(text, place)) return true;
      continue;
    }
    if (!is_of(classes, edge.class) || entered[to] == entering) continue;
    if (edge.to & 1 && !is_border(text, place)) continue;
    entered[to] = entering;
    into->at[into->count++] = to;
  }
  return false;
}

// The next place, up to `last`, at which something may begin; `last + 1` when there is none.
static uint32_t next_begin(const Automaton *automaton, Text text, uint32_t place, uint32_t last) {
  while (place <= last && !is_of(classes_at(text, place), automaton->begins)) place++;
  return place;
}

// Goes on from all states to a place; whether the end follows one.
static bool step(const Automaton *automaton, Text text, uint32_t place) {
  const uint32_t *classes = classes_at(text, place);
  next.count = 0;
  for (uint32_t each = 0; each < now.count; each++)
    if (follow(automaton, now.at[each], text, place, classes, &next)) return true;
  States read = now;
  now = next;
  next = read;
  return false;
}

// Makes ready for a text of so many bytes.
static void begin_text(uint32_t size) {
  if (read_before > UINT32_MAX - size) {
    __builtin_memset(entered, 0, state_count * sizeof *entered);
    read_before = 0;
  }
  now.count = 0;
  steps = 0;
}

Answer accepts(const Automaton *automaton, Text text, uint32_t first, uint32_t last) {
  begin_text(text.size);
  uint64_t most = most_steps(text.size);
  if (most > left_of_all) most = left_of_all;
  Answer answer = NO;
  uint32_t begin = next_begin(automaton, text, first, last);
  for (uint32_t place = begin; answer == NO && place < text.size && (now.count || begin <= last); place++) {
    if (!now.count) place = begin;
    if (place == begin) {
      follow(automaton, automaton->states, text, place, classes_at(text, place), &now);
      begin = next_begin(automaton, text, place + 1, last);
    }
    answer = steps > most ? PERHAPS : step(automaton, text, place + 1) ? YES : NO;
  }
  left_of_all -= steps < left_of_all ? steps : left_of_all;
  read_before += text.size;
  return answer;
}
