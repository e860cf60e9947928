// Many bytes of a text at once, and where in it those of a kind stand: a bit each.
//
// Rules kept here:
// - nothing is read behind the end of a text: who looks at its bytes has a copy with room on both sides.
#pragma once
#include <wasm_simd128.h>

#include "reader.h"

typedef uint8_t Bytes __attribute__((vector_size(16)));

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

// The bytes at a place, which need not be aligned.
static inline Bytes bytes_at(const uint8_t *at) {
  Bytes bytes;
  __builtin_memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

// A bit for each byte of which something is true.
static inline Bits bits_of(Bytes are_so) { return wasm_i8x16_bitmask((v128_t)are_so); }

// Where a byte first stands in a text; its size when that is nowhere.
static inline uint32_t place_of(uint8_t byte, Text text) {
  const uint8_t *at = text.at;
  uint32_t place = 0, size = text.size;
  for (Bits found; place + sizeof(Bytes) <= size; place += sizeof(Bytes))
    if ((found = bits_of((Bytes)(bytes_at(at + place) == byte)))) return place + __builtin_ctzll(found);
  while (place < size && at[place] != byte) place++;
  return place;
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
