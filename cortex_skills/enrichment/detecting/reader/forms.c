// Which patterns of the host may stand in a text: those of which it holds what any match of them holds.
//
// Rules kept here:
// - a pattern is some alternatives, each with sets of literals: any match holds a literal of each;
// - an alternative is looked for in each line that has all of it; for those that may cross lines, it is noted what the
//   line has, and may have with those beside it (`forms_places.c`);
// - what holds the literals is read by the automaton of the alternative, which accepts all that this matches; in a line
//   one that is exact is sure, of any other RE2 decides.
#include "alternatives.h"
#include "literals.h"

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
// What is found in a text; the line of it that is looked at, the sets that this has met, and how many those are.
static Forms found;
static Text line;
static uint32_t line_start;
static Met met;
static uint32_t fresh[SETS], fresh_count;
// By pattern: the last line that it was noted of, of all lines.
static uint32_t *noted_of, line_count;
// By pattern: the lesser sign that it stands for.
static const uint32_t *signs;

EXPORT("learn_forms") int32_t learn_forms(void) {
  const Told *told = given();
  alternatives = (const Alternative *)(told + 1);
  pattern_count = told->patterns;
  if (told->sets > SETS) __builtin_trap();
  for (uint32_t each = 0; each < told->alternatives; each++)
    if (alternatives[each].crosses) learn_crossing(&alternatives[each]);
  const void *behind = learn_automata(alternatives + told->alternatives, told->classes, told->most_states);
  automata = learn_literals(behind, told->literals, told->windows);
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

static bool has_blank(Text literal, int32_t at) { return at >= 0 && at < (int32_t)literal.size && literal.at[at] == ' '; }

// Notes the literals with a window that stand in the line, or may go on over its ends.
static void meet(const Literal *literal, uint32_t at) {
  for (uint32_t others = 1; others; literal = behind(literal)) {
    Text letters = letters_of(literal);
    int32_t start = at - literal->offset;
    if (stands_at(letters, line, start)) {
      if (meet_at(&met, literal->set, start)) fresh[fresh_count++] = literal->set;
    } else if (has_blank(letters, -1 - start) || has_blank(letters, line.size - start)) {
      Overhang *overhang = take(sizeof *overhang);
      *overhang = (Overhang){found.overhangs, letters, literal->set, line_start + start};
      found.overhangs = overhang;
    }
    others = literal->followers;
  }
}

Answer stands(const Alternative *alternative, const Met *met, Text text) {
  uint32_t first = met->first[alternative->sets[0]], last = met->last[alternative->sets[0]];
  uint32_t begin = first > alternative->reach ? first - alternative->reach : 0;
  return accepts((const Automaton *)(automata + alternative->automaton), text, begin, last);
}

// Notes an alternative when it may stand in the line; another of its pattern need not be.
static void note(const Alternative *alternative) {
  uint32_t *noted = &noted_of[alternative->pattern];
  if (*noted == line_count || !are_met(alternative, &met)) return;
  Answer answer = stands(alternative, &met, line);
  if (answer == NO) return;
  *noted = line_count;
  Form *form = take(sizeof *form);
  bool is_sure = alternative->is_exact && answer == YES;
  bool is_sure_in_one = is_sure && !alternative->is_at_line_end;
  *form = (Form){found.forms, alternative->pattern, is_sure, is_sure_in_one, line_start, line.size};
  found.forms = form;
}

static void note_hit(uint32_t set) {
  Hit *hit = take(sizeof *hit);
  *hit = (Hit){found.hits, set, line_start + met.first[set], line_start + met.last[set]};
  found.hits = hit;
}

// Notes what the line has.
static void note_line(void) {
  line_count++;
  for (uint32_t place = 0; place < fresh_count; place++) {
    uint32_t set = fresh[place];
    for (uint32_t each = first_with[set]; each < first_with[set + 1]; each++) note(&alternatives[each]);
    note_hit(set);
  }
  for (; fresh_count; fresh_count--) met.bits[fresh[fresh_count - 1] / 64] = 0;
}

const Alternative *first_of(uint32_t set) { return alternatives + first_with[set]; }

Forms forms_in(Text text) {
  back_to((uint8_t *)take(WINDOW)); // there is room behind the text
  found = (Forms){0};
  for (Text left = text; left.size;) {
    line = taken_until('\n', &left);
    line_start = line.at - text.at;
    tell_of_windows(line, 0, line.size, meet);
    if (fresh_count) note_line();
  }
  return found;
}
