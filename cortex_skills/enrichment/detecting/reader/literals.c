// The windows of literals, and where they stand in a text.
//
// Rules kept here:
// - two looks tell of most places that no window begins there, whatever is known.
#include "literals.h"

enum { HASH_BITS = 17, PAIRS = 1 << 16 };

// Windows, and the first literal of each, in a table of a power of two of places, half of them empty.
static struct {
  uint32_t window;
  const Literal *first;
} *places;
static uint32_t last_place;
// Whether a whole window has a hash, a bit each; the sizes of shorter ones that begin with two bytes, a bit each.
static uint64_t hashes[(1 << HASH_BITS) / 64];
static uint8_t shorter[PAIRS];

static uint32_t hash_of_window(uint32_t window) { return window * 0x9e3779b1u >> (32 - HASH_BITS); }

static uint32_t place_of_window(uint32_t window, uint32_t size) { return (hash_of_window(window) + size) & last_place; }

static uint8_t bit_of_size(uint32_t size) { return 1 << size; }

static void enter(const Literal *literal) {
  uint32_t window = literal->window, size = literal->window_size, place = place_of_window(window, size);
  while (places[place].first) place = (place + 1) & last_place;
  places[place].window = window;
  places[place].first = literal;
  if (size == WINDOW) set_bit(hashes, hash_of_window(window));
  else if (size > 1) shorter[window & 0xffff] |= bit_of_size(size);
  else
    for (uint32_t next = 0; next < 256; next++) shorter[window | next << 8] |= bit_of_size(size);
}

const void *learn_literals(const Literal *literals, uint32_t count, uint32_t windows) {
  last_place = places_for(windows) - 1;
  places = zeroed((last_place + 1) * sizeof *places);
  for (uint32_t others = 0; count; count--, literals = behind(literals)) {
    if (!others) enter(literals);
    others = literals->followers;
  }
  return literals;
}

static const Literal *first_with(uint32_t window, uint32_t size) {
  for (uint32_t place = place_of_window(window, size); places[place].first; place = (place + 1) & last_place)
    if (places[place].window == window && places[place].first->window_size == size) return places[place].first;
  return NULL;
}

static void tell_of_window(Text text, uint32_t at, uint32_t window, uint32_t size, Tell *tell) {
  const Literal *first = first_with(window, size);
  if (first && at + size <= text.size) tell(first, at);
}

void tell_of_windows(Text text, uint32_t from, uint32_t to, Tell *tell) {
  for (uint32_t at = from; at < to; at++) {
    uint32_t bytes;
    __builtin_memcpy(&bytes, text.at + at, sizeof bytes);
    if (is_set(hashes, hash_of_window(bytes))) tell_of_window(text, at, bytes, WINDOW, tell);
    uint32_t sizes = shorter[bytes & 0xffff];
    for (uint32_t size = 1; sizes >> size; size++)
      if (sizes & bit_of_size(size)) tell_of_window(text, at, bytes & (1u << 8 * size) - 1, size, tell);
  }
}
