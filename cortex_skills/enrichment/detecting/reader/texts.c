// What the host asks of texts that it has written into the reader's room.
//
// Rules kept here:
// - a text that says nothing here by its words, and shows no disguise, is not looked at again for them.
#include "lines.h"

// Texts, one behind the other with a line end between them. Of a text that the host folds, there is one alone: as it
// was written, as it is read, and as it looks. The number of line ends in each text stands before the bytes. Who writes
// texts does not know the seed of the hashes by which their lines are found again.
typedef struct {
  uint32_t count, signs, raw, folded, plain, unused;
  uint64_t seed;
} Texts;

// What the host is told of a view; the texts' own numbers stand before all views, and how many views there are.
typedef struct {
  uint32_t number, disguise;
  Text text;
} View;

enum { MOST_VIEWS = 6 };
static const uint32_t NOT_FOLDED = UINT32_MAX;

static View *views;
static uint32_t view_count, number_now;

int32_t answered(int32_t answer) {
  bool is_unknown = met_unknown;
  met_unknown = false;
  return is_unknown ? UNKNOWN : answer;
}

EXPORT("judge") int32_t judge_text(uint32_t size, uint32_t signs, uint32_t title) {
  return answered(judge((Text){given(), size}, signs, title));
}

EXPORT("judge_run_together") int32_t judge_span(uint32_t size) {
  return answered(judge_run_together((Text){given(), size}));
}

EXPORT("judge_long_words") int32_t judge_words_as_one(uint32_t size) {
  return answered(judge_long_words((Text){given(), size}));
}

EXPORT("meaning") int32_t meaning(uint32_t size) { return answered((int32_t)meaning_of((Text){given(), size})); }

void keep_view(uint32_t disguise, Text view) { views[view_count++] = (View){number_now, disguise, view}; }

// Whether lines are so short that they are read as one, too.
static bool are_short(const Counts *counts) { return (uint64_t)counts->line_ends * SHORT_LINE > counts->chars; }

// Whether the words of a text say an instruction when its lines are read as one.
static bool says_as_one_line(Text plain, uint32_t signs) {
  uint8_t *one = copied(plain);
  for (uint32_t place = 0; place < plain.size; place++)
    if (one[place] == '\n') one[place] = ' ';
  return judge((Text){one, plain.size}, signs, false) >= 0;
}

static uint32_t look_at(Lines lines, Text raw, uint32_t signs) {
  Counts counts = counts_of(lines);
  uint32_t found = shown_by(&counts, raw);
  bool is_short = are_short(&counts);
  Text plain = found || is_short ? text_of_lines(lines, AS_SEEN) : (Text){0};
  if (found) found |= says_without(found, lines, plain, signs) << SAYS;
  bool says = words_say(lines, AS_SEEN) ||
              (!are_read_alike(lines, AS_WRITTEN, AS_SEEN) && words_say(lines, AS_WRITTEN)) ||
              (is_short && says_as_one_line(plain, signs));
  return says ? found | WORDS << SAYS : found;
}

// A text as it is read, and as it looks.
typedef struct {
  Text folded, plain;
} Read;

EXPORT("fold") int32_t fold_text(uint32_t size) {
  Read *read = take(sizeof *read);
  if (!fold((Text){given(), size}, &read->folded)) return answered(FOLD_IT);
  read->plain = look_alike(read->folded);
  return answered((int32_t)read);
}

// What a text that the host has folded shows and says.
static uint32_t look_at_folded(const Texts *asked, Text raw) {
  Text folded = {raw.at + raw.size, asked->folded}, plain = {folded.at + folded.size, asked->plain};
  begin_lines(1, asked->signs, asked->seed);
  Line *line = line_that_is(raw, folded, plain);
  return look_at((Lines){&line, 1}, raw, asked->signs);
}

// What each of some texts shows and says; false when the host must fold one of them.
static bool look_at_all(const Texts *asked, const uint32_t *ends, Text left, uint32_t *found) {
  uint32_t most = asked->count;
  for (uint32_t each = 0; each < asked->count; each++) most += ends[each];
  Line **room = take(most * sizeof *room);
  begin_lines(most, asked->signs, asked->seed);
  for (number_now = 0; number_now < asked->count; number_now++) {
    Lines lines = {room, 0};
    Text raw = left, last;
    do {
      last = taken_until('\n', &left);
      room[lines.count] = line_of(last);
      if (!room[lines.count]) return false;
    } while (lines.count++ < ends[number_now]);
    raw.size = last.at + last.size - raw.at;
    found[number_now] = look_at(lines, raw, asked->signs);
  }
  return true;
}

// Puts the texts of views one behind the other, so that the host reads all of them at once.
static void put_together(View *some, uint32_t count) {
  uint32_t size = 0;
  for (uint32_t each = 0; each < count; each++) size += some[each].text.size;
  uint8_t *at = take(size);
  for (uint32_t each = 0; each < count; each++) {
    __builtin_memcpy(at, some[each].text.at, some[each].text.size);
    some[each].text.at = at;
    at += some[each].text.size;
  }
}

// What each of some texts shows and says, a number each, with WORDS for the words as they are; then how many views
// there are, and the views, whose texts stand one behind the other.
EXPORT("look") int32_t look(void) {
  const Texts *asked = given();
  const uint32_t *ends = (const uint32_t *)(asked + 1);
  Text raws = {(const uint8_t *)(ends + asked->count), asked->raw};
  uint32_t *found = take((asked->count + 1) * sizeof(uint32_t) + asked->count * MOST_VIEWS * sizeof(View));
  views = (View *)(found + asked->count + 1);
  view_count = number_now = 0;
  bool is_done = true;
  if (asked->folded == NOT_FOLDED) is_done = look_at_all(asked, ends, raws, found);
  else found[0] = look_at_folded(asked, raws);
  found[asked->count] = view_count;
  put_together(views, view_count);
  return answered(is_done ? (int32_t)found : FOLD_IT);
}
