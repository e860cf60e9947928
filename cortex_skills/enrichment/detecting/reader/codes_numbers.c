// Rows of numbers that may spell letters.
//
// Rules kept here:
// - eight in a row are a code at least, and each eight that follow each other are looked at: a way that cannot read
//   them can read no row with them;
// - only decimal numbers count that are in every such row, and have another behind them: the first and the last may be
//   part of a word, what looks like a column of a dump is left out of rows, what is not decimal may be, and what cannot
//   be read may have been cut off at an end.
#include "codes.h"

enum { MOST_BETWEEN = 4, MOST_BETWEEN_PLACES = 3 };
enum { LONGEST = 8, LAST_PLACE = 26, LAST_CODE = 0x10ffff };

// How a row may be read: as characters in base 10, 16, 8 or 2, or as places in the alphabet.
enum { DECIMAL = 1, HEXADECIMAL = 2, OCTAL = 4, BINARY = 8, PLACES = 16, ALL = 31 };

typedef struct {
  uint32_t start, end;
  uint8_t never;   // ways in which no row with it is read
  uint8_t control; // the same of rows without a NUL, which are no UTF-16
  bool is_decimal, is_octal_byte; // in base 8, what is no byte is left out
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
  uint8_t nul;   // ways in which a NUL may be among them
  bool is_large; // one may be larger than a place in the alphabet
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

static void look_at_number(Text text, Row *row, Number *number) {
  Text word = {text.at + number->start, number->end - number->start};
  number->is_decimal = word.size <= LONGEST;
  bool has_zero = false;
  for (uint32_t place = 0; place < word.size; place++) {
    number->is_decimal = number->is_decimal && is_digit(word.at[place]);
    has_zero = has_zero || word.at[place] == '0';
  }
  if (number->is_decimal) {
    look_at_decimal(word, row, number);
    return;
  }
  number->never = PLACES;
  row->is_large = true;
  row->nul |= has_zero ? ALL : 0;
}

// Whether a column begins at a place: what a line begins with ends there, or what goes on stands apart.
static bool is_end_of_column(Text text, uint32_t place, uint32_t end) {
  if (place < end && text.at[place] == ':') return true;
  return place + 1 < end && text.at[place] == ' ' && text.at[place + 1] == ' ';
}

// The numbers of a part of a text that has nothing else but what stands between them.
static Row row_of(Text text, uint32_t start, uint32_t end) {
  Row row = {.numbers = mark()};
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
    *number = (Number){.start = place, .is_parted = is_parted};
    while (place < end && kinds[text.at[place]] == OF_NUMBER) place++;
    number->end = place;
    number->is_left_out = is_apart || (is_first && is_end_of_column(text, place, end));
    look_at_number(text, &row, number);
    row.count++;
    is_first = is_parted = false;
    blanks = between = 0;
  }
  // In one line, nothing is left out.
  for (uint32_t each = 0; !has_lines && each < row.count; each++) row.numbers[each].is_left_out = false;
  return row;
}

static bool is_in_each(const Number *number) { return number->is_decimal && !number->is_left_out; }

// The ways in which eight numbers are read in no row, the last of which is at a place.
static uint8_t never_in(const Row *row, uint32_t last) {
  uint8_t never = row->is_large ? 0 : DECIMAL;
  for (uint32_t each = last - ROW_OF + 2; each < last; each++) {
    const Number *number = &row->numbers[each];
    never |= (number->never & PLACES) | (number->is_parted ? PLACES : 0);
    if (!is_in_each(number) || !is_in_each(number + 1)) continue;
    uint8_t cut = number[1].is_octal_byte ? row->nul : row->nul | OCTAL;
    never |= number->never | (number->control & ~cut);
  }
  return never;
}

static void look_at_row(Text text, uint32_t start, uint32_t end) {
  Row row = row_of(text, start, end);
  for (uint32_t last = ROW_OF - 1; last < row.count; last++)
    if (never_in(&row, last) != ALL) tell(row.numbers[last].start, NUMBERED);
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
