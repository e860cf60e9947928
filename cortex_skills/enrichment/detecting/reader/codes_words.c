// Runs without a blank that may be a code: in base 16, 32, 58 or 64, in binary or decimal digits.
//
// Rules kept here:
// - a run is decoded until its bytes are no text, which of most words the first ones say;
// - a run of base 64 may go on over blanks and lines: it is read on from each word with which it may begin, and back
//   from each with which it may end.
#include "codes.h"

enum { LONG_RUN = 12, NEXT_WORD = 8, LAST_WORD = 2, MOST_BETWEEN = 4 };
enum { SOLID = 16, LONG_58 = 20, LONGEST_58 = 1024, LONG_BINARY = 40, LONG_DECIMAL = 24 };

static bool is_of_word(uint8_t byte) { return of_base64(byte) != NONE; }

static bool is_between(uint8_t byte) {
  return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r' || byte == '\f' || byte == '"' || byte == '\'' ||
         byte == ',';
}

static uint32_t end_of_word(Text text, uint32_t place) {
  while (place < text.size && is_of_word(text.at[place])) place++;
  return place;
}

// Where the next word of a run begins behind one that ends at a place; 0 when the run goes on no further.
static uint32_t next_of_run(Text text, uint32_t end) {
  uint32_t place = end;
  while (place < text.size && place - end <= MOST_BETWEEN && is_between(text.at[place])) place++;
  return place == end || place - end > MOST_BETWEEN || place == text.size || !is_of_word(text.at[place]) ? 0 : place;
}

// A run of base 64 from a letter on, and whether one stands behind it that plain words have none of.
typedef struct {
  Bits bits;
  uint32_t start;
  bool is_coded;
} Run;

static bool is_no_letter_of_words(uint8_t byte) {
  return is_digit(byte) || (byte >= 'A' && byte <= 'Z') || byte == '+';
}

static void put_word(Run *run, Text text, uint32_t start, uint32_t end) {
  for (uint32_t place = start; place < end && !is_no_text(&run->bits.plain); place++) {
    run->is_coded |= place > run->start && is_no_letter_of_words(text.at[place]);
    put_bits(&run->bits, of_base64(text.at[place]), 6);
  }
}

static bool may_be_said(const Run *run) { return run->is_coded && may_be_text(&run->bits.plain, CUT); }

// Whether a word, or what begins with it, may be a text.
static bool may_say_onward(Text text, uint32_t start, uint32_t end) {
  Run run = {.start = start};
  put_word(&run, text, start, end);
  if (may_be_said(&run)) return true;
  uint32_t far = end + FAR;
  while (!is_no_text(&run.bits.plain)) {
    uint32_t next = next_of_run(text, end);
    if (!next) return false;
    if (next > far) return true;
    end = end_of_word(text, next);
    uint32_t size = end - next;
    if (size < LAST_WORD) return false;
    put_word(&run, text, next, end < far ? end : far);
    if (may_be_said(&run) || (end > far && !is_no_text(&run.bits.plain))) return true;
    if (size < NEXT_WORD) return false;
  }
  return false;
}

// Whether a word may be a text that was written backwards, or what ends with it and begins at a place behind `begin`.
static bool may_say_backwards(Text text, uint32_t begin, uint32_t start, uint32_t end) {
  Run run = {0};
  uint32_t word = end, far = end - start + FAR;
  for (uint32_t place = end; place > begin && !is_no_text(&run.bits.plain);) {
    if (!is_of_word(text.at[--place])) {
      word = place;
      continue;
    }
    put_bits(&run.bits, of_base64(text.at[place]), 6);
    bool is_first = place == begin || !is_of_word(text.at[place - 1]);
    if (is_first && word - place >= LONG_RUN && may_be_said(&run)) return true;
    run.is_coded |= is_no_letter_of_words(text.at[place]);
    if (end - place > far && !is_no_text(&run.bits.plain)) return true;
  }
  return false;
}

static bool is_between_hex(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\r'; }

// Hexadecimal digits from a place up to an end; words of such digits may follow.
static bool may_be_base16(Text text, uint32_t start, uint32_t end) {
  Bits bits = {0};
  for (uint32_t place = start; place < end && !bits.plain.is_over; place++)
    put_bits(&bits, of_base16(text.at[place]), 4);
  if (bits.plain.is_over || may_be_text(&bits.plain, 0)) return !bits.plain.is_over;
  uint32_t next = end, digits = 0;
  while (next < text.size && next - end < 2 && is_between_hex(text.at[next])) next++;
  while (next > end && digits < NEXT_WORD && next + digits < text.size && is_hex(text.at[next + digits])) digits++;
  return digits == NEXT_WORD;
}

static bool may_be_in_base32(Text text, uint32_t start, uint32_t end) {
  uint8_t (*const bases[])(uint8_t) = {of_base32, of_base32_hex};
  uint32_t small = start;
  while (small < end && text.at[small] >= 'a') small++;
  // A plain word.
  if (small == end) return false;
  for (uint32_t base = 0; base < 2; base++) {
    Bits bits = {0};
    uint32_t place = start;
    for (uint8_t value; place < end && !bits.plain.is_over && (value = bases[base](text.at[place])) != NONE; place++)
      put_bits(&bits, value, 5);
    // The last letter may be cut, whatever it is.
    if (place + 1 >= end && may_be_text(&bits.plain, 0)) return true;
  }
  return false;
}

static bool is_small_32(uint8_t byte) { return (byte >= 'a' && byte <= 'z') || (byte >= '2' && byte <= '7'); }
static bool is_large_32(uint8_t byte) { return (byte >= 'A' && byte <= 'Z') || (byte >= '2' && byte <= '7'); }
static bool is_hex_32(uint8_t byte) { return is_digit(byte) || (byte >= 'A' && byte <= 'V'); }

// Runs of one alphabet of base 32, of which the first that is there counts, from the first place.
static bool has_base32(Text text, uint32_t start, uint32_t end) {
  bool (*const alphabets[])(uint8_t) = {is_large_32, is_small_32, is_hex_32};
  uint32_t ends[3] = {start, start, start};
  for (uint32_t place = start; place + SOLID <= end;) {
    uint32_t behind = place;
    for (uint32_t which = 0; which < 3 && behind == place; which++) {
      if (ends[which] < place) ends[which] = place;
      while (ends[which] < end && alphabets[which](text.at[ends[which]])) ends[which]++;
      if (ends[which] >= place + SOLID) behind = ends[which];
    }
    if (behind > place && may_be_in_base32(text, place, behind)) return true;
    place = behind > place ? behind : place + 1;
  }
  return false;
}

// What a letter stands for in base 58, which leaves out those that look alike.
static uint8_t of_base58(uint8_t letter) {
  if (letter >= '1' && letter <= '9') return letter - '1';
  if (letter >= 'A' && letter <= 'Z' && letter != 'I' && letter != 'O')
    return letter - 'A' + 9 - (letter > 'I') - (letter > 'O');
  if (letter >= 'a' && letter <= 'z' && letter != 'l') return letter - 'a' + 33 - (letter > 'l');
  return NONE;
}

// Of a number in base 58, the last bytes are worked out: they must end a text.
static bool may_be_base58(Text text, uint32_t start, uint32_t end) {
  enum { PARTS = 4 };
  uint32_t parts[PARTS] = {0};
  if (end - start > LONGEST_58) return false;
  for (uint32_t place = start; place < end; place++) {
    uint64_t carried = of_base58(text.at[place]);
    for (uint32_t part = 0; part < PARTS; part++) {
      carried += (uint64_t)parts[part] * 58;
      parts[part] = carried;
      carried >>= 32;
    }
  }
  Plain plain = {0};
  bool begins = false;
  for (uint32_t at = 4 * PARTS; at--;) {
    uint8_t byte = parts[at / 4] >> at % 4 * 8;
    // They may begin within a character, or the number before them.
    begins = begins || (byte && (at < 4 * PARTS - CUT || (byte & 0xc0) != 0x80));
    if (begins) put_byte(&plain, byte);
  }
  return !plain.is_over && !plain.left;
}

// The longest run from a place of those bytes that are of an alphabet.
static uint32_t end_of(uint8_t (*of)(uint8_t), Text text, uint32_t place, uint32_t end) {
  while (place < end && of(text.at[place]) != NONE) place++;
  return place;
}

static uint8_t of_binary(uint8_t letter) { return letter == '0' || letter == '1' ? letter - '0' : NONE; }
static uint8_t of_decimal(uint8_t letter) { return is_digit(letter) ? letter - '0' : NONE; }

// Whether a run of an alphabet in a word may be a text, by a question that is asked of those that are long enough.
static bool has_run(uint8_t (*of)(uint8_t), uint32_t least, bool (*may_be)(Text, uint32_t, uint32_t), Text text,
                    uint32_t start, uint32_t end) {
  for (uint32_t place = start; place + least <= end; place++) {
    uint32_t behind = end_of(of, text, place, end);
    if (behind - place >= least && (!may_be || may_be(text, place, behind))) return true;
    place = behind;
  }
  return false;
}

// Of which alphabet a letter is, a bit each: of base 16, of each of base 32, of base 58.
enum { OF_16 = 1, OF_LARGE_32 = 2, OF_SMALL_32 = 4, OF_HEX_32 = 8, OF_58 = 16 };
enum { OF_32 = OF_LARGE_32 | OF_SMALL_32 | OF_HEX_32, OF_LARGE = OF_LARGE_32 | OF_HEX_32 };
static const uint8_t alphabets_of[256] = {
    ['0'] = OF_16 | OF_HEX_32,
    ['1'] = OF_16 | OF_HEX_32 | OF_58,
    ['2' ... '7'] = OF_16 | OF_32 | OF_58,
    ['8' ... '9'] = OF_16 | OF_HEX_32 | OF_58,
    ['A' ... 'F'] = OF_16 | OF_LARGE | OF_58,
    ['G' ... 'H'] = OF_LARGE | OF_58,
    ['I'] = OF_LARGE,
    ['J' ... 'N'] = OF_LARGE | OF_58,
    ['O'] = OF_LARGE,
    ['P' ... 'V'] = OF_LARGE | OF_58,
    ['W' ... 'Z'] = OF_LARGE_32 | OF_58,
    ['a' ... 'f'] = OF_16 | OF_SMALL_32 | OF_58,
    ['g' ... 'k'] = OF_SMALL_32 | OF_58,
    ['l'] = OF_SMALL_32,
    ['m' ... 'z'] = OF_SMALL_32 | OF_58,
};

// The alphabets of which so many letters stand one behind the other in a word that none of their codes is shorter.
static uint8_t solid_in(Text text, uint32_t start, uint32_t end) {
  uint32_t size = end - start;
  uint8_t *run = take(size), found = 0;
  for (uint32_t place = 0; place < size; place++) run[place] = alphabets_of[text.at[start + place]];
  for (uint32_t step = 1; step < SOLID; step *= 2) {
    size -= step;
    for (uint32_t place = 0; place < size; place++) run[place] &= run[place + step];
  }
  for (uint32_t place = 0; place < size; place++) found |= run[place];
  back_to(run);
  return found;
}

static bool is_solid_code(Text text, uint32_t start, uint32_t end) {
  uint8_t solid = solid_in(text, start, end);
  return (solid & OF_16 && has_run(of_base16, SOLID, may_be_base16, text, start, end)) ||
         (solid & OF_32 && has_base32(text, start, end)) ||
         (solid & OF_58 && has_run(of_base58, LONG_58, may_be_base58, text, start, end)) ||
         (solid & OF_16 && has_run(of_binary, LONG_BINARY, NULL, text, start, end)) ||
         (solid & OF_16 && has_run(of_decimal, LONG_DECIMAL, NULL, text, start, end));
}

void look_at_word(Text text, uint32_t start, uint32_t end, Words *words) {
  uint32_t begin = words->next == start && start ? words->begin : start;
  if (may_say_onward(text, start, end) || (end - start >= SOLID && is_solid_code(text, start, end))) tell(start, BASED);
  // Back from the word, and from those that the run goes on with up to the next one that it may begin with.
  uint32_t word = start, size = end - start;
  while (size >= LAST_WORD) {
    if (may_say_backwards(text, begin, word, end)) tell(end - 1, BASED);
    if (size < NEXT_WORD || !(word = next_of_run(text, end))) return;
    end = end_of_word(text, word);
    size = end - word;
    if (size < LONG_RUN) continue;
    words->begin = begin;
    words->next = word;
    return;
  }
}
