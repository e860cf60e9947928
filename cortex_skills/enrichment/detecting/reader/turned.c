// Words by which a text is seen to be turned: written with other letters of the alphabet, or backwards.
//
// Rules kept here:
// - a word is known by its hash alone: where others have the same, more is told than there is, and the host looks;
// - a hash that is 0 stands for an empty place, so none is.
#include "forms.h"
#include "words.h"

// Hashes in a table of a power of two of places, half of them empty.
static uint32_t *hashes, last_place;

static uint32_t mixed(uint32_t hash) { return (hash ^ hash >> 15) | 1; }

EXPORT("learn_turned") int32_t learn_turned(uint32_t size, uint32_t count) {
  Text left = {given(), size};
  last_place = places_for(count) - 1;
  hashes = zeroed((last_place + 1) * sizeof *hashes);
  while (left.size) {
    uint32_t hash = mixed(hash_of(taken_until('\n', &left))), place = hash >> 1 & last_place;
    while (hashes[place]) place = (place + 1) & last_place;
    hashes[place] = hash;
  }
  keep();
  return 0;
}

static bool is_turned(uint32_t hash) {
  for (uint32_t place = hash >> 1 & last_place; hashes[place]; place = (place + 1) & last_place)
    if (hashes[place] == hash) return true;
  return false;
}

uint32_t turned_in(Text plain) {
  uint32_t count = 0;
  for (uint32_t place = 0, start; place < plain.size;) {
    if (!is_small(plain.at[place])) {
      place++;
      continue;
    }
    uint32_t hash = HASH_START;
    for (start = place; place < plain.size && is_small(plain.at[place]); place++)
      hash = hash_on(hash, plain.at[place]);
    if (place - start > 1) count += is_turned(mixed(hash));
  }
  return count;
}
