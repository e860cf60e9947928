// Where patterns may stand: in which lines of some texts, or over the lines of one.
//
// Rules kept here:
// - what may stand in a line is known of the piece with it (`forms_in`), and told for each text that the piece is of;
// - an alternative that crosses lines is looked for in a text that has all that it needs; a line end is a blank in a
//   literal then, and itself to what reads the text;
// - a text in one line has no line ends: what wants one stands in it no more.
#include "alternatives.h"
#include "literals.h"

enum { MOST_CROSSING = 64 };

static const Alternative *crossing[MOST_CROSSING];
static uint32_t crossing_count;

// The texts that are looked at, in one line; the sets that they have met; the line end that was come to.
static Text one;
static Met met;
static uint32_t line_end;

void learn_crossing(const Alternative *alternative) {
  if (crossing_count == MOST_CROSSING) __builtin_trap();
  crossing[crossing_count++] = alternative;
}

static void meet_literal(Text literal, uint32_t set, int32_t start) {
  if (stands_at(literal, one, start)) meet_at(&met, set, start);
}

// Notes what the pieces of texts have, each by itself, and what goes on over their ends.
static void meet_in_pieces(const Piece *pieces, uint32_t count) {
  uint32_t start = 0;
  for (uint32_t each = 0; each < count; each++) {
    for (const Hit *hit = pieces[each].forms.hits; hit; hit = hit->next) {
      meet_at(&met, hit->set, start + hit->first);
      meet_at(&met, hit->set, start + hit->last);
    }
    for (const Overhang *some = pieces[each].forms.overhangs; some; some = some->next)
      meet_literal(some->literal, some->set, start + some->start);
    start += pieces[each].size + 1;
  }
}

// Notes the literals with a window that stands on both sides of the line end.
static void meet_across(const Literal *literal, uint32_t at) {
  if (at + literal->window_size <= line_end) return;
  for (uint32_t others = 1; others; literal = behind(literal)) {
    meet_literal(letters_of(literal), literal->set, at - literal->offset);
    others = literal->followers;
  }
}

static void meet_at_line_ends(Text text) {
  back_to((uint8_t *)take(WINDOW)); // there is room behind the text
  for (Text left = text; left.size;) {
    Text line = taken_until('\n', &left);
    line_end = line.at + line.size - text.at;
    if (line_end < text.size)
      tell_of_windows(one, line_end < WINDOW ? 0 : line_end - WINDOW + 1, line_end + 1, meet_across);
  }
}

// Notes the literals that stand in texts, in one line or over lines.
static void meet_all(Text text, const Piece *pieces, uint32_t count) {
  __builtin_memset(met.bits, 0, sizeof met.bits);
  one = in_one_line(text);
  meet_in_pieces(pieces, count);
  meet_at_line_ends(text);
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

Places places_in(Joined texts) {
  Places found = {0, mark()};
  tell_of_lines(&texts, &found);
  return found;
}

// Whether an alternative may stand over the lines of a text that was gone through.
static bool stands_over_lines(const Alternative *alternative, Text text) {
  return are_met(alternative, &met) && stands(alternative, &met, text) != NO;
}

Places places_in_text(Text text) {
  Piece piece = {text.size, false, forms_in(text)};
  bool has_lines = count_of('\n', text);
  if (has_lines) meet_all(text, &piece, 1);
  Places found = places_in((Joined){text, &text.size, &piece, 1, 1});
  for (uint32_t each = 0; has_lines && each < crossing_count; each++)
    if (stands_over_lines(crossing[each], text)) tell((Place){crossing[each]->pattern, false, 0, 0, 0}, &found);
  return found;
}

static void add_pattern(uint32_t pattern, Formed *found) {
  uint32_t sign = sign_of(pattern);
  found->signs |= sign;
  found->may_be_order = found->may_be_order || !sign;
}

static bool is_known(uint32_t pattern, const Formed *found) {
  uint32_t sign = sign_of(pattern);
  return sign ? found->signs & sign : found->may_be_order;
}

Formed formed(Text text) {
  Formed found = {0, false};
  Places places = places_in_text(text);
  for (uint32_t each = 0; each < places.count; each++) add_pattern(places.places[each].pattern, &found);
  return found;
}

// Adds what the pieces of a text surely are, each by itself.
static void add_pieces(const Piece *pieces, uint32_t count, Formed *found) {
  for (uint32_t each = 0; each < count; each++)
    for (const Form *form = pieces[each].forms.forms; form; form = form->next)
      if (form->is_sure_in_one) add_pattern(form->pattern, found);
}

// Adds what a text that has met a set may be by the alternatives that have it first.
static void add_formed(uint32_t set, Formed *found) {
  for (const Alternative *each = first_of(set); each < first_of(set + 1); each++)
    if (!is_known(each->pattern, found) && stands_over_lines(each, one)) add_pattern(each->pattern, found);
}

static void add_formed_in_one_line(const Piece *pieces, uint32_t count, Formed *found) {
  add_pieces(pieces, count, found);
  for (uint32_t some = 0; some < SETS / 64; some++)
    for (uint64_t left = met.bits[some]; left; left &= left - 1)
      add_formed(some * 64 + __builtin_ctzll(left), found);
}

Formed formed_over_lines(Text text, const Piece *pieces, uint32_t count, bool in_one_line) {
  void *start = mark();
  Formed found = {0, false};
  meet_all(text, pieces, count);
  for (uint32_t each = 0; each < crossing_count; each++)
    if (!is_known(crossing[each]->pattern, &found) && stands_over_lines(crossing[each], text))
      add_pattern(crossing[each]->pattern, &found);
  if (in_one_line) add_formed_in_one_line(pieces, count, &found);
  back_to(start);
  return found;
}
