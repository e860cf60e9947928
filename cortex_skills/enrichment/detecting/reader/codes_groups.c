// Runs of code that were broken into groups of one length: in base 16, 32 or 64.
//
// Rules kept here:
// - a row of groups is what `groups.groups` finds, and what is shorter behind it belongs to it;
// - a row over lines may be read without some of them: it is read on from each line, and back from each;
// - what is read is no further than a text may come by chance.
#include "codes.h"

enum { LONGEST = 80, FEWEST = 3, FEWEST_LETTERS = 16 };

typedef struct {
  uint32_t start, end; // of the whole row, with what belongs to it
  uint32_t size;       // of a group
  uint32_t rest;       // of what is shorter behind the groups
  bool is_plain;       // has only small letters behind the first one, which say nothing but in base 16
} Row;

// Letters of base 32 up to one that is none.
typedef struct {
  Bits bits;
  bool is_cut;
} Letters;

// What a row may say, from where it is begun to be read.
typedef struct {
  Bits base16, base64;
  Letters base32, base32_hex;
  bool has_upper, has_lower, has_other, is_signed;
} Reading;

bool ends_group(uint8_t byte) {
  bool is_blank = byte == ' ' || (byte >= '\t' && byte <= '\r') || (byte >= 0x1c && byte <= 0x1f);
  return is_blank || byte == '"' || byte == '\'' || byte == ',' || byte == '.' || byte == ';' || byte == ':' ||
         byte == '|';
}

static bool is_of_group(uint8_t byte) { return byte == '=' || of_base64(byte) != NONE; }

// What comes behind it does not count.
static void end(Bits *bits) {
  bits->plain.is_over = true;
  bits->plain.ends = 0;
}

static void put_into(Bits *bits, uint8_t value, uint32_t width) {
  if (value == NONE) end(bits);
  else if (!is_no_text(&bits->plain)) put_bits(bits, value, width);
}

// The last letter of base 32 may be cut, whatever it is.
static void put_into_32(Letters *letters, uint8_t value) {
  if (letters->is_cut) end(&letters->bits);
  else if (value == NONE) letters->is_cut = true;
  else put_into(&letters->bits, value, 5);
}

// A sign at the end of base 64 may stand within a row: where it ends a text, it is the end.
static bool may_end_at_sign(Reading *reading) {
  // Of so many bits, more than none or six, there are two letters or three of a group of four.
  uint32_t bits = reading->base64.bits;
  reading->is_signed = true;
  if (bits != 2 && bits != 4) return false;
  bool may = may_be_text(&reading->base64.plain, CUT_AT_SIGN);
  if (bits == 2) end(&reading->base64);
  return may;
}

static bool may_end_with(Reading *reading, uint8_t letter) {
  if (letter == '=') return may_end_at_sign(reading);
  // Signs stand behind all letters of another base.
  put_into(&reading->base16, reading->is_signed ? NONE : of_base16(letter), 4);
  put_into_32(&reading->base32, reading->is_signed ? NONE : of_base32(letter));
  put_into_32(&reading->base32_hex, reading->is_signed ? NONE : of_base32_hex(letter));
  if (letter >= 'A' && letter <= 'Z') reading->has_upper = true;
  else if (letter >= 'a' && letter <= 'z') reading->has_lower = true;
  else reading->has_other = true;
  put_into(&reading->base64, of_base64(letter), 6);
  return false;
}

static bool may_say(const Reading *reading, bool is_backwards) {
  if (may_be_text(&reading->base64.plain, reading->is_signed ? CUT_AT_SIGN : CUT)) return true;
  if (is_backwards) return false;
  bool is_cased = reading->has_upper ? !reading->has_lower : reading->has_lower && reading->has_other;
  return may_be_text(&reading->base16.plain, 0) ||
         (is_cased && (may_be_text(&reading->base32.bits.plain, 0) || may_be_text(&reading->base32_hex.bits.plain, 0)));
}

static bool is_over(const Reading *reading, bool is_backwards) {
  return is_no_text(&reading->base64.plain) && (is_backwards || (reading->base16.plain.is_over &&
                                                            reading->base32.bits.plain.is_over &&
                                                            reading->base32_hex.bits.plain.is_over));
}

// Whether some of a row may say something, from a place on or back from it. Between lines it may end, too.
static bool may_say_from(Text text, const Row *row, uint32_t from, bool is_backwards, uint32_t least) {
  Reading reading = {0};
  if (row->is_plain) {
    if (is_backwards) return false;
    end(&reading.base64);
    end(&reading.base32.bits);
    end(&reading.base32_hex.bits);
  }
  uint32_t letters = 0, place = from;
  bool is_parted = false;
  while (is_backwards ? place > row->start : place < row->end) {
    uint8_t letter = text.at[is_backwards ? --place : place++];
    if (!is_of_group(letter)) {
      is_parted = is_parted || letter == '\n';
      continue;
    }
    if (is_parted && letters >= least && may_say(&reading, is_backwards)) return true;
    is_parted = false;
    if (may_end_with(&reading, letter)) return true;
    if (is_over(&reading, is_backwards)) return false;
    if (++letters >= least + FAR) return true;
  }
  return letters >= least && may_say(&reading, is_backwards);
}

// How many groups of a size make a run.
static uint32_t fewest_of(uint32_t size) {
  uint32_t fewest = (FEWEST_LETTERS + size - 1) / size;
  return fewest > FEWEST ? fewest : FEWEST;
}

static bool is_row(uint32_t count, uint32_t size) { return count && count >= fewest_of(size); }

// Looks at a row from each place where it may begin, and back from each where it may end.
static void look_at_row(Text text, Row *row) {
  uint32_t least = fewest_of(row->size) * row->size;
  bool is_parted = true;
  row->is_plain = true;
  for (uint32_t place = row->start + 1; place < row->end; place++)
    row->is_plain = row->is_plain && (is_small(text.at[place]) || !is_of_group(text.at[place]));
  for (uint32_t place = row->start, last = place; place < row->end; place++) {
    if (!is_of_group(text.at[place])) {
      is_parted = is_parted || text.at[place] == '\n';
      continue;
    }
    if (is_parted && place > row->start && may_say_from(text, row, last + 1, true, least)) tell(last, GROUPED);
    if (is_parted && may_say_from(text, row, place, false, least)) tell(place, GROUPED);
    is_parted = false;
    last = place;
  }
  if (may_say_from(text, row, row->end, true, least + row->rest)) tell(row->end - 1, GROUPED);
}

// Looks at the rows of groups among pieces of one length, and of one more behind them.
static void look_at_pieces(Text text, const uint8_t *kind, uint32_t start, uint32_t end) {
  Row row = {0};
  uint32_t count = 0;
  for (uint32_t place = start; place < end; place++) {
    if (kind[place] & BETWEEN_GROUPS) continue;
    uint32_t begin = place;
    bool fits = true;
    for (; place < end && !(kind[place] & BETWEEN_GROUPS); place++) fits = fits && is_of_group(text.at[place]);
    uint32_t size = place - begin;
    if (count && fits && size == row.size) {
      count++;
      row.end = place;
      continue;
    }
    if (is_row(count, row.size)) {
      row.rest = fits && size < row.size ? size : 0;
      if (row.rest) row.end = place;
      look_at_row(text, &row);
    }
    count = fits && size > 1 && size <= LONGEST;
    row = (Row){begin, place, size, 0, false};
  }
  if (is_row(count, row.size)) look_at_row(text, &row);
}

typedef signed char Sixteen __attribute__((vector_size(16)));

// Which of the next 64 bytes are between groups, a bit each.
static uint64_t between_groups(const uint8_t *kind) {
  uint64_t found = 0;
  for (uint32_t part = 0; part < 4; part++) {
    Sixteen bytes;
    __builtin_memcpy(&bytes, kind + part * sizeof bytes, sizeof bytes);
    // Of each, the highest bit is taken.
    _Static_assert(BETWEEN_GROUPS << 2 == 0x80, "two places below the highest");
    found |= (uint64_t)__builtin_wasm_bitmask_i8x16(bytes << 2) << part * sizeof bytes;
  }
  return found;
}

void look_for_groups(Text text, const uint8_t *kind) {
  // Pieces of one length, whatever they are made of: how many there are, and where they begin.
  uint32_t count = 0, first = 0, size = 0, start = 0;
  uint64_t before = 1;
  for (uint32_t place = 0; place <= text.size; place += 64) {
    uint64_t between = between_groups(kind + place);
    // A bit where a piece begins, and one where it has ended.
    uint64_t changes = between ^ (between << 1 | before);
    before = between >> 63;
    for (; changes; changes &= changes - 1) {
      uint32_t at = place + __builtin_ctzll(changes);
      if (!(kind[at] & BETWEEN_GROUPS)) {
        start = at;
        continue;
      }
      if (at - start == size && count++) continue;
      if (is_row(count, size)) look_at_pieces(text, kind, first, at);
      count = 1;
      first = start;
      size = at - start;
    }
  }
  if (is_row(count, size)) look_at_pieces(text, kind, first, text.size);
}
