// Rows of numbers that may spell letters.
//
// Rules kept here:
// - eight in a row are a code at least, and each eight that follow each other are looked at: a way that cannot read
//   them can read no row with them;
// - only numbers count that are in every such row: what looks like a column of a dump is left out of rows, what is not
//   decimal may be where most others are, and what cannot be read may have been cut off at an end;
// - of places in the alphabet, the first and the last may be part of a number; any other row begins where a word does,
//   and has all numbers of a line that follow each other.
#include "codes.h"

enum { MOST_BETWEEN = 4, MOST_BETWEEN_PLACES = 3 };
enum { LONGEST = 8, LAST_PLACE = 26, LAST_CODE = 0x10ffff };
// Of so many numbers, all but one are decimal where what is not is left out.
enum { MOST_DECIMAL = 10 };

// How a row may be read: as characters in base 10, 16, 8 or 2, or as places in the alphabet.
enum { DECIMAL = 1, HEXADECIMAL = 2, OCTAL = 4, BINARY = 8, PLACES = 16, ALL = 31 };

typedef struct {
  uint32_t start, end;
  uint32_t first, last; // of the numbers of its line that are in each row with it
  uint8_t never;   // ways in which no row with it is read
  uint8_t control; // the same of rows without a NUL, which are no UTF-16
  bool is_decimal, is_octal_byte; // in base 8, what is no byte is left out
  bool is_hexadecimal;            // and not decimal, without a mark
  bool is_first;                  // of its line, or perhaps of a row
  bool is_left_out;               // what is may be a column
  bool is_parted;                 // something stands before it that does not part places
} Number;

enum { OF_NUMBER = 1, BETWEEN = 2, BETWEEN_PLACES = 6 };
static const uint8_t kinds[256] = {
    ['0' ... '9'] = OF_NUMBER, ['a' ... 'f'] = OF_NUMBER, ['A' ... 'F'] = OF_NUMBER, ['x'] = OF_NUMBER,
    ['X'] = OF_NUMBER,         ['o'] = OF_NUMBER,         ['O'] = OF_NUMBER,         ['h'] = OF_NUMBER,
    ['H'] = OF_NUMBER,         ['\t'] = BETWEEN,          ['\r'] = BETWEEN,          [':'] = BETWEEN,
    ['.'] = BETWEEN,           ['_'] = BETWEEN,           ['+'] = BETWEEN,           ['"'] = BETWEEN,
    ['\''] = BETWEEN,          ['['] = BETWEEN,           [']'] = BETWEEN,           ['('] = BETWEEN,
    [')'] = BETWEEN,           ['{'] = BETWEEN,           ['}'] = BETWEEN,           [' '] = BETWEEN_PLACES,
    [','] = BETWEEN_PLACES,    [';'] = BETWEEN_PLACES,    ['|'] = BETWEEN_PLACES,    ['/'] = BETWEEN_PLACES,
    ['\n'] = BETWEEN_PLACES,   ['-'] = BETWEEN_PLACES,
};

bool is_of_number(uint8_t byte) { return kinds[byte] == OF_NUMBER; }
bool is_between_numbers(uint8_t byte) { return kinds[byte] & BETWEEN; }

static bool is_control(uint32_t code) {
  return (code && code < ' ' && code != '\t' && code != '\n' && code != '\r') || (code >= 0x7f && code <= 0xa0);
}

// What is known of the numbers that follow each other so far.
typedef struct {
  Number *numbers;
  uint32_t count;
  uint8_t nul;       // ways in which a NUL may be among them
  bool is_large;     // one may be larger than a place in the alphabet
  bool is_in_word;   // the first is part of a word that began before it
  uint32_t decimals; // how many of them have only digits, at most
} Row;

// What a decimal number is in a base; more than any character when it is none.
static uint32_t value_in(Text digits, uint32_t base) {
  uint32_t value = 0;
  for (uint32_t place = 0; place < digits.size; place++) {
    uint32_t digit = digits.at[place] - '0';
    if (digit >= base) return UINT32_MAX;
    value = value * base + digit;
  }
  return value;
}

static void look_at_decimal(Text digits, Row *row, Number *number) {
  uint32_t value = value_in(digits, 10), octal = value_in(digits, 8);
  if (digits.size > 2 || value > LAST_PLACE) number->never |= PLACES;
  if (value > LAST_CODE) number->never |= DECIMAL;
  if (octal == UINT32_MAX) number->never |= OCTAL;
  if (value_in(digits, 2) == UINT32_MAX) number->never |= BINARY;
  if (is_control(value)) number->control |= DECIMAL;
  if (octal < 0x80 && is_control(octal)) number->control |= OCTAL;
  number->is_octal_byte = octal < 0x100;
  row->nul |= (value ? 0 : DECIMAL) | (octal ? 0 : OCTAL);
  row->is_large = row->is_large || value > LAST_PLACE;
  if (digits.size % 2) number->never |= HEXADECIMAL;
  for (uint32_t place = 0; place + 1 < digits.size; place += 2) {
    uint32_t byte = (digits.at[place] - '0') << 4 | (digits.at[place + 1] - '0');
    if (byte < 0x80 && is_control(byte)) number->control |= HEXADECIMAL;
    if (!byte) row->nul |= HEXADECIMAL;
  }
}

static uint8_t byte_at(Text digits, uint32_t place) {
  return of_base16(digits.at[place]) << 4 | of_base16(digits.at[place + 1]);
}

// What has a letter can be read as hexadecimal alone, when it is not left out.
static void look_at_hexadecimal(Text digits, Row *row, Number *number) {
  number->never = ALL & ~HEXADECIMAL;
  if (digits.size % 2) number->never |= HEXADECIMAL;
  for (uint32_t place = 0; place + 1 < digits.size; place += 2) {
    uint8_t byte = byte_at(digits, place);
    if (byte < 0x80 && is_control(byte)) number->control |= HEXADECIMAL;
    if (!byte) row->nul |= HEXADECIMAL;
  }
}

static void look_at_number(Text text, Row *row, Number *number) {
  Text word = {text.at + number->start, number->end - number->start};
  bool is_decimal = true, is_hexadecimal = true, has_zero = false;
  for (uint32_t place = 0; place < word.size; place++) {
    is_decimal = is_decimal && is_digit(word.at[place]);
    is_hexadecimal = is_hexadecimal && is_hex(word.at[place]);
    has_zero = has_zero || word.at[place] == '0';
  }
  row->decimals += is_decimal;
  number->is_decimal = is_decimal && word.size <= LONGEST;
  // What begins with `0b` has the mark of base 2.
  number->is_hexadecimal =
      is_hexadecimal && !is_decimal && word.size <= LONGEST && !(word.at[0] == '0' && (word.at[1] | 0x20) == 'b');
  if (number->is_decimal) look_at_decimal(word, row, number);
  else if (number->is_hexadecimal) look_at_hexadecimal(word, row, number);
  else {
    number->never = PLACES;
    row->nul |= has_zero ? ALL : 0;
  }
  row->is_large = row->is_large || !number->is_decimal;
}

// Whether a number is one in any row that it may be of.
static bool is_plain(const Number *number) { return number->is_decimal || number->is_hexadecimal; }

// Whether a column begins at a place: what a line begins with ends there, or what goes on stands apart.
static bool is_end_of_column(Text text, uint32_t place, uint32_t end) {
  if (place < end && text.at[place] == ':') return true;
  return place + 1 < end && text.at[place] == ' ' && text.at[place + 1] == ' ';
}

// Whether a number is in each row that has the one behind it, and the other way round.
static bool is_joined(const Row *row, uint32_t place) {
  const Number *number = &row->numbers[place], *next = number + 1;
  return !next->is_first && is_plain(number) && is_plain(next);
}

static void join_lines(Row *row) {
  for (uint32_t each = 0; each < row->count; each++)
    row->numbers[each].first = each && is_joined(row, each - 1) ? row->numbers[each - 1].first : each;
  for (uint32_t each = row->count; each--;)
    row->numbers[each].last = each + 1 < row->count && is_joined(row, each) ? row->numbers[each + 1].last : each;
}

// The numbers of a part of a text that has nothing else but what stands between them.
static Row row_of(Text text, uint32_t start, uint32_t end) {
  // Of the last, less may belong to a row, and be decimal.
  Row row = {.numbers = mark(), .is_in_word = start && is_alnum_of_ascii(text.at[start - 1]), .decimals = 1};
  bool is_first = true, is_apart = false, has_lines = false, is_parted = false;
  uint32_t blanks = 0, between = 0;
  for (uint32_t place = start; place < end;) {
    uint8_t byte = text.at[place];
    if (kinds[byte] != OF_NUMBER) {
      is_parted = is_parted || kinds[byte] != BETWEEN_PLACES || ++between > MOST_BETWEEN_PLACES;
      blanks = byte == ' ' ? blanks + 1 : 0;
      if (byte == '\n') is_first = has_lines = true;
      is_apart = blanks > 1 || (is_apart && byte != '\n');
      place++;
      continue;
    }
    Number *number = take(sizeof *number);
    *number = (Number){.start = place, .is_first = is_first, .is_parted = is_parted};
    while (place < end && kinds[text.at[place]] == OF_NUMBER) place++;
    number->end = place;
    number->is_left_out = is_apart || (is_first && is_end_of_column(text, place, end));
    look_at_number(text, &row, number);
    // A row may begin behind what is in none, or may be in none.
    is_first = !is_plain(number) || (row.is_in_word && !row.count);
    row.count++;
    is_parted = false;
    blanks = between = 0;
  }
  // In one line, nothing is left out.
  for (uint32_t each = 0; !has_lines && each < row.count; each++) row.numbers[each].is_left_out = false;
  join_lines(&row);
  return row;
}

// Some numbers that follow each other.
typedef struct {
  uint32_t first, last;
} Range;

// Whether what is no decimal number is in each row with some numbers: there are not so many decimal ones that it is left
// out.
static bool are_all_in(const Row *row, Range range) {
  uint32_t others = 0;
  for (uint32_t each = range.first; each <= range.last; each++)
    others += row->numbers[each].is_hexadecimal && !row->numbers[each].is_left_out;
  return others * (MOST_DECIMAL - 1) >= row->decimals;
}

static bool is_in_each(const Number *number, bool are_all) {
  return (number->is_decimal || (are_all && number->is_hexadecimal)) && !number->is_left_out;
}

// Whether the bytes that these numbers stand for in base 16 may be among those of a text in UTF-8.
static bool may_be_utf8(Text text, const Row *row, Range range) {
  Plain plain = {0};
  bool begins = false;
  for (uint32_t each = range.first; each <= range.last && !plain.is_over; each++) {
    const Number *number = &row->numbers[each];
    if (!is_in_each(number, true)) {
      plain = (Plain){0};
      begins = false;
      continue;
    }
    for (uint32_t place = number->start; place + 1 < number->end; place += 2) {
      uint8_t byte = byte_at(text, place);
      // The first ones may be of a character that began before them.
      begins = begins || (byte & 0xc0) != 0x80;
      if (begins) put_byte(&plain, byte);
    }
  }
  return !plain.is_over;
}

// The ways but for places in which some numbers are read in no row.
static uint8_t never_in(Text text, const Row *row, Range range) {
  uint8_t never = row->is_large ? 0 : DECIMAL;
  bool are_all = are_all_in(row, range);
  for (uint32_t each = range.first; each <= range.last; each++) {
    const Number *number = &row->numbers[each];
    if (!is_in_each(number, are_all)) continue;
    never |= number->never;
    if (each == range.last || !is_in_each(number + 1, are_all)) continue;
    uint8_t cut = number[1].is_octal_byte ? row->nul : row->nul | OCTAL;
    never |= number->control & ~cut;
  }
  if (are_all && !(row->nul & HEXADECIMAL) && !may_be_utf8(text, row, range)) never |= HEXADECIMAL;
  return row->is_in_word && !range.first ? ALL & ~PLACES : never & ~PLACES;
}

// Whether some numbers are never places in the alphabet.
static bool are_never_places(const Row *row, Range range) {
  for (uint32_t each = range.first + 1; each < range.last; each++)
    if (row->numbers[each].never & PLACES || row->numbers[each].is_parted) return true;
  return false;
}

static void look_at_row(Text text, uint32_t start, uint32_t end) {
  Row row = row_of(text, start, end);
  Range known = {0, 0};
  uint8_t never = 0;
  for (uint32_t last = ROW_OF - 1; last < row.count; last++) {
    Range eight = {last - ROW_OF + 1, last};
    Range lines = {row.numbers[eight.first].first, row.numbers[last].last};
    if (lines.first != known.first || lines.last != known.last) never = never_in(text, &row, known = lines);
    if (never != (ALL & ~PLACES) || !are_never_places(&row, eight)) tell(row.numbers[last].start, NUMBERED);
  }
  back_to(row.numbers);
}

void look_at_numbers(Text text, uint32_t start, uint32_t end) {
  uint32_t count = 0, between = 0;
  for (uint32_t place = start; place < end; place++) {
    if (kinds[text.at[place]] != OF_NUMBER) {
      between++;
      continue;
    }
    if (count && !between) continue;
    if (between > MOST_BETWEEN) {
      if (count >= ROW_OF) look_at_row(text, start, place);
      count = 0;
    }
    if (!count++) start = place;
    between = 0;
  }
  if (count >= ROW_OF) look_at_row(text, start, end);
}
