// What is known of words: which categories they have, what they do beside others, which phrases they begin.
#pragma once
#include "reader.h"

// A set of categories, as many as Python's numbers of them have bits.
typedef struct {
  uint64_t bits[3];
} Mask;

enum { MASK_BITS = 192 };

static inline Mask either(Mask a, Mask b) {
  return (Mask){{a.bits[0] | b.bits[0], a.bits[1] | b.bits[1], a.bits[2] | b.bits[2]}};
}
static inline Mask both(Mask a, Mask b) {
  return (Mask){{a.bits[0] & b.bits[0], a.bits[1] & b.bits[1], a.bits[2] & b.bits[2]}};
}
static inline Mask without(Mask a, Mask b) {
  return (Mask){{a.bits[0] & ~b.bits[0], a.bits[1] & ~b.bits[1], a.bits[2] & ~b.bits[2]}};
}
static inline bool any(Mask a) { return (a.bits[0] | a.bits[1] | a.bits[2]) != 0; }
static inline bool meet(Mask a, Mask b) { return any(both(a, b)); }
static inline bool equal(Mask a, Mask b) {
  return a.bits[0] == b.bits[0] && a.bits[1] == b.bits[1] && a.bits[2] == b.bits[2];
}

// Categories that the reader must know by name, in the order of `tables.py`.
typedef struct {
  Mask verbs, plain, order, late, first, end, clause, maybe, quoted, not, ignore, deeds, to_reader, spoken_to;
} Kinds;
extern const Kinds *kinds;

typedef struct {
  Mask head, need[4], unless;
  uint32_t needs, signs, back, ahead, ordering, soft;
} Rule;
extern const Rule *rules;
extern uint32_t rule_count;

// A word, a sign or a phrase, as the host tells of it; its letters stand behind it.
typedef struct {
  uint32_t size, roles;
  Mask mask;
} Known;

typedef struct {
  Text text;
  uint32_t roles, hash;
  Mask mask;
} Token;

enum { HASH_START = 2166136261u, HASH_STEP = 16777619u };
static inline uint32_t hash_on(uint32_t hash, uint8_t byte) { return (hash ^ byte) * HASH_STEP; }
uint32_t hash_of(Text text);

// Notes the categories and the roles of a word or sign, whose hash is known.
void look_up(Token *token);

// The categories that the phrases have that begin with the first of some tokens.
Mask phrases_at(const Token *tokens, uint32_t count);

// The longest word of a tree at a place, and where it ends; false when nothing begins so.
typedef enum { UNSPACED, SQUEEZED } Tree;
bool longest(Tree tree, Text text, uint32_t *place, Mask *found);

// What a word does in the place that it has, in the order of `roles.py`.
enum {
  YOU = 1 << 0,
  TO = 1 << 1,
  THAT = 1 << 2,
  YOUR = 1 << 3,
  ON = 1 << 4,
  THE = 1 << 5,
  WAY = 1 << 6,
  FROM_POINT = 1 << 7,
  COMMA = 1 << 8,
  COLON = 1 << 9,
  OPENING = 1 << 10,
  BRACKET = 1 << 11,
  CLOSING = 1 << 12,
  AFTER_NOUN = 1 << 13,
  BEFORE_MAYBE = 1 << 14,
  BEFORE_ORDER = 1 << 15,
  BEFORE_TO = 1 << 16,
  BEFORE_NOT = 1 << 17,
  ASKING = 1 << 18,
  LEADING = 1 << 19,
  JOINING = 1 << 20,
  PERMITTING = 1 << 21,
  PROTECTIVE = 1 << 22,
  ALWAYS_VERB = 1 << 23,
  LEADING_ON = 1 << 24,
  TELLING = 1 << 25,
  HELPING = 1 << 26,
  BIDDEN = 1 << 27,
  DEMANDED = 1 << 28,
  WITHIN = 1 << 29,
  OUTPUT = 1 << 30,
};
// Not of `roles.py`: that phrases begin with it.
static const uint32_t BEGINS_PHRASES = 1u << 31;
