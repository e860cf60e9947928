// Whether it may be said in capitals who speaks.
//
// Rules kept here:
// - what any turn of a chat has that is named so: a name, perhaps a word in capitals, perhaps a blank, and a colon.
#include "disguises.h"

static Text names;

// The names of speakers, with a blank between them.
EXPORT("learn_speakers") int32_t learn_speakers(uint32_t size) {
  names = (Text){given(), size};
  keep();
  return 0;
}

static uint32_t before_capitals(Text text, uint32_t place) {
  while (place && (uint8_t)(text.at[place - 1] - 'A') < 26) place--;
  return place;
}

static bool ends_with_name(Text text) {
  Text left = names;
  while (left.size) {
    Text name = taken_until(' ', &left);
    if (name.size <= text.size && same(name, (Text){text.at + text.size - name.size, name.size})) return true;
  }
  return false;
}

bool may_name_speaker(Text raw) {
  for (Text left = raw; left.size;) {
    Text before = taken_until(':', &left);
    if (before.at + before.size == raw.at + raw.size) break;
    if (before.size && before.at[before.size - 1] == ' ') before.size--;
    if (ends_with_name(before)) return true;
    uint32_t place = before_capitals(before, before.size);
    if (place && place < before.size && before.at[place - 1] == ' ' && ends_with_name((Text){before.at, place - 1}))
      return true;
  }
  return false;
}
