// Letters that are written as escapes, entities, and pluses of an address.
//
// Rules kept here:
// - what `escapes.escape` finds is told of; what stands between two of a run is not asked for;
// - of the names of entities, those are known that need no semicolon: any other name may be one before a semicolon.
#include "codes.h"

static uint8_t byte_at(Text text, uint32_t place) { return place < text.size ? text.at[place] : 0; }

// How many hexadecimal digits stand at a place; more than `most` are not counted.
static uint32_t hex_at(Text text, uint32_t place, uint32_t most) {
  uint32_t count = 0;
  while (count < most && is_hex(byte_at(text, place + count))) count++;
  return count;
}

static bool is_octal(Text text, uint32_t place) {
  for (uint32_t digit = 0; digit < 3; digit++)
    if ((uint8_t)(byte_at(text, place + digit) - '0') >= (digit ? 8 : 4)) return false;
  return true;
}

// `\49 `, as style sheets have it.
static bool is_of_style(Text text, uint32_t place) {
  return byte_at(text, place) == '\\' && hex_at(text, place + 1, 2) == 2 && byte_at(text, place + 3) == ' ';
}

static bool is_behind_backslash(Text text, uint32_t place) {
  uint8_t kind = byte_at(text, place + 1);
  if (kind == 'x') return hex_at(text, place + 2, 2) == 2;
  if (kind == 'U') return hex_at(text, place + 2, 8) == 8;
  if (kind == 'u' && byte_at(text, place + 2) == '{') {
    uint32_t count = hex_at(text, place + 3, 6);
    return count && byte_at(text, place + 3 + count) == '}';
  }
  if (kind == 'u') return hex_at(text, place + 2, 4) == 4;
  return is_octal(text, place + 1) || (is_of_style(text, place) && is_of_style(text, place + 4));
}

static bool is_behind_percent(Text text, uint32_t place) {
  return hex_at(text, place + 1, 2) == 2 || (byte_at(text, place + 1) == 'u' && hex_at(text, place + 2, 4) == 4);
}

static bool is_large_hex(uint8_t byte) { return is_digit(byte) || (byte >= 'A' && byte <= 'F'); }

static bool is_behind_equals(Text text, uint32_t place) {
  uint8_t next = byte_at(text, place + 1), then = byte_at(text, place + 2);
  return next == '\n' || (next == '\r' && then == '\n') || (is_large_hex(next) && is_large_hex(then));
}

static bool is_in_word_of_ascii(uint8_t byte) { return byte == '_' || is_alnum_of_ascii(byte); }

// `U+0049 U+0067`: one alone names a character, and one within a word does not.
static bool is_code_point(Text text, uint32_t place) {
  if (!place || text.at[place - 1] != 'U' || (place > 1 && is_in_word_of_ascii(text.at[place - 2]))) return false;
  uint32_t count = hex_at(text, place + 1, 6), behind = place + 1 + count;
  if (count < 4) return false;
  for (uint32_t between = 0; between < 2; between++) {
    uint8_t sign = byte_at(text, behind++);
    if (sign != ' ' && sign != ',' && sign != ';') return false;
    if (byte_at(text, behind) == 'U') return byte_at(text, behind + 1) == '+' && hex_at(text, behind + 2, 4) == 4;
  }
  return false;
}

// `chr(73)`, up to the parenthesis that stands at a place.
static bool is_call(Text text, uint32_t place) {
  uint32_t digits = 0, end = place;
  while (digits < 6 && is_digit(byte_at(text, place + 1 + digits))) digits++;
  if (!digits || digits > 5 || byte_at(text, place + 1 + digits) != ')') return false;
  if (end && (text.at[end - 1] | 0x20) != 'r') end--;
  return end >= 3 && (text.at[end - 3] | 0x20) == 'c' && (text.at[end - 2] | 0x20) == 'h' &&
         (text.at[end - 1] | 0x20) == 'r';
}

static bool is_of_utf7(uint8_t byte) { return is_alnum_of_ascii(byte) || byte == '+' || byte == '/'; }

static bool may_be_letter(uint8_t byte) { return byte >= 0x80 || is_letter_of_ascii(byte); }

static bool is_half(uint32_t unit) { return unit >= 0xd800 && unit < 0xe000; }

// The number of UTF-16 behind some bits of UTF-7, which the next letters hold.
static uint32_t next_unit(Text text, uint32_t *at, uint32_t *held, uint32_t *bits) {
  for (; *bits < 16; *bits += 6) *held = *held << 6 | of_base64(text.at[(*at)++]);
  *bits -= 16;
  return *held >> *bits & 0xffff;
}

// Tells of the characters of UTF-7 that stand behind a plus; they are of Latin writing, or no more than counted. One that
// cannot be printed makes the whole no code.
static void look_at_utf7(Text text, uint32_t place, uint32_t end) {
  uint32_t held = 0, bits = 0, at = place + 1, count = (end - at) * 6 / 16, last = 0;
  bool is_foreign_all = true;
  // What is left of four letters is one byte at least.
  if ((end - at) % 4 == 1) return;
  for (uint32_t each = 0; each < count; each++) {
    uint32_t unit = next_unit(text, &at, &held, &bits);
    if (is_never_printed(unit)) return;
    // Of a pair, nothing is known; half of one is a sign.
    if (!is_half(unit)) is_foreign_all = is_foreign_all && is_foreign(unit);
    else if (is_half(last)) is_foreign_all = false;
    last = unit;
  }
  if (!is_foreign_all) tell(place, ESCAPED);
  for (uint32_t each = 0; each < count; each++) tell(place + 1 + each, FOREIGN);
}

// What a plus is part of; `end` is where the letters of UTF-7 end that were looked at last.
static void look_at_plus(Text text, uint32_t place, uint32_t *end) {
  if (*end <= place)
    for (*end = place + 1; *end < text.size && is_of_utf7(text.at[*end]);) *end += 1;
  if (*end - place > 3 && byte_at(text, *end) == '-') look_at_utf7(text, place, *end);
  if (is_code_point(text, place)) tell(place, ESCAPED);
  if (place && may_be_letter(text.at[place - 1]) && may_be_letter(byte_at(text, place + 1))) tell(place, PLUS);
}

// The names of entities that need no semicolon behind them, a blank between two.
static Text entities;

EXPORT("learn_entities") int32_t learn_entities(uint32_t size) {
  entities = (Text){given(), size};
  keep();
  return 0;
}

static bool begins_with_entity(Text text) {
  Text left = entities;
  while (left.size) {
    Text name = taken_until(' ', &left);
    if (name.size <= text.size && same(name, (Text){text.at, name.size})) return true;
  }
  return false;
}

// Whether an entity may begin at a place: a number, or a name.
static bool is_entity(Text text, uint32_t place) {
  uint32_t start = place + 1, end = start;
  while (is_alnum_of_ascii(byte_at(text, end))) end++;
  if (end == start) return byte_at(text, start) == '#';
  return byte_at(text, end) == ';' || begins_with_entity((Text){text.at + start, end - start});
}

void look_at_sign(Text text, uint32_t place, uint32_t *end_of_utf7) {
  switch (text.at[place]) {
  case '+':
    look_at_plus(text, place, end_of_utf7);
    return;
  case '&':
    if (is_entity(text, place)) tell(place, ENTITY);
    return;
  case '\\':
    if (is_behind_backslash(text, place)) tell(place, ESCAPED);
    return;
  case '%':
    if (is_behind_percent(text, place)) tell(place, ESCAPED);
    return;
  case '=':
    if (is_behind_equals(text, place)) tell(place, ESCAPED);
    return;
  default:
    if (is_call(text, place)) tell(place, ESCAPED);
  }
}
