// Where in some texts patterns may stand: in which of their lines, or over lines.
//
// Rules kept here:
// - what may stand in a line is known of the piece with it (`forms_in`), and told for each text that the piece is of;
// - an alternative that crosses lines is told of all texts, when they have all that it needs; a line end is a blank in a
//   literal then.
#include "alternatives.h"

enum { MOST_CROSSING = 64, MOST_BLANKS = 1 << 13, CHAINS = 1 << 12 };

static const Alternative *crossing[MOST_CROSSING];
static uint32_t crossing_count;

// A blank in a literal, which a line end may stand for; the set of the literal.
typedef struct Blank {
  const struct Blank *next;
  Text literal;
  uint32_t place, set;
} Blank;

static Blank blanks[MOST_BLANKS];
static uint32_t blank_count;
// By the bytes beside them, of which none is 0.
static const Blank *between[CHAINS];

static Met met;

void learn_crossing(const Alternative *alternative) {
  if (crossing_count == MOST_CROSSING) __builtin_trap();
  crossing[crossing_count++] = alternative;
}

// Which chain those are in that stand between two bytes.
static uint32_t chain_of(uint8_t before, uint8_t behind) { return (before << 5 ^ behind) % CHAINS; }

void learn_over_lines(Text literal, uint32_t set) {
  for (uint32_t place = 0; place < literal.size; place++) {
    if (literal.at[place] != ' ') continue;
    if (blank_count == MOST_BLANKS) __builtin_trap();
    uint8_t before = place ? literal.at[place - 1] : 0;
    const Blank **first = &between[chain_of(before, place + 1 < literal.size ? literal.at[place + 1] : 0)];
    blanks[blank_count] = (Blank){*first, literal, place, set};
    *first = &blanks[blank_count++];
  }
}

static uint8_t read_at(Text text, uint32_t place) { return text.at[place] == '\n' ? ' ' : text.at[place]; }

static bool is_at(Text literal, Text text, uint32_t start) {
  uint32_t place = 0;
  while (place < literal.size && read_at(text, start + place) == literal.at[place]) place++;
  return place == literal.size;
}

// Notes the literals of which a line end may be a blank.
static void look_at_end(Text text, uint32_t end, const Blank *blank) {
  for (; blank; blank = blank->next) {
    if (end < blank->place || text.size - (end - blank->place) < blank->literal.size) continue;
    if (is_at(blank->literal, text, end - blank->place)) meet_at(&met, blank->set, end - blank->place);
  }
}

static void look_over_lines(Text text) {
  for (Text left = text; left.size;) {
    Text line = taken_until('\n', &left);
    uint32_t end = line.at + line.size - text.at;
    if (end == text.size) return;
    uint8_t before = end ? read_at(text, end - 1) : 0, behind = end + 1 < text.size ? read_at(text, end + 1) : 0;
    look_at_end(text, end, between[chain_of(before, behind)]);
    if (before) look_at_end(text, end, between[chain_of(0, behind)]);
    if (behind) look_at_end(text, end, between[chain_of(before, 0)]);
    if (before && behind) look_at_end(text, end, between[chain_of(0, 0)]);
  }
}

// Notes what the pieces of texts have, each by itself.
static void meet_in_pieces(const Piece *pieces, uint32_t count) {
  uint32_t start = 0;
  __builtin_memset(met.bits, 0, sizeof met.bits);
  for (uint32_t each = 0; each < count; each++) {
    for (const Hit *hit = pieces[each].forms.hits; hit; hit = hit->next) {
      meet_at(&met, hit->set, start + hit->first);
      meet_at(&met, hit->set, start + hit->last);
    }
    start += pieces[each].size + 1;
  }
}

// Notes what the texts have of that which may go over lines; whether it may.
static bool has_over_lines(const Joined *texts) {
  meet_in_pieces(texts->pieces, texts->piece_count);
  look_over_lines(texts->text);
  for (uint32_t each = 0; each < crossing_count; each++)
    if (are_met(crossing[each], &met)) return true;
  return false;
}

static void tell(Place place, Places *places) {
  *(Place *)take(sizeof place) = place;
  places->count++;
}

static void tell_of_lines(const Joined *texts, Places *places) {
  uint32_t start = 0, number = 0;
  for (uint32_t each = 0; each < texts->piece_count; each++) {
    const Piece *piece = &texts->pieces[each];
    for (const Form *form = piece->is_told ? NULL : piece->forms.forms; form; form = form->next)
      tell((Place){form->pattern, form->is_sure, number, start + form->start, form->size}, places);
    start += piece->size;
    number += start == texts->ends[number];
    start++;
  }
}

static void tell_over_lines(Text text, Places *places) {
  for (uint32_t each = 0; each < crossing_count; each++)
    if (are_met(crossing[each], &met) && stands(crossing[each], &met, text) != NO)
      tell((Place){crossing[each]->pattern, false, OVER_LINES, 0, 0}, places);
}

Places places_in(Joined texts) {
  Text text = has_over_lines(&texts) ? in_one_line(texts.text) : (Text){0};
  Places found = {0, mark()};
  tell_of_lines(&texts, &found);
  if (text.at) tell_over_lines(text, &found);
  return found;
}

Formed formed(Text text) {
  Formed found = {0, false};
  Piece piece = {text.size, false, forms_in(text)};
  Places places = places_in((Joined){text, &text.size, &piece, 1, 1});
  for (uint32_t each = 0; each < places.count; each++) {
    uint32_t sign = sign_of(places.places[each].pattern);
    found.signs |= sign;
    found.may_be_order = found.may_be_order || !sign;
  }
  return found;
}

// Adds what a text that has met a set may be by the alternatives that have it first.
static void add_formed(uint32_t set, Text text, Text *one, Formed *found) {
  for (const Alternative *each = first_of(set); each < first_of(set + 1); each++) {
    uint32_t sign = sign_of(each->pattern);
    bool is_known = sign ? found->signs & sign : found->may_be_order;
    if (is_known || !are_met(each, &met)) continue;
    if (!one->at) *one = in_one_line(text);
    if (stands(each, &met, *one) == NO) continue;
    found->signs |= sign;
    if (!sign) found->may_be_order = true;
  }
}

Formed formed_in_one_line(Text text, const Piece *pieces, uint32_t count) {
  void *start = mark();
  Text one = {0};
  Formed found = {0, false};
  meet_in_pieces(pieces, count);
  look_over_lines(text);
  for (uint32_t some = 0; some < SETS / 64; some++)
    for (uint64_t left = met.bits[some]; left; left &= left - 1)
      add_formed(some * 64 + __builtin_ctzll(left), text, &one, &found);
  back_to(start);
  return found;
}
