// Words with signs in them: base 85, and the smallest words of rot47.
//
// Rules kept here:
// - base 85 is told of where a run without a blank has a sign of it, and decodes to a text;
// - the words of rot47 are the host's (`know_rot47`); each is told of, though it takes two to turn a text.
#include "codes.h"

enum { GROUP = 5, MOST_WORDS = 64 };

// As Adobe writes it, and as git does.
static uint32_t of_adobe(uint8_t letter) { return letter >= '!' && letter <= 'u' ? letter - '!' : NONE; }

static uint32_t of_git(uint8_t letter) {
  static const char signs[] = "!#$%&()*+-;<=>?@^_`{|}~";
  if (is_digit(letter)) return letter - '0';
  if (letter >= 'A' && letter <= 'Z') return letter - 'A' + 10;
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 36;
  for (uint32_t place = 0; signs[place]; place++)
    if ((uint8_t)signs[place] == letter) return place + 62;
  return NONE;
}

// Whether a run decodes to a text; `z` stands for four bytes without a bit where that is so.
static bool may_be_base85(Text run, uint32_t (*of)(uint8_t), bool has_z) {
  Plain plain = {0};
  uint64_t number = 0;
  uint32_t count = 0;
  for (uint32_t place = 0; place < run.size && !plain.is_over; place++) {
    uint32_t value = of(run.at[place]);
    if (has_z && run.at[place] == 'z' && !count) {
      for (uint32_t byte = 0; byte < 4; byte++) put_byte(&plain, 0);
      continue;
    }
    if (value == NONE) return false;
    number = number * 85 + value;
    if (++count < GROUP) continue;
    if (number > UINT32_MAX) return false;
    for (uint32_t byte = 4; byte--;) put_byte(&plain, number >> byte * 8);
    number = count = 0;
  }
  // What is no whole group stands for the first bytes of one.
  for (uint32_t missing = count; count && missing < GROUP; missing++) number = number * 85 + 84;
  if (number > UINT32_MAX) return false;
  for (uint32_t byte = 4; count && byte-- > GROUP - count;) put_byte(&plain, number >> byte * 8);
  return may_be_text(&plain, 0);
}

// What stands between the signs that Adobe begins and ends with.
static Text bare(Text run) {
  if (run.size > 1 && run.at[0] == '<' && run.at[1] == '~') run = (Text){run.at + 2, run.size - 2};
  for (uint32_t place = 0; place + 1 < run.size; place++)
    if (run.at[place] == '~' && run.at[place + 1] == '>') return (Text){run.at, place};
  return run;
}

// Whether a run has a sign of base 85, and is no address.
static bool is_signed(Text run) {
  static const bool signs[256] = {['!'] = true, ['#'] = true, ['$'] = true, ['%'] = true, ['&'] = true, ['*'] = true,
                                  [';'] = true, ['<'] = true, ['>'] = true, ['?'] = true, ['@'] = true, ['^'] = true,
                                  ['`'] = true, ['{'] = true, ['}'] = true, ['~'] = true};
  bool found = false;
  for (uint32_t place = 0; place < run.size; place++) {
    if (run.at[place] == '/' && place && place + 1 < run.size && run.at[place - 1] == ':' && run.at[place + 1] == '/')
      return false;
    found |= signs[run.at[place]];
  }
  return found;
}

void look_at_signed_word(Text text, uint32_t start, uint32_t end) {
  Text run = {text.at + start, end - start};
  if (!is_signed(run)) return;
  run = bare(run);
  if (may_be_base85(run, of_adobe, true) || may_be_base85(run, of_git, false)) tell(start, SIGNED);
}

static Text words[MOST_WORDS];
static uint32_t word_count;

void know_rot47(Text word) {
  if (word_count < MOST_WORDS) words[word_count++] = word;
}

// What is not of ASCII may be a blank.
static bool may_be_blank(uint8_t byte) { return byte <= ' ' || byte >= 0x7f; }

void look_at_rot47(Text text, uint32_t place) {
  for (uint32_t each = 0; each < word_count; each++) {
    Text word = words[each];
    uint32_t left = text.size - place;
    if (left < word.size || !same((Text){text.at + place, word.size}, word)) continue;
    if (left == word.size || may_be_blank(text.at[place + word.size])) tell(place, SIGNED);
  }
}
