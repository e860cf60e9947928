// Many bytes of a text at once, and where in it those of a kind stand: a bit each.
//
// Rules kept here:
// - nothing is read behind the end of a text: who looks at its bytes has a copy with room on both sides.
#pragma once
#include "reader.h"

// A bit for each byte of a block.
typedef uint64_t Bits;
enum { BLOCK = 64, NO_PLACE = UINT32_MAX };

// The bytes of a text in whole blocks; what is no text in them is 0, as is what stands before the first.
typedef struct {
  const uint8_t *at;
  uint32_t count;
} Blocks;

static inline Blocks blocks_of(Text text) {
  uint32_t count = text.size / BLOCK + 1;
  uint8_t *room = take(BLOCK + count * BLOCK), *at = room + BLOCK;
  __builtin_memset(room, 0, BLOCK);
  __builtin_memset(at + (count - 1) * BLOCK, 0, BLOCK);
  __builtin_memcpy(at, text.at, text.size);
  return (Blocks){at, count};
}

// The next place with a bit, at a place or behind it.
static inline uint32_t next_place(const Bits *blocks, uint32_t count, uint32_t place) {
  uint32_t block = place / BLOCK;
  if (block >= count) return NO_PLACE;
  Bits left = blocks[block] & ~(Bits)0 << place % BLOCK;
  while (!left)
    if (++block == count) return NO_PLACE;
    else left = blocks[block];
  return block * BLOCK + __builtin_ctzll(left);
}
