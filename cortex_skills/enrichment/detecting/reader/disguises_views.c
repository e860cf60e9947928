// How a text reads without a disguise, and whether it says an instruction then.
//
// Rules kept here:
// - a view is, letter for letter, the one that `disguises.py` and `detect.py` make of the same text;
// - linear: a view is no longer than twice its text, but for the words that are put in place of others;
// - a text with characters beyond ASCII is folded by the host alone: what needs that is left to it.
#include "disguises.h"

// Digits and signs, and the letters that they look like, in either of two ways.
static const char LIKES[] = "013457@$!|89";
static const char LETTERS[2][sizeof LIKES] = {"oieastasilbg", "oleastaslibg"};

// A word without doubled letters, and what it is known to be; none when `single` is empty.
typedef struct {
  Text single, word;
} Known;

// In a table of a power of two of places, half of them empty; what collides goes to the next.
static Known *known;
static uint32_t last_place, most_longer;

static bool says(const uint8_t *view, const uint8_t *end, uint32_t signs) {
  return judge((Text){view, end - view}, signs, false) >= 0;
}

static uint8_t *put(uint8_t *end, Text text) {
  for (uint32_t place = 0; place < text.size; place++) *end++ = text.at[place];
  return end;
}

// Takes the next word behind a place; false when there is none.
static bool next_word(Text text, uint32_t *place, Text *word) {
  uint32_t begin = *place, end;
  while (*place < text.size && is_space(next_char(text, place))) begin = *place;
  *place = end = begin;
  while (*place < text.size && !is_space(next_char(text, place))) end = *place;
  *word = (Text){text.at + begin, end - begin};
  return end > begin;
}

bool says_with_letters_for_signs(Text plain, uint32_t signs) {
  for (uint32_t way = 0; way < 2; way++) {
    uint8_t meant[256], *view = take(plain.size);
    for (uint32_t byte = 0; byte < sizeof meant; byte++) meant[byte] = byte;
    for (uint32_t like = 0; LIKES[like]; like++) meant[(uint8_t)LIKES[like]] = LETTERS[way][like];
    for (uint32_t place = 0; place < plain.size; place++) view[place] = meant[plain.at[place]];
    if (says(view, view + plain.size, signs)) return true;
  }
  return false;
}

static bool is_ascii(Text text) {
  for (uint32_t place = 0; place < text.size; place++)
    if (text.at[place] >= 0x80) return false;
  return true;
}

// What `fold` makes of a character of ASCII; 0 when that is nothing.
static uint8_t folded(uint8_t byte) {
  if (byte >= 'A' && byte <= 'Z') return byte - 'A' + 'a';
  if (byte >= ' ') return byte == 0x7f ? 0 : byte;
  if (byte == '\t') return ' ';
  bool is_line_end = (byte >= '\n' && byte <= '\r') || (byte >= 0x1c && byte <= 0x1e);
  return is_line_end ? '\n' : 0;
}

bool says_with_humps_apart(Text raw) {
  if (!is_ascii(raw)) return false;
  uint8_t *view = take(raw.size * 2), *end = view;
  for (uint32_t place = 0; place < raw.size; place++) {
    if (is_hump(raw, place)) *end++ = ' ';
    uint8_t byte = folded(raw.at[place]);
    if (byte) *end++ = byte;
  }
  return says(view, end, 0);
}

// Behind the letters that stand at a place, and how many they are.
static uint32_t behind_letters(Text plain, uint32_t place, uint32_t *count) {
  uint32_t next = place;
  for (*count = 0; next < plain.size && is_letter(next_char(plain, &next)); ++*count) place = next;
  return place;
}

// Behind the long words at a place that follow each other, with a sign or a blank between them at most.
static uint32_t behind_long_words(Text plain, uint32_t place) {
  for (;;) {
    uint32_t count, behind = behind_letters(plain, place, &count);
    if (count < LONG_WORD) return place;
    uint8_t sign = behind < plain.size ? plain.at[behind] : 0;
    bool is_between = sign == '-' || sign == '.' || sign == ',' || sign == '!' || sign == '?' || sign == ' ';
    place = behind + is_between;
  }
}

bool says_by_long_words(Text plain) {
  for (uint32_t place = 0, count; place < plain.size;) {
    uint32_t end = behind_long_words(plain, place);
    if (end > place && judge_run_together((Text){plain.at + place, end - place}) >= 0) return true;
    place = behind_letters(plain, end, &count);
    if (place < plain.size) next_char(plain, &place);
  }
  return false;
}

// From the last word to the first.
bool says_backwards(Text plain, uint32_t signs) {
  uint8_t *end = (uint8_t *)take(plain.size) + plain.size, *view = end;
  uint32_t place = 0;
  for (Text word; next_word(plain, &place, &word); put(view, word)) {
    if (view < end) *--view = ' ';
    view -= word.size;
  }
  return says(view, end, signs);
}

bool says_without_hyphens(Text plain, uint32_t signs) {
  uint8_t *view = take(plain.size), *end = view;
  for (uint32_t place = 0; place < plain.size; place++)
    if (!is_hyphen(plain, place)) *end++ = plain.at[place];
  return says(view, end, signs);
}

// Where a word stands that is known by this, or would stand.
static Known *place_of(Text single) {
  uint32_t hash = 0;
  for (uint32_t place = 0; place < single.size; place++) hash = hash * 31 + single.at[place];
  uint32_t found = (hash ^ hash >> 15) & last_place;
  while (known[found].single.size && !same(known[found].single, single)) found = (found + 1) & last_place;
  return &known[found];
}

// Takes what stands before the next sign of this kind, or the end.
static Text taken_until(uint8_t sign, Text *left) {
  Text found = {left->at, 0};
  while (found.size < left->size && found.at[found.size] != sign) found.size++;
  uint32_t behind = found.size < left->size ? found.size + 1 : found.size;
  *left = (Text){left->at + behind, left->size - behind};
  return found;
}

void learn_single(Text pairs) {
  uint32_t lines = 1, places = 16;
  for (uint32_t place = 0; place < pairs.size; place++) lines += pairs.at[place] == '\n';
  while (places < lines * 2) places *= 2;
  known = take(places * sizeof(Known));
  for (uint32_t place = 0; place < places; place++) known[place] = (Known){0};
  last_place = places - 1;
  most_longer = 0;
  while (pairs.size) {
    Text line = taken_until('\n', &pairs), single = taken_until(' ', &line);
    if (!single.size || !line.size) continue;
    *place_of(single) = (Known){single, line};
    if (line.size > single.size + most_longer) most_longer = line.size - single.size;
  }
  keep();
}

// Writes a word without doubled letters, or the one that is known by that.
static uint8_t *put_single(uint8_t *begin, Text word) {
  uint8_t *end = begin;
  for (uint32_t place = 0; place < word.size; place++)
    if (!place || word.at[place] != word.at[place - 1] || !is(word, place, SMALL)) *end++ = word.at[place];
  Text meant = known ? place_of((Text){begin, end - begin})->word : (Text){0};
  return meant.size ? put(begin, meant) : end;
}

bool says_without_doubles(Text plain, uint32_t signs) {
  uint32_t place = 0, most_words = plain.size / 2 + 1;
  uint8_t *view = take(plain.size + most_words * most_longer), *end = view;
  for (Text word; next_word(plain, &place, &word); end = put_single(end, word))
    if (end > view) *end++ = ' ';
  return says(view, end, signs);
}
