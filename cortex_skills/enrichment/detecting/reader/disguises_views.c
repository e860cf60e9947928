// How a text reads without a disguise.
//
// Rules kept here:
// - linear: a view is no longer than twice its text, but for the words that are put in place of others.
#include "parts.h"

// Digits and signs, and the letters that they look like, in either of two ways.
static const char LIKES[] = "013457@$!|89";
static const char MEANT[2][sizeof LIKES] = {"oieastasilbg", "oleastaslibg"};

// A word without doubled letters, and what it is known to be; none when `single` is empty.
typedef struct {
  Text single, word;
} Single;

// In a table of a power of two of places, half of them empty; what collides goes to the next.
static Single *known;
static uint32_t last_place, most_longer;

static Text view_of(const uint8_t *view, const uint8_t *end) { return (Text){view, end - view}; }

static uint8_t *put(uint8_t *end, Text text) {
  for (uint32_t place = 0; place < text.size; place++) *end++ = text.at[place];
  return end;
}

static bool is_visible_ascii(uint8_t byte) { return (uint8_t)(byte - '!') <= '~' - '!'; }

// Takes the next word behind a place; false when there is none.
static bool next_word(Text text, uint32_t *place, Text *word) {
  uint32_t begin = *place, end;
  while (*place < text.size && is_space(next_char(text, place))) begin = *place;
  *place = begin;
  do {
    while (*place < text.size && is_visible_ascii(text.at[*place])) ++*place;
    end = *place;
  } while (*place < text.size && !is_space(next_char(text, place)));
  *word = (Text){text.at + begin, end - begin};
  return end > begin;
}

static Text with_letters(Text plain, const char *letters) {
  uint8_t meant[256], *view = take(plain.size);
  for (uint32_t byte = 0; byte < sizeof meant; byte++) meant[byte] = byte;
  for (uint32_t like = 0; LIKES[like]; like++) meant[(uint8_t)LIKES[like]] = letters[like];
  for (uint32_t place = 0; place < plain.size; place++) view[place] = meant[plain.at[place]];
  return (Text){view, plain.size};
}

static Text with_humps_apart(Text raw) {
  uint8_t *apart = take(raw.size * 2), *end = apart;
  for (uint32_t place = 0; place < raw.size; place++) {
    if (is(raw, place, LARGE) && is_hump(raw, place)) *end++ = ' ';
    *end++ = raw.at[place];
  }
  Text view;
  fold(view_of(apart, end), &view);
  return view;
}

static Text without_hyphens(Text plain) {
  uint8_t *view = take(plain.size), *end = view;
  for (uint32_t place = 0; place < plain.size; place++)
    if (plain.at[place] != '-' || !is_hyphen(plain, place)) *end++ = plain.at[place];
  return view_of(view, end);
}

Text read_in(Way way, Text raw, Text plain) {
  if (way == APART) return with_humps_apart(raw);
  return way == UNHYPHENED ? without_hyphens(plain) : with_letters(plain, MEANT[way - WITH_LETTERS]);
}

// From the last word to the first.
static Text backwards(Text plain) {
  uint8_t *end = (uint8_t *)take(plain.size) + plain.size, *view = end;
  uint32_t place = 0;
  for (Text word; next_word(plain, &place, &word); put(view, word)) {
    if (view < end) *--view = ' ';
    view -= word.size;
  }
  return view_of(view, end);
}

// Where a word stands that is known by this, or would stand.
static Single *single_at(Text single) {
  uint32_t hash = 0;
  for (uint32_t place = 0; place < single.size; place++) hash = hash * 31 + single.at[place];
  uint32_t found = (hash ^ hash >> 15) & last_place;
  while (known[found].single.size && !same(known[found].single, single)) found = (found + 1) & last_place;
  return &known[found];
}

EXPORT("learn_single") int32_t learn_single(uint32_t size) {
  Text pairs = {given(), size};
  uint32_t places = places_for(count_of('\n', pairs) + 1);
  known = zeroed(places * sizeof(Single));
  last_place = places - 1;
  most_longer = 0;
  while (pairs.size) {
    Text line = taken_until('\n', &pairs), single = taken_until(' ', &line);
    if (!single.size || !line.size) continue;
    *single_at(single) = (Single){single, line};
    if (line.size > single.size + most_longer) most_longer = line.size - single.size;
  }
  keep();
  return 0;
}

// Writes a word without doubled letters, or the one that is known by that.
static uint8_t *put_single(uint8_t *begin, Text word) {
  uint8_t *end = begin;
  for (uint32_t place = 0; place < word.size; place++)
    if (!place || word.at[place] != word.at[place - 1] || !is(word, place, SMALL)) *end++ = word.at[place];
  Text meant = known ? single_at((Text){begin, end - begin})->word : (Text){0};
  return meant.size ? put(begin, meant) : end;
}

static Text without_doubles(Text plain) {
  uint32_t place = 0, most_words = plain.size / 2 + 1;
  uint8_t *view = take(plain.size + most_words * most_longer), *end = view;
  for (Text word; next_word(plain, &place, &word); end = put_single(end, word))
    if (end > view) *end++ = ' ';
  return view_of(view, end);
}

static View *put_lines(View *to, Lines lines, Way way, uint32_t disguise) {
  *to = (View){.text = text_of_lines(lines, way), .way = way, .disguise = disguise};
  return to + 1;
}

static View *put_text(View *to, Text text, uint32_t disguise) {
  *to = (View){.text = text, .way = WAYS, .disguise = disguise};
  return to + 1;
}

View *put_views(View *to, const Part *part) {
  uint32_t shown = part->shown;
  if (shown & LETTERS) {
    Text together[MOST_TOGETHER];
    for (uint32_t each = 0, count = put_letters_together(part->plain, together); each < count; each++)
      to = put_text(to, together[each], LETTERS);
  }
  if (shown & TURNED) {
    Text before = turned(part->plain);
    if (before.size) to = put_text(to, before, TURNED);
  }
  if (shown & DIGITS) {
    to = put_lines(to, part->lines, WITH_LETTERS, DIGITS);
    View *other = put_lines(to, part->lines, WITH_OTHERS, DIGITS);
    if (!are_read_alike(part->lines, WITH_LETTERS, WITH_OTHERS)) to = other;
  }
  if (shown & CAMEL) to = put_lines(to, part->lines, APART, CAMEL);
  if (shown & BACKWARDS) to = put_text(to, backwards(part->plain), BACKWARDS);
  if (shown & DOUBLES) to = put_text(to, without_doubles(part->plain), DOUBLES);
  if (shown & BREAKS) to = put_lines(to, part->lines, UNHYPHENED, BREAKS);
  return to;
}
