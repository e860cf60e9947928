// The room that the reader works in: what it knows, what the host gives it, and what it takes for a while.
//
// Rules kept here:
// - memory is taken from below, one piece after the other; a call of the host begins above what is kept;
// - who asks for more than there is ends: the host makes a new guest then; the memory never grows (`guest/pure.py`).
#include "reader.h"

enum { ALIGNED = 8, PAGE = 1 << 16 };
// So much may be given at once that no size that is worked out from it is too large for 32 bits.
static const uint32_t MOST_GIVEN = 1 << 24;

extern uint8_t __heap_base;
static uint8_t *kept = &__heap_base, *next = &__heap_base;

void *take(uint32_t size) {
  uint8_t *found = next;
  uint64_t wanted = (uint64_t)(uintptr_t)found + ((uint64_t)size + ALIGNED - 1) / ALIGNED * ALIGNED;
  if (wanted > (uint64_t)__builtin_wasm_memory_size(0) * PAGE) __builtin_trap();
  next = (uint8_t *)(uintptr_t)wanted;
  return found;
}

const void *given(void) { return kept; }

void *mark(void) { return next; }

void back_to(void *mark) { next = mark; }

void keep(void) { kept = next; }

void *zeroed(uint32_t size) { return __builtin_memset(take(size), 0, size); }

uint32_t places_for(uint32_t count) {
  uint32_t places = 16;
  while (places < count * 2) places *= 2;
  return places;
}

uint8_t *copied(Text text) {
  uint8_t *copy = take(text.size);
  __builtin_memcpy(copy, text.at, text.size);
  return copy;
}

Text in_one_line(Text text) {
  uint8_t *copy = take(text.size);
  for (uint32_t place = 0; place < text.size; place++) copy[place] = text.at[place] == '\n' ? ' ' : text.at[place];
  return (Text){copy, text.size};
}

// Where the host writes what the next call is about.
EXPORT("room") uint8_t *room(uint32_t size) {
  if (size > MOST_GIVEN) __builtin_trap();
  next = kept;
  return take(size);
}
