// Which patterns of the host may stand in a text: those of which it holds what any match of them holds.
//
// Rules kept here:
// - a pattern is some alternatives, each with sets of literals: any match holds a literal of each;
// - an alternative that does not cross lines is told of each line that has all of it, any other of the text;
// - a literal is looked for by four of its bytes, or all when it has fewer; a line end in a text is a blank in it;
// - what holds the literals is read by the automaton of the alternative, which accepts all that this matches; in a line
//   one that is exact is sure, of any other RE2 decides.
#include "automata.h"
#include "forms.h"

enum { WINDOW = 4, MOST_SETS = 3, SETS = 1024, HASHES = 1 << 17, PAIRS = 1 << 16, NO_LINE = -1 };

// A literal, as the host tells of it: the bytes by which it is looked for, how many others with the same follow it,
// where they begin in it, and which set it is of; its letters stand behind it.
typedef struct {
  uint32_t window, window_size, followers, size, offset, set;
} Literal;

// Whether a match may cross lines; whether its automaton accepts nothing else; its sets; how many bytes of a match may
// stand before a literal of the first; where its automaton lies.
typedef struct {
  uint32_t pattern, crosses, is_exact, sets[MOST_SETS], reach, automaton;
} Alternative;

// What the host tells: how much of each, and how many states an automaton has at most; alternatives, classes of bytes,
// literals and automata stand behind it.
typedef struct {
  uint32_t literals, windows, sets, alternatives, patterns, classes, most_states, unused;
} Told;

static const Alternative *alternatives;
static const uint8_t *automata;
static uint32_t alternative_count, pattern_count;
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

// The text that is looked at, with a blank for each line end.
static Text text;
// The sets of which a text, or a line, holds a literal, and where the first and the last begin of those.
typedef struct {
  uint64_t bits[SETS / 64];
  uint32_t first[SETS], last[SETS];
} Met;

static Met in_text, in_line;
static uint32_t line_start, line_end;
// The sets that the line has met, and how many those are.
static uint32_t fresh[SETS], fresh_count;
// By pattern: the last line that it was told of, of all lines.
static int32_t *told_of;
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

static void set(uint64_t *bits, uint32_t bit) { bits[bit / 64] |= 1ull << bit % 64; }

static bool is_set(const uint64_t *bits, uint32_t bit) { return bits[bit / 64] >> bit % 64 & 1; }

static void enter(const Literal *literal) {
  uint32_t hash = hash_of_window(literal->window, literal->window_size), place = hash & last_place;
  while (places[place].first) place = (place + 1) & last_place;
  places[place].window = literal->window;
  places[place].first = literal;
  set(hashes, hash % HASHES);
  if (literal->window_size == 1)
    for (uint32_t next = 0; next < 256; next++) set(shorter, literal->window | next << 8);
  else if (literal->window_size < WINDOW) set(shorter, literal->window & 0xffff);
}

EXPORT("learn_forms") int32_t learn_forms(void) {
  const Told *told = given();
  alternatives = (const Alternative *)(told + 1);
  alternative_count = told->alternatives;
  pattern_count = told->patterns;
  if (told->sets > SETS) __builtin_trap();
  const uint8_t *classes = (const uint8_t *)(alternatives + alternative_count);
  const Literal *literal = (const Literal *)(classes + told->classes * CLASS_BYTES);
  last_place = places_for(told->windows) - 1;
  places = zeroed((last_place + 1) * sizeof *places);
  for (uint32_t left = told->literals, others = 0; left; left--, literal = behind(literal)) {
    if (!others) enter(literal);
    others = literal->followers;
  }
  automata = (const uint8_t *)literal;
  learn_automata(classes, told->most_states);
  first_with = take((told->sets + 1) * sizeof *first_with);
  for (uint32_t set = 0, each = 0; set <= told->sets; set++) {
    while (each < alternative_count && alternatives[each].sets[0] < set) each++;
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

// Notes that a literal of a set begins at a place; whether it is the first one.
static bool meet(Met *met, uint32_t number, uint32_t at) {
  bool is_first = !is_set(met->bits, number);
  if (is_first || at < met->first[number]) met->first[number] = at;
  if (is_first || at > met->last[number]) met->last[number] = at;
  set(met->bits, number);
  return is_first;
}

static void note(uint32_t number, uint32_t at, bool is_in_line) {
  meet(&in_text, number, at);
  if (is_in_line && meet(&in_line, number, at)) fresh[fresh_count++] = number;
}

// Notes the literals that stand in the text with their windows at a place.
static void look_for(uint32_t window, uint32_t size, uint32_t at) {
  uint32_t place = hash_of_window(window, size) & last_place;
  for (; places[place].first; place = (place + 1) & last_place) {
    const Literal *literal = places[place].first;
    if (places[place].window != window || literal->window_size != size) continue;
    for (uint32_t others = 1; others; literal = behind(literal)) {
      others = literal->followers;
      if (at < literal->offset || text.size - (at - literal->offset) < literal->size) continue;
      uint32_t start = at - literal->offset, end = start + literal->size;
      if (same((Text){text.at + start, literal->size}, (Text){letters_of(literal), literal->size}))
        note(literal->set, start, start >= line_start && end <= line_end);
    }
    return;
  }
}

static bool may_be_known(uint32_t window, uint32_t size) {
  return is_set(hashes, hash_of_window(window, size) % HASHES);
}

static void look_at_line(void) {
  for (uint32_t at = line_start; at < line_end; at++) {
    uint32_t bytes;
    __builtin_memcpy(&bytes, text.at + at, sizeof bytes); // there is room behind the text
    if (may_be_known(bytes, WINDOW)) look_for(bytes, WINDOW, at);
    if (!is_set(shorter, bytes & 0xffff)) continue;
    for (uint32_t size = 1, window; size < WINDOW; size++)
      if (may_be_known(window = bytes & (1u << 8 * size) - 1, size)) look_for(window, size, at);
  }
}

// Whether the automaton of an alternative accepts something from `start` to `end` of the text, where sets were met.
static Answer stands(const Alternative *alternative, const Met *met, uint32_t start, uint32_t end) {
  for (uint32_t place = 0; place < MOST_SETS; place++)
    if (!is_set(met->bits, alternative->sets[place])) return NO;
  uint32_t first = met->first[alternative->sets[0]] - start, last = met->last[alternative->sets[0]] - start;
  uint32_t begin = first > alternative->reach ? first - alternative->reach : 0;
  const Automaton *automaton = (const Automaton *)(automata + alternative->automaton);
  return accepts(automaton, (Text){text.at + start, end - start}, begin, last);
}

// Writes that a pattern may stand at a place, the `last` line of those that were looked at, when an alternative of it
// may; how many were written.
static uint32_t tell(const Alternative *alternative, Place place, int32_t last) {
  if (told_of[place.pattern] == last) return 0;
  bool is_line = place.number >= 0;
  Answer answer = is_line ? stands(alternative, &in_line, line_start, line_end)
                          : stands(alternative, &in_text, 0, text.size);
  if (answer == NO) return 0;
  place.is_sure = is_line && alternative->is_exact && answer == YES;
  told_of[place.pattern] = last;
  *(Place *)take(sizeof place) = place;
  return 1;
}

static uint32_t tell_of_line(int32_t number, int32_t last) {
  uint32_t count = 0;
  for (uint32_t place = 0; place < fresh_count; place++) {
    uint32_t set = fresh[place];
    for (uint32_t each = first_with[set]; each < first_with[set + 1]; each++) {
      Place told = {alternatives[each].pattern, false, number, line_start, line_end - line_start};
      if (!alternatives[each].crosses) count += tell(&alternatives[each], told, last);
    }
  }
  for (; fresh_count; fresh_count--) in_line.bits[fresh[fresh_count - 1] / 64] = 0;
  return count;
}

// Tells of the alternatives that cross lines, and have all that they need in any lines of the text.
static uint32_t tell_of_text(void) {
  uint32_t count = 0;
  for (uint32_t each = 0; each < alternative_count; each++)
    if (alternatives[each].crosses)
      count += tell(&alternatives[each], (Place){alternatives[each].pattern, false, OVER_LINES, 0, 0}, OVER_LINES);
  return count;
}

static void begin(Text plain) {
  text = in_one_line(plain, WINDOW);
  told_of = take(pattern_count * sizeof *told_of);
  for (uint32_t pattern = 0; pattern < pattern_count; pattern++) told_of[pattern] = NO_LINE;
  __builtin_memset(in_text.bits, 0, sizeof in_text.bits);
  begin_automata(plain.size);
}

Forms forms_of(Joined texts) {
  begin(texts.text);
  Forms found = {0, mark()};
  uint32_t place = 0;
  int32_t last = 0;
  for (uint32_t each = 0; each < texts.count; each++) {
    Text left = {texts.text.at + place, texts.ends[each] - place};
    do {
      Text line = taken_until('\n', &left);
      line_start = line.at - texts.text.at;
      line_end = line_start + line.size;
      look_at_line();
      found.count += tell_of_line(each, last++);
    } while (line_end < texts.ends[each]);
    place = texts.ends[each] + 1;
  }
  found.count += tell_of_text();
  return found;
}

Formed formed(Text text) {
  Formed found = {0, false};
  Forms forms = forms_of((Joined){text, &text.size, 1});
  for (uint32_t each = 0; each < forms.count; each++) {
    uint32_t sign = sign_of(forms.places[each].pattern);
    found.signs |= sign;
    found.may_be_order = found.may_be_order || !sign;
  }
  return found;
}

EXPORT("forms") int32_t forms(uint32_t size) {
  Forms *found = take(sizeof *found);
  *found = forms_of((Joined){{given(), size}, &size, 1});
  return (int32_t)found;
}
