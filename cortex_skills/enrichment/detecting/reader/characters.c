// What characters are, and a text as it is read aloud: letters without style, case or marks.
//
// Rules kept here:
// - what a character is and becomes is told by the host when it is first met, and kept;
// - each is folded by itself; where neighbours may become one letter, the host folds the whole.
#include "reader.h"

// Bytes of a character.
enum { LONGEST = 4 };

// What a character becomes: so many bytes behind it.
typedef struct Folded {
  uint32_t size;
} Folded;

// As the host tells of a character; what it becomes stands behind it, up to a multiple of 4 bytes.
typedef struct {
  uint32_t code, class, look;
  Folded folded;
} Told;

Character characters[CODES];
bool met_unknown;
// The same of ASCII, where each becomes one byte, or none, which is 0.
static uint8_t folded_ascii[128];

static const uint8_t *bytes_of(const Folded *folded) { return (const uint8_t *)(folded + 1); }

EXPORT("classify") int32_t classify(uint32_t count) {
  const Told *told = given();
  for (; count; count--) {
    const Folded *folded = &told->folded;
    uint32_t code = told->code < CODES ? told->code : 0;
    characters[code] = (Character){told->class | TOLD, told->look, folded};
    if (code < sizeof folded_ascii) folded_ascii[code] = folded->size ? *bytes_of(folded) : 0;
    told = (const Told *)(bytes_of(folded) + (folded->size + 3) / 4 * 4);
  }
  keep();
  return 0;
}

// Tells of characters that become themselves, look like no letter of ASCII, and are the same: a text of them.
EXPORT("classify_alike") int32_t classify_alike(uint32_t size, uint32_t class) {
  Text text = {given(), size};
  for (uint32_t place = 0; place < text.size;) {
    const uint8_t *bytes = text.at + place;
    uint32_t code = next_char(text, &place);
    Folded *folded = take(sizeof *folded + LONGEST);
    folded->size = text.at + place - bytes;
    __builtin_memcpy(folded + 1, bytes, folded->size);
    if (code < CODES) characters[code] = (Character){class | TOLD, 0, folded};
  }
  keep();
  return 0;
}

static uint32_t ascii_size(Text text) {
  uint32_t size = 0;
  while (size < text.size && text.at[size] < 0x80) size++;
  return size;
}

bool is_ascii(Text text) {
  uint32_t others = 0;
  for (uint32_t place = 0; place < text.size; place++) others |= text.at[place] & 0x80;
  return !others;
}

static uint8_t *put_ascii(uint8_t *to, Text text) {
  for (uint32_t place = 0; place < text.size; place++) {
    uint8_t byte = folded_ascii[text.at[place]];
    *to = byte;
    to += byte != 0;
  }
  return to;
}

// Writes what a text becomes, or counts the bytes when there is nowhere to write them.
static uint32_t put_folded(uint8_t *to, Text text, bool *by_neighbours) {
  uint32_t size = 0;
  for (uint32_t place = 0; place < text.size;) {
    Text plain = {text.at + place, 0};
    plain.size = ascii_size((Text){plain.at, text.size - place});
    size += to ? put_ascii(to + size, plain) - (to + size) : plain.size;
    place += plain.size;
    if (place == text.size) break;
    uint32_t code = next_char(text, &place);
    const Folded *folded = characters[code < CODES ? code : 0].folded;
    *by_neighbours |= (class_of(code) & BY_NEIGHBOURS) != 0;
    if (!folded) continue;
    if (to) __builtin_memcpy(to + size, bytes_of(folded), folded->size);
    size += folded->size;
  }
  return size;
}

bool fold(Text raw, Text *folded) {
  bool by_neighbours = false;
  if (is_ascii(raw)) {
    uint8_t *to = take(raw.size);
    *folded = (Text){to, put_ascii(to, raw) - to};
    return true;
  }
  uint8_t *to = take(put_folded(NULL, raw, &by_neighbours));
  *folded = (Text){to, put_folded(to, raw, &by_neighbours)};
  return !by_neighbours;
}

Text look_alike(Text folded) {
  uint8_t *to = NULL;
  uint32_t size = 0;
  for (uint32_t place = 0; place < folded.size;) {
    uint32_t start = place, code = folded.at[place];
    if (code < 0x80) place++;
    else code = next_char(folded, &place);
    uint8_t look = code < 0x80 ? 0 : characters[code < CODES ? code : 0].look;
    if (look && !to) {
      to = copied(folded);
      size = start;
    }
    if (!to) continue;
    if (look) to[size++] = look;
    else
      while (start < place) to[size++] = folded.at[start++];
  }
  return to ? (Text){to, size} : folded;
}
