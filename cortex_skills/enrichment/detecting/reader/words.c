// What is known of words, as the host tells it once: a look-up takes a bounded time, however many there are.
//
// Rules kept here:
// - what the host gives (`learn`) is kept as it is, and found by its hash, which stands beside where it lies: a look-up
//   that finds nothing reads nothing else;
// - a stem is a word that others begin with; a word that is known by itself is told with what its stems are;
// - a phrase is found by its first two words;
// - trees of letters step from byte to byte: what begins between two characters of UTF-8 is in none.
#include "words.h"

enum { NONE = 0, LONGEST_STEM = 63 };

typedef struct {
  uint32_t words, stems, phrases, unspaced, squeezed, rules, unused[2];
  Kinds kinds;
} Told;

// What is known by a hash, in a table of a power of two of places, half of them empty; what collides goes to the next.
typedef struct {
  uint32_t hash;
  const Known *known;
} Entry;
typedef struct {
  Entry *places;
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
// Whether a word is known with the lowest bits of a hash, a bit each.
enum { HASHES = 1 << 17 };
static uint64_t word_hashes[HASHES / 64];
// The sizes of the stems, a bit each, and that of the shortest; a bit for the hash of so many bytes of each.
static uint64_t stem_sizes, stem_begins[1 << 7];
static uint32_t shortest_stem = LONGEST_STEM;

static Text text_of(const Known *known) { return (Text){(const uint8_t *)(known + 1), known->size}; }

static const Known *behind(const Known *known) {
  return (const Known *)((const uint8_t *)(known + 1) + (known->size + 7) / 8 * 8);
}

uint32_t hash_of(Text text) {
  uint32_t hash = HASH_START;
  for (uint32_t place = 0; place < text.size; place++) hash = hash_on(hash, text.at[place]);
  return hash;
}

static uint32_t spread(uint32_t hash) { return hash ^ hash >> 15; }

static Table table_for(uint32_t count) {
  uint32_t size = places_for(count);
  return (Table){zeroed(size * sizeof(Entry)), size - 1};
}

// The first place for a hash at a place or behind it that is empty, or whose hash is the same.
static const Entry *next_for(const Table *table, uint32_t hash, uint32_t place) {
  for (;; place++) {
    const Entry *entry = &table->places[place & table->last];
    if (!entry->known || entry->hash == hash) return entry;
  }
}

static void enter(Table *table, uint32_t hash, const Known *known) {
  uint32_t place = spread(hash) & table->last;
  while (table->places[place].known) place = (place + 1) & table->last;
  table->places[place] = (Entry){hash, known};
}

static const Known *found_in(const Table *table, uint32_t hash, Text text) {
  const Entry *entry = next_for(table, hash, spread(hash));
  while (entry->known && !same(text_of(entry->known), text))
    entry = next_for(table, hash, entry - table->places + 1);
  return entry->known;
}

static uint32_t hash_of_pair(uint32_t first, uint32_t second) { return first * 31 + second; }

static const Known *learn_words(const Known *known, uint32_t count, Table *table) {
  *table = table_for(count);
  for (; count; count--, known = behind(known)) enter(table, hash_of(text_of(known)), known);
  return known;
}

static bool is_stem(const Known *known) { return known->size && known->size <= LONGEST_STEM; }

// Where it is noted that a stem begins with a hash.
static uint64_t *begins_at(uint32_t hash) {
  return &stem_begins[spread(hash) / 64 % (sizeof stem_begins / sizeof *stem_begins)];
}
static uint64_t begins_with(uint32_t hash) { return 1ull << spread(hash) % 64; }

static const Known *learn_stems(const Known *known, uint32_t count) {
  const Known *stem = known;
  for (uint32_t left = count; left; left--, stem = behind(stem)) {
    if (!is_stem(stem)) continue;
    stem_sizes |= 1ull << stem->size;
    if (stem->size < shortest_stem) shortest_stem = stem->size;
  }
  stem = known;
  for (uint32_t left = count; left; left--, stem = behind(stem)) {
    if (!is_stem(stem)) continue;
    uint32_t hash = hash_of((Text){text_of(stem).at, shortest_stem});
    *begins_at(hash) |= begins_with(hash);
  }
  return learn_words(known, count, &stems);
}

// Phrases with the same first two words stand together; how many there are stands in the roles of the first.
static const Known *learn_phrases(const Known *known, uint32_t count) {
  phrases = table_for(count);
  while (count) {
    Text left = text_of(known), first = taken_until(' ', &left), second = taken_until(' ', &left);
    enter(&phrases, hash_of_pair(hash_of(first), hash_of(second)), known);
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
  for (uint32_t place = 0; place <= words.last; place++)
    if (words.places[place].known) {
      uint32_t hash = spread(words.places[place].hash);
      word_hashes[hash % HASHES / 64] |= 1ull << hash % 64;
    }
  known = learn_stems(known, told->stems);
  known = learn_phrases(known, told->phrases);
  known = learn_letters(known, told->unspaced, &trees[UNSPACED]);
  learn_letters(known, told->squeezed, &trees[SQUEEZED]);
  sort_rules();
  keep();
  return 0;
}

static Mask stems_of(Text word) {
  Mask found = {{0}};
  if (word.size < shortest_stem) return found;
  uint32_t size = shortest_stem, hash = hash_of((Text){word.at, size});
  // Of most words no stem begins with the same letters.
  if (!(*begins_at(hash) & begins_with(hash))) return found;
  for (;;) {
    const Known *stem = stem_sizes >> size & 1 ? found_in(&stems, hash, (Text){word.at, size}) : NULL;
    if (stem) found = either(found, stem->mask);
    if (size == word.size || size == LONGEST_STEM) return found;
    hash = hash_on(hash, word.at[size++]);
  }
}

static bool may_be_known(uint32_t hash) { return word_hashes[spread(hash) % HASHES / 64] >> spread(hash) % 64 & 1; }

void look_up(Token *token) {
  const Known *word = may_be_known(token->hash) ? found_in(&words, token->hash, token->text) : NULL;
  token->mask = word ? word->mask : stems_of(token->text);
  token->roles = word ? word->roles : 0;
}

// Whether a text begins with a word, and a blank or nothing stands behind that; what is left then.
static bool begins_with_word(Text *text, Text word) {
  if (text->size < word.size || (text->size > word.size && text->at[word.size] != ' ')) return false;
  if (!same((Text){text->at, word.size}, word)) return false;
  uint32_t behind = text->size > word.size ? word.size + 1 : word.size;
  *text = (Text){text->at + behind, text->size - behind};
  return true;
}

// Whether some words stand at the first of some tokens, one after the other.
static bool stand_at(const Token *tokens, uint32_t count, Text words) {
  for (; words.size; tokens++, count--)
    if (!count || !begins_with_word(&words, tokens->text)) return false;
  return true;
}

// What is left of a phrase behind its first two words; false when it begins with others.
static bool begins_with_pair(const Known *phrase, const Token *tokens, Text *left) {
  *left = text_of(phrase);
  return begins_with_word(left, tokens[0].text) && begins_with_word(left, tokens[1].text);
}

// The phrases that begin with the first two of some tokens.
static const Known *phrases_with(const Token *tokens) {
  uint32_t hash = hash_of_pair(tokens[0].hash, tokens[1].hash);
  const Entry *entry = next_for(&phrases, hash, spread(hash));
  for (Text left; entry->known && !begins_with_pair(entry->known, tokens, &left);)
    entry = next_for(&phrases, hash, entry - phrases.places + 1);
  return entry->known;
}

Mask phrases_at(const Token *tokens, uint32_t count) {
  Mask found = {{0}};
  if (count < 2) return found;
  const Known *phrase = phrases_with(tokens);
  // Those that stand together begin with the same two words.
  uint32_t pair = tokens[0].text.size + 1 + tokens[1].text.size;
  for (uint32_t alike = phrase ? phrase->roles : 0; alike; alike--, phrase = behind(phrase)) {
    uint32_t taken = phrase->size > pair ? pair + 1 : pair;
    if (stand_at(tokens + 2, count - 2, (Text){text_of(phrase).at + taken, phrase->size - taken}))
      found = either(found, phrase->mask);
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
