// Whether an automaton accepts something that stands in a text.
//
// Rules kept here:
// - all states are followed at once, and each byte is read once; there is an end to the steps in one text, where RE2
//   would be faster, and to those in all together: who reaches it may be accepted;
// - an edge may want the border of a word: a letter, a digit or `_` of ASCII on one side alone, nothing being none; or
//   that a line begins there, or ends;
// - a state may count how often it was entered in turn, up to a limit; it goes on with the least that leads to it.
#include "automata.h"

enum { BYTES = 256, BITS = 32, STEPS_A_BYTE = 16, MORE_STEPS = 8192, OF_ALL = 4 };

// What an edge wants, a bit each, and how the state counts to which it leads: from one on, as the one before it, or one
// more.
enum { BORDER = 1, LINE_BEGIN = 2, LINE_END = 4 };
enum { ANEW, ON, MORE };

// The state that it leads to, `states` for the end, above what it wants, and that above how the state counts; the class
// of bytes that the state has.
typedef struct {
  uint16_t how, class;
} Edge;

enum { COUNT_BITS = 2, WANT_BITS = 3 };
static uint32_t state_behind(Edge edge) { return edge.how >> (COUNT_BITS + WANT_BITS); }
static uint32_t wanted_by(Edge edge) { return edge.how >> COUNT_BITS & ((1 << WANT_BITS) - 1); }
static uint32_t count_by(Edge edge) { return edge.how & ((1 << COUNT_BITS) - 1); }

// The states; the classes of all bytes that may come first, where a line begins and elsewhere; where the edges of each
// state begin, of the one before the first behind all others, and where they end. Behind stand up to how many each
// state counts, and the edges.
struct Automaton {
  uint16_t states, begins_line, begins, edges[];
};

static const uint16_t *limits_of(const Automaton *automaton) { return automaton->edges + automaton->states + 2; }

static const Edge *edges_of(const Automaton *automaton) {
  return (const Edge *)(limits_of(automaton) + automaton->states);
}

// By byte: the classes that it is of, a bit each, in so many numbers; what stands behind a text is of none.
static const uint32_t *classes_of, *of_none;
static uint32_t class_size;
// How many steps may still be made in all texts, and how many were made in this one: one for each edge.
static uint64_t left_of_all, steps;
// By state: the last place before which it was entered, and as many more as were read before this text, and one.
static uint32_t *entered, state_count, read_before;

// States, how many those are, and by state what it has counted.
typedef struct {
  uint16_t *at, *counted;
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
  now.counted = take(most_states * sizeof *now.counted);
  next.at = take(most_states * sizeof *next.at);
  next.counted = take(most_states * sizeof *next.counted);
  return classes_of + BYTES * class_size;
}

static uint64_t most_steps(uint32_t size) { return MORE_STEPS + (uint64_t)STEPS_A_BYTE * size; }

void begin_automata(uint32_t size) { left_of_all = OF_ALL * most_steps(size); }

static bool is_in_word_of_ascii(uint8_t byte) { return byte == '_' || is_alnum_of_ascii(byte); }

static bool is_border(Text text, uint32_t place) {
  bool before = place && is_in_word_of_ascii(text.at[place - 1]);
  return before != (place < text.size && is_in_word_of_ascii(text.at[place]));
}

static bool is_line_begin(Text text, uint32_t place) { return !place || text.at[place - 1] == '\n'; }

static bool is_there(uint32_t wanted, Text text, uint32_t place) {
  if (wanted & BORDER && !is_border(text, place)) return false;
  if (wanted & LINE_BEGIN && !is_line_begin(text, place)) return false;
  return !(wanted & LINE_END) || place == text.size || text.at[place] == '\n';
}

static const uint32_t *classes_at(Text text, uint32_t place) {
  return place < text.size ? classes_of + text.at[place] * class_size : of_none;
}

static bool is_of(const uint32_t *classes, uint32_t class) { return classes[class / BITS] >> class % BITS & 1; }

// Enters what follows a state that has counted so far, and has the byte at a place, which is of some classes; whether
// the end follows.
static bool follow(const Automaton *automaton, uint32_t number, uint32_t counted, Text text, uint32_t place,
                   const uint32_t *classes, States *into) {
  const Edge *edges = edges_of(automaton);
  uint32_t each = automaton->edges[number], behind = automaton->edges[number + 1];
  uint32_t entering = read_before + place + 1;
  for (steps += behind - each; each < behind; each++) {
    Edge edge = edges[each];
    uint32_t to = state_behind(edge), wanted = wanted_by(edge), how = count_by(edge);
    bool is_end = to == automaton->states;
    if (!is_end && !is_of(classes, edge.class)) continue;
    if (wanted && !is_there(wanted, text, place)) continue;
    if (is_end) return true;
    uint32_t count = how == ANEW ? 1 : counted + (how == MORE);
    if (how == MORE && count > limits_of(automaton)[to]) continue;
    if (entered[to] != entering) into->at[into->count++] = to;
    else if (into->counted[to] <= count) continue;
    entered[to] = entering;
    into->counted[to] = count;
  }
  return false;
}

// The next place, up to `last`, at which something may begin; `last + 1` when there is none.
static uint32_t next_begin(const Automaton *automaton, Text text, uint32_t place, uint32_t last) {
  for (; place <= last; place++) {
    uint32_t class = is_line_begin(text, place) ? automaton->begins_line : automaton->begins;
    if (is_of(classes_at(text, place), class)) break;
  }
  return place;
}

// Goes on from all states to a place; whether the end follows one.
static bool step(const Automaton *automaton, Text text, uint32_t place) {
  const uint32_t *classes = classes_at(text, place);
  next.count = 0;
  for (uint32_t each = 0; each < now.count; each++)
    if (follow(automaton, now.at[each], now.counted[now.at[each]], text, place, classes, &next)) return true;
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
      follow(automaton, automaton->states, 0, text, place, classes_at(text, place), &now);
      begin = next_begin(automaton, text, place + 1, last);
    }
    answer = steps > most ? PERHAPS : step(automaton, text, place + 1) ? YES : NO;
  }
  left_of_all -= steps < left_of_all ? steps : left_of_all;
  read_before += text.size;
  return answer;
}
