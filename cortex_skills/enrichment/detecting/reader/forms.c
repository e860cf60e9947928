// Which patterns of the host may stand in a text: those of which it holds what any match of them holds.
//
// Rules kept here:
// - a pattern is some alternatives, each with sets of literals: any match holds a literal of each;
// - an alternative that does not cross lines is looked for in each line that has all of it; of any other, it is noted
//   what the line has (`forms_places.c`);
// - a literal is looked for by four of its bytes, or all when it has fewer;
// - what holds the literals is read by the automaton of the alternative, which accepts all that this matches; in a line
//   one that is exact is sure, of any other RE2 decides.
#include "alternatives.h"

enum { WINDOW = 4, HASHES = 1 << 17, PAIRS = 1 << 16 };

// A literal, as the host tells of it: the bytes by which it is looked for, how many others with the same follow it,
// where they begin in it, and which set it is of; its letters stand behind it.
typedef struct {
  uint32_t window, window_size, followers, size, offset, set;
} Literal;

// What the host tells: how much of each, and how many states an automaton has at most; alternatives, classes of bytes,
// literals and automata stand behind it.
typedef struct {
  uint32_t literals, windows, sets, alternatives, patterns, classes, most_states, unused;
} Told;

static const Alternative *alternatives;
static const uint8_t *automata;
static uint32_t pattern_count;
// By set: where the alternatives begin that have it first.
static uint32_t *first_with;
// Windows, and the first literal of each, in a table of a power of two of places, half of them empty.
static struct {
  uint32_t window;
  const Literal *first;
} *places;
static uint32_t last_place;
// Whether there are windows with a hash, and shorter ones that begin with two bytes, a bit each.
static uint64_t hashes[HASHES / 64], shorter[PAIRS / 64];

// The line that is looked at, the sets that it has met, and how many those are.
static Text line;
static Met met;
static uint32_t fresh[SETS], fresh_count;
// By pattern: the last line that it was noted of, of all lines.
static uint32_t *noted_of, line_count;
// By pattern: the lesser sign that it stands for.
static const uint32_t *signs;

static const uint8_t *letters_of(const Literal *literal) { return (const uint8_t *)(literal + 1); }

static const Literal *behind(const Literal *literal) {
  return (const Literal *)(letters_of(literal) + (literal->size + 3) / 4 * 4);
}

static uint32_t hash_of_window(uint32_t window, uint32_t size) {
  uint32_t hash = (window + size) * 0x9e3779b1u;
  return hash ^ hash >> 15;
}

static void enter(const Literal *literal) {
  uint32_t hash = hash_of_window(literal->window, literal->window_size), place = hash & last_place;
  while (places[place].first) place = (place + 1) & last_place;
  places[place].window = literal->window;
  places[place].first = literal;
  set_bit(hashes, hash % HASHES);
  if (literal->window_size == 1)
    for (uint32_t next = 0; next < 256; next++) set_bit(shorter, literal->window | next << 8);
  else if (literal->window_size < WINDOW) set_bit(shorter, literal->window & 0xffff);
}

EXPORT("learn_forms") int32_t learn_forms(void) {
  const Told *told = given();
  alternatives = (const Alternative *)(told + 1);
  pattern_count = told->patterns;
  if (told->sets > SETS) __builtin_trap();
  for (uint32_t each = 0; each < told->alternatives; each++)
    if (alternatives[each].crosses) learn_crossing(&alternatives[each]);
  const uint8_t *classes = (const uint8_t *)(alternatives + told->alternatives);
  const Literal *literal = (const Literal *)(classes + told->classes * CLASS_BYTES);
  last_place = places_for(told->windows) - 1;
  places = zeroed((last_place + 1) * sizeof *places);
  for (uint32_t left = told->literals, others = 0; left; left--, literal = behind(literal)) {
    if (!others) enter(literal);
    learn_over_lines((Text){letters_of(literal), literal->size}, literal->set);
    others = literal->followers;
  }
  automata = (const uint8_t *)literal;
  learn_automata(classes, told->most_states);
  first_with = take((told->sets + 1) * sizeof *first_with);
  for (uint32_t set = 0, each = 0; set <= told->sets; set++) {
    while (each < told->alternatives && alternatives[each].sets[0] < set) each++;
    first_with[set] = each;
  }
  keep();
  return 0;
}

EXPORT("learn_signs") int32_t learn_signs(void) {
  signs = given();
  keep();
  return 0;
}

uint32_t sign_of(uint32_t pattern) { return signs[pattern]; }

void begin_forms(uint32_t size) {
  noted_of = zeroed(pattern_count * sizeof *noted_of);
  line_count = 0;
  begin_automata(size);
}

// Notes the literals that stand in the line with their windows at a place.
static void look_for(uint32_t window, uint32_t size, uint32_t at) {
  uint32_t place = hash_of_window(window, size) & last_place;
  for (; places[place].first; place = (place + 1) & last_place) {
    const Literal *literal = places[place].first;
    if (places[place].window != window || literal->window_size != size) continue;
    for (uint32_t others = 1; others; literal = behind(literal)) {
      others = literal->followers;
      if (at < literal->offset || line.size - (at - literal->offset) < literal->size) continue;
      uint32_t start = at - literal->offset;
      if (same((Text){line.at + start, literal->size}, (Text){letters_of(literal), literal->size}) &&
          meet_at(&met, literal->set, start))
        fresh[fresh_count++] = literal->set;
    }
    return;
  }
}

static bool may_be_known(uint32_t window, uint32_t size) {
  return is_set(hashes, hash_of_window(window, size) % HASHES);
}

static void look_at_line(void) {
  for (uint32_t at = 0; at < line.size; at++) {
    uint32_t bytes;
    __builtin_memcpy(&bytes, line.at + at, sizeof bytes); // there is room behind the line
    if (may_be_known(bytes, WINDOW)) look_for(bytes, WINDOW, at);
    if (!is_set(shorter, bytes & 0xffff)) continue;
    for (uint32_t size = 1, window; size < WINDOW; size++)
      if (may_be_known(window = bytes & (1u << 8 * size) - 1, size)) look_for(window, size, at);
  }
}

Answer stands(const Alternative *alternative, const Met *met, Text text) {
  uint32_t first = met->first[alternative->sets[0]], last = met->last[alternative->sets[0]];
  uint32_t begin = first > alternative->reach ? first - alternative->reach : 0;
  return accepts((const Automaton *)(automata + alternative->automaton), text, begin, last);
}

// Notes an alternative when it may stand in the line, which begins at a place; another of its pattern need not be.
static void note(const Alternative *alternative, uint32_t start, Forms *found) {
  uint32_t *noted = &noted_of[alternative->pattern];
  if (alternative->crosses || *noted == line_count || !are_met(alternative, &met)) return;
  Answer answer = stands(alternative, &met, line);
  if (answer == NO) return;
  *noted = line_count;
  Form *form = take(sizeof *form);
  *form = (Form){found->forms, alternative->pattern, alternative->is_exact && answer == YES, start, line.size};
  found->forms = form;
}

static void note_hit(uint32_t set, uint32_t start, Forms *found) {
  Hit *hit = take(sizeof *hit);
  *hit = (Hit){found->hits, set, start + met.first[set], start + met.last[set]};
  found->hits = hit;
}

// Notes what the line has, which begins at a place.
static void note_line(uint32_t start, Forms *found) {
  line_count++;
  for (uint32_t place = 0; place < fresh_count; place++) {
    uint32_t set = fresh[place];
    for (uint32_t each = first_with[set]; each < first_with[set + 1]; each++) note(&alternatives[each], start, found);
    note_hit(set, start, found);
  }
  for (; fresh_count; fresh_count--) met.bits[fresh[fresh_count - 1] / 64] = 0;
}

const Alternative *first_of(uint32_t set) { return alternatives + first_with[set]; }

Forms forms_in(Text text) {
  back_to((uint8_t *)take(WINDOW)); // there is room behind the text
  Forms found = {NULL, NULL};
  uint32_t start = 0;
  for (Text left = text; left.size; start = left.at - text.at) {
    line = taken_until('\n', &left);
    look_at_line();
    if (fresh_count) note_line(start, &found);
  }
  return found;
}
