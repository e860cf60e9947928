// Automata of patterns, which accept all that their pattern matches, and more.
#pragma once
#include "reader.h"

typedef struct Automaton Automaton;

// Takes classes of bytes, which lie so until the reader ends, for automata of so many states at most; behind them.
const void *learn_automata(const void *told, uint32_t classes, uint32_t most_states);

// Makes ready for texts of so many bytes together.
void begin_automata(uint32_t size);

// Whether an automaton accepts something in a text that begins between two places; PERHAPS, when so much was read that
// no more is.
typedef enum { NO, PERHAPS, YES } Answer;
Answer accepts(const Automaton *automaton, Text text, uint32_t first, uint32_t last);
