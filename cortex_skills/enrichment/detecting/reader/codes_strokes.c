// Rows of dots and strokes.
//
// Rules kept here:
// - eight letters in a row are a code, whatever they say.
#include "codes.h"

enum { MOST_BETWEEN = 3, MOST_STROKES = 6 };

// How many bytes a dot or stroke has that stands at a place; 0 when there is none.
static uint32_t stroke_at(Text text, uint32_t place) {
  uint8_t byte = text.at[place];
  if (byte == '.' || byte == '-') return 1;
  if (byte < 0x80) return 0;
  uint32_t behind = place, code = next_char(text, &behind);
  bool is_stroke = code == 0xb7 || code == 0x2022 || code == 0x2013 || code == 0x2014 || code == 0x2212;
  return is_stroke ? behind - place : 0;
}

static bool is_between_strokes(uint8_t byte) { return byte == ' ' || byte == '/' || byte == '|' || byte == '\n'; }

// Of what is not of ASCII, the bytes of which strokes are made.
bool may_be_of_strokes(uint8_t byte) {
  bool is_part = byte == 0xc2 || byte == 0xb7 || byte == 0xe2 || byte == 0x80 || byte == 0x88 || byte == 0xa2;
  return byte == '.' || byte == '-' || is_between_strokes(byte) || is_part || (byte >= 0x92 && byte <= 0x94);
}

void look_at_strokes(Text text, uint32_t start, uint32_t end) {
  // How many letters of strokes stand in a row, and how many strokes the last has, and signs behind it.
  uint32_t count = 0, strokes = 0, between = 0;
  for (uint32_t place = start, size; place < end; place += size) {
    size = stroke_at(text, place);
    if (size) {
      if (!strokes && between > MOST_BETWEEN) count = 0;
      if (!strokes && ++count >= ROW_OF) tell(place, STROKED);
      // What has too many may only be the end of one, or the beginning.
      if (++strokes > MOST_STROKES) count = 1;
      between = 0;
      continue;
    }
    size = 1;
    strokes = 0;
    between++;
    if (!is_between_strokes(text.at[place])) count = 0;
  }
}
