// What the host asks of texts that it has written into the reader's room.
//
// Rules kept here:
// - a text that says nothing here by its words, and shows no disguise, is not looked at again for them.
#include "reader.h"

// Texts, one behind the other with a line end between them. Of a text that the host folds, there is one alone: as it
// was written, as it is read, and as it looks. The number of line ends in each text stands before the bytes.
typedef struct {
  uint32_t count, signs, raw, folded, plain;
} Texts;

// What the host is told of a view; the texts' own numbers stand before all views, and how many views there are.
typedef struct {
  uint32_t number, disguise;
  Text text;
} View;

enum { SHORT_LINES = 12, MOST_VIEWS = 6 };
static const uint32_t NOT_FOLDED = UINT32_MAX;

static View *views;
static uint32_t view_count, number_now;

static int32_t answered(int32_t answer) {
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

bool says(uint32_t disguise, Text view, uint32_t signs) {
  views[view_count++] = (View){number_now, disguise, view};
  return judge(view, signs, false) >= 0;
}

// Whether the words of a text say an instruction, when lines that are very short are read as one.
static bool says_as_one_line(Text plain, uint32_t signs) {
  uint32_t lines = 0, length = 0;
  for (uint32_t place = 0; place < plain.size; place++) {
    lines += plain.at[place] == '\n';
    length += (plain.at[place] & 0xc0) != 0x80;
  }
  if ((uint64_t)lines * SHORT_LINES <= length) return false;
  uint8_t *copy = copied(plain, 0);
  for (uint32_t place = 0; place < plain.size; place++)
    if (copy[place] == '\n') copy[place] = ' ';
  return judge((Text){copy, plain.size}, signs, false) >= 0;
}

// The next of some texts, which has so many line ends.
static Text next_text(Text *texts, uint32_t lines) {
  Text found = {texts->at, 0};
  for (; found.size < texts->size; found.size++)
    if (found.at[found.size] == '\n' && lines-- == 0) break;
  uint32_t behind = found.size < texts->size ? found.size + 1 : found.size;
  *texts = (Text){texts->at + behind, texts->size - behind};
  return found;
}

static uint32_t look_at(Text raw, Text folded, Text plain, uint32_t signs) {
  // A view has signs of its own.
  uint32_t found = disguises(raw, plain, UINT32_MAX);
  if ((folded.at != plain.at && judge(folded, signs, false) >= 0) || judge(plain, signs, false) >= 0 ||
      says_as_one_line(plain, signs))
    found |= WORDS << SAYS;
  return found;
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
  Text folded = {raw.at + asked->raw, asked->folded};
  return look_at((Text){raw.at, asked->raw}, folded, (Text){folded.at + folded.size, asked->plain}, asked->signs);
}

// What each of some texts shows and says, as `disguises` tells it, with WORDS for the words as they are.
EXPORT("look") int32_t look(void) {
  const Texts *asked = given();
  const uint32_t *lines = (const uint32_t *)(asked + 1);
  Text left = {(const uint8_t *)(lines + asked->count), asked->raw};
  uint32_t *found = take((asked->count + 1) * sizeof(uint32_t) + asked->count * MOST_VIEWS * sizeof(View));
  views = (View *)(found + asked->count + 1);
  view_count = number_now = 0;
  bool is_folded = asked->folded != NOT_FOLDED, may_fold = true;
  if (is_folded) found[0] = look_at_folded(asked, left);
  for (; !is_folded && may_fold && number_now < asked->count; number_now++) {
    Text raw = next_text(&left, lines[number_now]), folded;
    may_fold = fold(raw, &folded);
    found[number_now] = look_at(raw, folded, look_alike(folded), asked->signs);
  }
  found[asked->count] = view_count;
  return answered(may_fold ? (int32_t)found : FOLD_IT);
}
