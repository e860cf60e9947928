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

bool is_foreign(uint32_t code) {
  const Character *character = &characters[code < CODES ? code : 0];
  if (!character->folded || !character->folded->size || character->class & BY_NEIGHBOURS) return false;
  Text becomes = {bytes_of(character->folded), character->folded->size};
  for (uint32_t place = 0; place < becomes.size;) {
    uint32_t part = next_char(becomes, &place);
    if (part < 0x80 || characters[part < CODES ? part : 0].look) return false;
  }
  return true;
}

bool is_never_printed(uint32_t code) {
  if (code >= 0xe000 && code <= 0xf8ff) return true;
  uint16_t class = characters[code < CODES ? code : 0].class;
  return class & TOLD && !(class & PRINTABLE);
}

bool is_ascii(Text text) {
  uint32_t others = 0;
  for (uint32_t place = 0; place < text.size; place++) others |= text.at[place] & 0x80;
  return !others;
}

// Writes what the characters of ASCII become that stand at a place, which becomes that behind them; behind what is written.
static uint8_t *put_ascii(uint8_t *to, Text text, uint32_t *place) {
  for (; *place < text.size && text.at[*place] < 0x80; ++*place) {
    uint8_t byte = folded_ascii[text.at[*place]];
    *to = byte;
    to += byte != 0;
  }
  return to;
}

bool fold(Text raw, Text *folded) {
  // No character of ASCII becomes longer; for what does, more is taken when it comes.
  uint8_t *start = take(raw.size), *to = start, *end = start + raw.size;
  bool by_neighbours = false;
  for (uint32_t place = 0; to = put_ascii(to, raw, &place), place < raw.size;) {
    uint32_t code = next_char(raw, &place), left = raw.size - place;
    const Folded *becomes = characters[code < CODES ? code : 0].folded;
    by_neighbours |= (class_of(code) & BY_NEIGHBOURS) != 0;
    if (!becomes) continue;
    if (to + becomes->size + left > end) end = (uint8_t *)take(becomes->size + raw.size) + becomes->size + raw.size;
    __builtin_memcpy(to, bytes_of(becomes), becomes->size);
    to += becomes->size;
  }
  *folded = (Text){start, to - start};
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
