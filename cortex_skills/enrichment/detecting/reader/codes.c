// Where in a document a code may stand: what is asked of all its lines at once.
//
// Rules kept here:
// - what no line shows of it, no way of `decoding.py` finds in any of its lines that follow each other; a code over
//   lines is told of in one of them;
// - a code begins with a sign, or is a run of bytes of its kind that is so long as few words are: only those are looked
//   at closer, and found without a branch for each byte;
// - time and room are linear in the size of the text.
#include "codes.h"

// How long a run must be for a code of its kind: eight numbers or strokes with one sign between each are so long.
enum { LONG_WORD = 12, LONG_ROW = 15, LONG_SIGNED = 20 };

static uint8_t kinds[256];
static uint16_t *told;
static bool is_any;

void tell(uint32_t place, uint16_t what) {
  told[place] |= what;
  is_any = true;
}

static bool is_in(const char *signs, uint8_t byte) {
  for (; *signs; signs++)
    if ((uint8_t)*signs == byte) return true;
  return false;
}

static uint8_t kind_of(uint8_t byte) {
  bool is_visible = byte > ' ' && byte < 0x7f;
  uint8_t kind = is_visible ? VISIBLE : BEFORE_ROT47;
  if (of_base64(byte) != NONE) kind |= WORD;
  if (is_in("\\%=&(+", byte)) kind |= SIGN_OF_CODE;
  if (is_of_number(byte) || is_between_numbers(byte)) kind |= ROW;
  if (may_be_of_strokes(byte)) kind |= STROKES;
  if (ends_group(byte)) kind |= BETWEEN_GROUPS;
  if (is_in("'\",", byte)) kind |= BEFORE_ROT47;
  return kind;
}

// The smallest words of rot47, with a blank between them.
EXPORT("learn_rot47") int32_t learn_rot47(uint32_t size) {
  for (uint32_t byte = 0; byte < sizeof kinds; byte++) kinds[byte] = kind_of(byte);
  Text left = {given(), size};
  while (left.size) {
    Text word = taken_until(' ', &left);
    if (word.size) kinds[word.at[0]] |= FIRST_OF_ROT47;
    know_rot47(word);
  }
  keep();
  return 0;
}

// What is not of ASCII may part groups, too.
static void add_blanks(Text text, uint8_t *kind) {
  for (uint32_t place = 0; place < text.size;) {
    uint32_t start = place;
    bool is_blank = text.at[place] >= 0x80 && class_of(next_char(text, &place)) & SPACE;
    if (place == start) place++;
    for (; is_blank && start < place && start < text.size; start++) kind[start] |= BETWEEN_GROUPS;
  }
}

// What begins at each byte: of a run, at all of its bytes but the last ones.
static uint8_t *begun(const uint8_t *kind, uint32_t size) {
  uint32_t room = size + BEHIND;
  uint8_t *two = zeroed(room), *four = zeroed(room), *eight = zeroed(room), *found = zeroed(room);
  for (uint32_t place = 0; place < size; place++) two[place] = kind[place] & kind[place + 1];
  for (uint32_t place = 0; place < size; place++) four[place] = two[place] & two[place + 2];
  for (uint32_t place = 0; place < size; place++) eight[place] = four[place] & four[place + 4];
  for (uint32_t place = 0; place < size; place++) {
    uint8_t word = eight[place] & four[place + LONG_WORD - 4], row = eight[place] & eight[place + LONG_ROW - 8];
    uint8_t is_long = (word & WORD) | (row & (ROW | STROKES)) | (word & eight[place + LONG_SIGNED - 8] & VISIBLE);
    found[place] = is_long | (kind[place] & SIGN_OF_CODE);
  }
  for (uint32_t place = 1; place < size; place++)
    found[place] |= kind[place] & (kind[place - 1] & BEFORE_ROT47 ? FIRST_OF_ROT47 : 0);
  found[0] |= size ? kind[0] & FIRST_OF_ROT47 : 0;
  return found;
}

// Where the run of a kind ends that goes on at a place.
static uint32_t end_of_run(const uint8_t *kind, uint32_t size, uint32_t place, uint8_t of) {
  while (place < size && kind[place] & of) place++;
  return place;
}

static void look_at(Text text, const uint8_t *kind, uint32_t place, uint8_t begins, Words *words) {
  if (begins & SIGN_OF_CODE) look_at_sign(text, place, &words->end_of_utf7);
  if (begins & WORD) look_at_word(text, place, end_of_run(kind, text.size, place, WORD), words);
  if (begins & VISIBLE) look_at_signed_word(text, place, end_of_run(kind, text.size, place, VISIBLE));
  if (begins & ROW) look_at_numbers(text, place, end_of_run(kind, text.size, place, ROW));
  if (begins & STROKES) look_at_strokes(text, place, end_of_run(kind, text.size, place, STROKES));
  if (begins & FIRST_OF_ROT47) look_at_rot47(text, place);
}

static void look_at_all(Text text, const uint8_t *kind) {
  const uint8_t *found = begun(kind, text.size);
  uint8_t before = 0;
  Words words = {0};
  for (uint32_t place = 0; place < text.size; place++) {
    uint64_t next;
    __builtin_memcpy(&next, found + place, sizeof next);
    if (!next) {
      place += sizeof next - 1;
      before = 0;
      continue;
    }
    // Of a run, the first place is where it begins.
    uint8_t begins = found[place] & (~before | SIGN_OF_CODE);
    if (begins) look_at(text, kind, place, begins, &words);
    before = found[place];
  }
}

// The lines of the places that were told of.
static LineInCode *lines_told(Text text, uint32_t *count) {
  LineInCode *lines = mark(), *line = NULL;
  uint32_t number = 0, last = 0;
  for (uint32_t place = 0; place < text.size; place++) {
    uint64_t next;
    __builtin_memcpy(&next, told + place, sizeof next);
    if (!next) {
      place += sizeof next / sizeof *told - 1;
      continue;
    }
    if (!told[place]) continue;
    number += count_of('\n', (Text){text.at + last, place - last});
    last = place;
    if (!line || line->number != number) {
      *(line = take(sizeof *line)) = (LineInCode){number, 0, 0, 0};
      ++*count;
    }
    line->what |= told[place] & (PLUS - 1);
    if (told[place] & PLUS) line->what += PLUS;
    if (told[place] & FOREIGN) line->foreign++;
  }
  return lines;
}

const LineInCode *lines_in_code(Text text, uint32_t *count) {
  uint32_t size = text.size;
  told = zeroed((size + BEHIND) * sizeof *told);
  is_any = false;
  uint8_t *kind = zeroed(size + BEHIND);
  for (uint32_t place = 0; place < size; place++) kind[place] = kinds[text.at[place]];
  kind[size] = BETWEEN_GROUPS;
  if (!is_ascii(text)) add_blanks(text, kind);
  look_at_all(text, kind);
  look_for_groups(text, kind);
  *count = 0;
  return is_any ? lines_told(text, count) : NULL;
}

// So many pluses make an address of a text; so many characters may say something in a text of ASCII.
enum { FEWEST_PLUSES = 3, FEWEST_FOREIGN = 4 };

bool are_code(uint32_t pluses, uint32_t foreign, Text raw) {
  return pluses >= FEWEST_PLUSES || foreign >= FEWEST_FOREIGN || (foreign && !is_ascii(raw));
}

// Where it stands how many lines may hold something, and where these are told of; 0 when none may.
EXPORT("codes") int32_t codes(uint32_t size) {
  struct {
    uint32_t count;
    const LineInCode *lines;
  } *found = take(sizeof *found);
  found->lines = lines_in_code((Text){given(), size}, &found->count);
  return answered(found->count ? (int32_t)found : 0);
}
