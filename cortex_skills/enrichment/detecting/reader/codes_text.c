// Bytes that were in code: whether they are a text that can be read, and what letters stand for in each base.
//
// Rules kept here:
// - a byte costs the same wherever it comes, and what came is not kept;
// - what `bases.text_of` takes for a text is taken for one here.
#include "codes.h"

enum { SHORTEST = 4 };

// Whether a character is of a class of which the host has told; others may be of any.
static bool may_be(uint32_t code, uint16_t class) {
  return !(characters[code].class & TOLD) || characters[code].class & class;
}

static bool is_printable(uint32_t code) { return code >= 0x80 ? may_be(code, PRINTABLE) : code >= ' ' && code < 0x7f; }
static bool is_blank(uint32_t code) { return code == '\n' || code == '\r' || code == '\t'; }

static bool is_readable(uint32_t code) {
  if (code >= 0x80) return may_be(code, ALNUM);
  if (is_alnum_of_ascii(code)) return true;
  switch (code) {
  case ' ': case '\n': case '.': case ',': case ':': case ';': case '\'': case '"': case '!': case '?': case '-':
    return true;
  default:
    return false;
  }
}

// Adds a byte to the character at the end; whether that is whole then.
static bool is_whole(Plain *plain, uint8_t byte) {
  if (plain->left) {
    plain->code = plain->code << 6 | (byte & 0x3f);
    if ((byte & 0xc0) != 0x80 || plain->code >= CODES) plain->is_over = true;
    return --plain->left == 0;
  }
  plain->code = byte;
  if (byte < 0x80) return true;
  if (byte < 0xc2 || byte > 0xf4) plain->is_over = true;
  plain->left = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
  plain->code = byte & (0x3f >> plain->left);
  return false;
}

static bool are_enough(uint64_t readable, uint64_t chars) { return readable * 10 >= chars * 7; }

// Whether what came is a text that can be read; of its last character, what was cut may be left.
static bool is_text(const Plain *plain) {
  if (plain->size < SHORTEST) return false;
  if (plain->has_nul) {
    uint32_t way = plain->second == 0, end = plain->wide[way].end;
    return (!end || plain->size < end + 2) && are_enough(plain->wide[way].readable, plain->size / 2 - 1);
  }
  bool counts = is_printable(plain->code);
  return !plain->has_control &&
         are_enough(plain->readable + (counts && is_readable(plain->code)), plain->chars + counts);
}

// What the last two bytes are in UTF-16.
static void look_at_pair(Plain *plain, uint8_t byte) {
  uint32_t codes[] = {plain->last << 8 | byte, byte << 8 | plain->last};
  for (uint32_t way = 0; way < 2; way++) {
    bool is_half = codes[way] >= 0xd800 && codes[way] < 0xe000;
    plain->wide[way].readable += is_half || is_readable(codes[way]);
    if (plain->wide[way].end || is_half || is_printable(codes[way]) || is_blank(codes[way])) continue;
    plain->wide[way].end = plain->size;
  }
}

void put_byte(Plain *plain, uint8_t byte) {
  plain->ends <<= 1;
  if (plain->is_over) return;
  plain->size++;
  bool is_char = is_whole(plain, byte);
  if (plain->size == 2) plain->second = byte;
  if (plain->size % 2 == 0) look_at_pair(plain, byte);
  plain->last = byte;
  if (plain->is_over || !is_char) return;
  plain->has_nul |= !plain->code;
  plain->ends |= is_text(plain);
  plain->chars++;
  plain->readable += is_readable(plain->code);
  plain->has_control |= plain->code && !is_printable(plain->code) && !is_blank(plain->code);
}

uint8_t of_base16(uint8_t letter) {
  if (is_digit(letter)) return letter - '0';
  uint8_t place = (letter | 0x20) - 'a';
  return place < 6 ? place + 10 : NONE;
}

uint8_t of_base32(uint8_t letter) {
  if (is_letter_of_ascii(letter)) return (letter | 0x20) - 'a';
  return letter >= '2' && letter <= '7' ? letter - '2' + 26 : NONE;
}

uint8_t of_base32_hex(uint8_t letter) {
  if (is_digit(letter)) return letter - '0';
  uint8_t place = (letter | 0x20) - 'a';
  return place < 22 ? place + 10 : NONE;
}

uint8_t of_base64(uint8_t letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  if (is_digit(letter)) return letter - '0' + 52;
  if (letter == '+' || letter == '-') return 62;
  return letter == '/' || letter == '_' ? 63 : NONE;
}
