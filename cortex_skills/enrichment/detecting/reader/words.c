// What is known of words, as the host tells it once: a look-up takes a bounded time, however many there are.
//
// Rules kept here:
// - what the host gives (`learn`) is kept as it is, and found by its hash; nothing of it is copied;
// - a stem is a word that others begin with; a phrase is found by its first two words;
// - trees of letters step from byte to byte: what begins between two characters of UTF-8 is in none.
#include "words.h"

enum { NONE = 0, LONGEST_STEM = 63 };

typedef struct {
  uint32_t words, stems, phrases, unspaced, squeezed, rules, unused[2];
  Kinds kinds;
} Told;

// Hash → what is known, in a table of a power of two of places, half of them empty; what collides goes to the next.
typedef struct {
  const Known **places;
  uint32_t last;
} Table;

typedef struct {
  uint32_t from, byte, to; // a node is never 0; an empty edge is from 0
} Edge;

// A tree of letters: edges by node and byte, and what ends at each node.
typedef struct {
  Edge *edges;
  const Known **ends;
  uint32_t last, nodes;
} Letters;

const Kinds *kinds;
const Rule *rules;
uint32_t rule_count;
static Table words, stems, phrases;
static Letters trees[2];
// By the first byte of a word: the sizes of the stems that begin so, a bit each.
static uint64_t stem_sizes[256];

static Text text_of(const Known *known) { return (Text){(const uint8_t *)(known + 1), known->size}; }

static const Known *behind(const Known *known) {
  return (const Known *)((const uint8_t *)(known + 1) + (known->size + 7) / 8 * 8);
}

uint32_t hash_of(Text text) {
  uint32_t hash = HASH_START;
  for (uint32_t place = 0; place < text.size; place++) hash = (hash ^ text.at[place]) * HASH_STEP;
  return hash;
}

static uint32_t spread(uint32_t hash) { return hash ^ hash >> 15; }

static Table table_for(uint32_t count) {
  uint32_t size = places_for(count);
  return (Table){zeroed(size * sizeof(Known *)), size - 1};
}

static void enter(Table *table, uint32_t hash, const Known *known) {
  uint32_t place = spread(hash) & table->last;
  while (table->places[place]) place = (place + 1) & table->last;
  table->places[place] = known;
}

static const Known *found_in(const Table *table, uint32_t hash, Text text) {
  for (uint32_t place = spread(hash) & table->last; table->places[place]; place = (place + 1) & table->last)
    if (same(text_of(table->places[place]), text)) return table->places[place];
  return NULL;
}

// The first two words of a phrase, which stand apart by blanks, and what is left of it.
static Text pair_of(const Known *phrase, Text pair[2]) {
  Text left = text_of(phrase);
  pair[0] = taken_until(' ', &left);
  pair[1] = taken_until(' ', &left);
  return left;
}

static uint32_t hash_of_pair(uint32_t first, uint32_t second) { return first * 31 + second; }

static const Known *learn_words(const Known *known, uint32_t count, Table *table) {
  *table = table_for(count);
  for (; count; count--, known = behind(known)) enter(table, hash_of(text_of(known)), known);
  return known;
}

static const Known *learn_stems(const Known *known, uint32_t count) {
  const Known *stem = known;
  for (uint32_t left = count; left; left--, stem = behind(stem))
    if (stem->size && stem->size <= LONGEST_STEM) stem_sizes[text_of(stem).at[0]] |= 1ull << stem->size;
  return learn_words(known, count, &stems);
}

// Phrases with the same first two words stand together; how many there are stands in the roles of the first.
static const Known *learn_phrases(const Known *known, uint32_t count) {
  phrases = table_for(count);
  while (count) {
    Text pair[2];
    pair_of(known, pair);
    enter(&phrases, hash_of_pair(hash_of(pair[0]), hash_of(pair[1])), known);
    for (uint32_t alike = known->roles; alike && count; alike--, count--) known = behind(known);
  }
  return known;
}

static Edge *edge(const Letters *tree, uint32_t node, uint8_t byte) {
  uint32_t place = spread((node << 8 | byte) * HASH_STEP) & tree->last;
  while (tree->edges[place].from && (tree->edges[place].from != node || tree->edges[place].byte != byte))
    place = (place + 1) & tree->last;
  return &tree->edges[place];
}

static const Known *learn_letters(const Known *known, uint32_t count, Letters *tree) {
  uint32_t bytes = 0;
  const Known *word = known;
  for (uint32_t left = count; left; left--, word = behind(word)) bytes += word->size;
  uint32_t size = places_for(bytes);
  *tree = (Letters){zeroed(size * sizeof(Edge)), zeroed((bytes + 2) * sizeof(Known *)), size - 1, 1};
  for (; count; count--, known = behind(known)) {
    uint32_t node = 1;
    Text text = text_of(known);
    for (uint32_t place = 0; place < text.size; place++) {
      Edge *next = edge(tree, node, text.at[place]);
      if (!next->from) *next = (Edge){node, text.at[place], ++tree->nodes};
      node = next->to;
    }
    tree->ends[node] = known;
  }
  return known;
}

// All that the host knows; what stands in room for it is kept.
EXPORT("learn") int32_t learn(void) {
  const Told *told = given();
  kinds = &told->kinds;
  rules = (const Rule *)(told + 1);
  rule_count = told->rules;
  const Known *known = (const Known *)(rules + rule_count);
  known = learn_words(known, told->words, &words);
  known = learn_stems(known, told->stems);
  known = learn_phrases(known, told->phrases);
  known = learn_letters(known, told->unspaced, &trees[UNSPACED]);
  learn_letters(known, told->squeezed, &trees[SQUEEZED]);
  sort_rules();
  keep();
  return 0;
}

static Mask stems_of(const Token *token) {
  Mask found = {{0}};
  uint64_t sizes = token->text.size ? stem_sizes[token->text.at[0]] : 0;
  uint32_t hash = HASH_START, size = 0;
  // Each size that a stem may have, up to that of the word.
  while (sizes >> size >> 1 && size < token->text.size) {
    hash = (hash ^ token->text.at[size++]) * HASH_STEP;
    const Known *stem = sizes >> size & 1 ? found_in(&stems, hash, (Text){token->text.at, size}) : NULL;
    if (stem) found = either(found, stem->mask);
  }
  return found;
}

static void look_up_anew(Token *token) {
  const Known *word = found_in(&words, token->hash, token->text);
  token->mask = stems_of(token);
  token->roles = 0;
  if (!word) return;
  token->mask = either(token->mask, word->mask);
  token->roles = word->roles;
}

// What was looked up last, by the hash: most words of a text stand in it more than once, and in other texts.
typedef struct {
  uint8_t letters[24];
  uint32_t size, roles;
  Mask mask;
} Remembered;
enum { REMEMBERED = 1 << 12 };
static Remembered remembered[REMEMBERED];

void look_up(Token *token) {
  Text word = token->text;
  Remembered *last = &remembered[spread(token->hash) % REMEMBERED];
  if (!same((Text){last->letters, last->size}, word)) {
    look_up_anew(token);
    if (word.size > sizeof last->letters) return;
    *last = (Remembered){.size = word.size, .roles = token->roles, .mask = token->mask};
    __builtin_memcpy(last->letters, word.at, word.size);
    return;
  }
  token->mask = last->mask;
  token->roles = last->roles;
}

// Whether some words stand at the first of some tokens, one after the other.
static bool stand_at(const Token *tokens, uint32_t count, Text words) {
  for (; words.size; tokens++, count--)
    if (!count || !same(taken_until(' ', &words), tokens->text)) return false;
  return true;
}

static const Known *phrases_with(Text first, Text second, uint32_t hash) {
  uint32_t place = spread(hash) & phrases.last;
  for (; phrases.places[place]; place = (place + 1) & phrases.last) {
    Text pair[2];
    pair_of(phrases.places[place], pair);
    if (same(pair[0], first) && same(pair[1], second)) break;
  }
  return phrases.places[place];
}

Mask phrases_at(const Token *tokens, uint32_t count) {
  Mask found = {{0}};
  if (count < 2) return found;
  uint32_t hash = hash_of_pair(tokens[0].hash, tokens[1].hash);
  const Known *phrase = phrases_with(tokens[0].text, tokens[1].text, hash);
  for (uint32_t alike = phrase ? phrase->roles : 0; alike; alike--, phrase = behind(phrase)) {
    Text pair[2];
    if (stand_at(tokens + 2, count - 2, pair_of(phrase, pair))) found = either(found, phrase->mask);
  }
  return found;
}

bool longest(Tree which, Text text, uint32_t *place, Mask *found) {
  const Letters *tree = &trees[which];
  uint32_t node = edge(tree, 1, text.at[*place])->to, at = *place + 1;
  // A character that begins no word of the tree is met most often.
  for (; node && at < text.size && (text.at[at] & 0xc0) == 0x80; at++) node = edge(tree, node, text.at[at])->to;
  bool begun = node != NONE;
  *found = (Mask){{0}};
  while (node) {
    if (tree->ends[node]) {
      *found = tree->ends[node]->mask;
      *place = at;
    }
    node = at < text.size ? edge(tree, node, text.at[at++])->to : NONE;
  }
  return begun;
}
