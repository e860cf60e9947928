// The windows of literals, and where they stand in a text.
//
// Rules kept here:
// - two bits tell of most places that no window begins there, whatever is known.
#include "literals.h"

enum { HASHES = 1 << 17, PAIRS = 1 << 16 };

// Windows, and the first literal of each, in a table of a power of two of places, half of them empty.
static struct {
  uint32_t window;
  const Literal *first;
} *places;
static uint32_t last_place;
// Whether there are windows with a hash, and shorter ones that begin with two bytes, a bit each.
static uint64_t hashes[HASHES / 64], shorter[PAIRS / 64];

static uint32_t hash_of_window(uint32_t window, uint32_t size) {
  uint32_t hash = (window + size) * 0x9e3779b1u;
  return hash ^ hash >> 15;
}

static void enter(const Literal *literal) {
  uint32_t hash = hash_of_window(literal->window, literal->window_size), place = hash & last_place;
  while (places[place].first) place = (place + 1) & last_place;
  places[place].window = literal->window;
  places[place].first = literal;
  set_bit(hashes, hash % HASHES);
  if (literal->window_size == 1)
    for (uint32_t next = 0; next < 256; next++) set_bit(shorter, literal->window | next << 8);
  else if (literal->window_size < WINDOW) set_bit(shorter, literal->window & 0xffff);
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
  uint32_t hash = hash_of_window(window, size);
  if (!is_set(hashes, hash % HASHES)) return NULL;
  for (uint32_t place = hash & last_place; places[place].first; place = (place + 1) & last_place)
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
    tell_of_window(text, at, bytes, WINDOW, tell);
    if (!is_set(shorter, bytes & 0xffff)) continue;
    for (uint32_t size = 1; size < WINDOW; size++)
      tell_of_window(text, at, bytes & (1u << 8 * size) - 1, size, tell);
  }
}
