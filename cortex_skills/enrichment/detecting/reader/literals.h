// Literals of patterns, and where in a text the bytes stand by which they are looked for.
#pragma once
#include "reader.h"

// The bytes by which a literal is looked for: four of it, or all when it has fewer.
enum { WINDOW = 4 };

// A literal, as the host tells of it: its window, how many others with the same follow it, where that begins in it, and
// which set it is of; its letters stand behind it.
typedef struct {
  uint32_t window, window_size, followers, size, offset, set;
} Literal;

static inline Text letters_of(const Literal *literal) { return (Text){(const uint8_t *)(literal + 1), literal->size}; }

static inline const Literal *behind(const Literal *literal) {
  return (const Literal *)(letters_of(literal).at + (literal->size + 3) / 4 * 4);
}

// Takes so many literals with so many windows, which lie so until the reader ends; behind them.
const void *learn_literals(const Literal *literals, uint32_t count, uint32_t windows);

// Tells of each window that begins in a text from one place up to another, and where: the first literal with it. There
// is room for one behind the text.
typedef void Tell(const Literal *first, uint32_t at);
void tell_of_windows(Text text, uint32_t from, uint32_t to, Tell *tell);
