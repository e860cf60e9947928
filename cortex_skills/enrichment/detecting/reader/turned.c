// Texts that were turned: written with other letters of the alphabet, or backwards.
//
// Rules kept here:
// - a text may be turned in a way in which two of its words are known to be; a word is known by its hash alone: where
//   others have the same, more is told than there is, and the host looks;
// - a text that shows many ways is not read here: that would take many times its room;
// - a hash that is 0 stands for an empty place, so none is.
#include "disguises.h"
#include "words.h"

enum { FEWEST = 2, ALPHABET = 26, MOST_WAYS = 32, FEW_WAYS = 3 };

// A word, and in which ways it is turned, a bit each: in an alphabet by its number, behind them all backwards. In which
// round it was met last.
typedef struct {
  uint32_t hash, ways, round;
} Turned;

// In a table of a power of two of places, half of them empty.
static Turned *known;
static uint32_t last_place, round_now;
// Whether a word is known with the highest bits of a hash, a bit each: hardly a word of a text is.
enum { HASH_BITS = 17 };
static uint64_t hashes[(1 << HASH_BITS) / 64];
// What each letter of the alphabet stands for.
static const uint8_t *alphabets;
static uint32_t alphabet_count;

static uint32_t mixed(uint32_t hash) { return (hash ^ hash >> 15) | 1; }

static uint64_t *bits_of_hash(uint32_t hash) { return &hashes[hash >> (32 - HASH_BITS) >> 6]; }
static uint64_t bit_of_hash(uint32_t hash) { return 1ull << (hash >> (32 - HASH_BITS)) % 64; }

// Where what is known of a word stands, or would stand.
static Turned *place_of_hash(uint32_t hash) {
  uint32_t place = hash >> 1 & last_place;
  while (known[place].hash && known[place].hash != hash) place = (place + 1) & last_place;
  return &known[place];
}

static uint32_t number_in(Text digits) {
  uint32_t number = 0;
  for (uint32_t place = 0; place < digits.size; place++) number = number * 10 + digits.at[place] - '0';
  return number;
}

// What the letters of each alphabet stand for, and behind that so many words, a line each, with their ways.
EXPORT("learn_turned") int32_t learn_turned(uint32_t size, uint32_t count, uint32_t ways) {
  alphabets = given();
  alphabet_count = ways - 1;
  Text left = {alphabets + alphabet_count * ALPHABET, size};
  if (ways > MOST_WAYS) __builtin_trap();
  last_place = places_for(count) - 1;
  known = zeroed((last_place + 1) * sizeof *known);
  while (left.size) {
    Text line = taken_until('\n', &left), word = taken_until(' ', &line);
    uint32_t hash = mixed(hash_of(word));
    Turned *turned = place_of_hash(hash);
    *bits_of_hash(hash) |= bit_of_hash(hash);
    *turned = (Turned){hash, turned->ways | number_in(line), 0};
  }
  keep();
  return 0;
}

// The next word behind a place that is known; NULL when there is none.
static Turned *next_turned(Text plain, uint32_t *place) {
  // Of what is no small letter, none is looked at twice.
  for (uint32_t at = *place; at < plain.size; at++) {
    uint32_t start = at, hash = HASH_START;
    for (uint8_t byte; at < plain.size && is_small(byte = plain.at[at]); at++) hash = hash_on(hash, byte);
    if (at - start < 2) continue;
    hash = mixed(hash);
    if (!(*bits_of_hash(hash) & bit_of_hash(hash))) continue;
    Turned *found = place_of_hash(hash);
    *place = at;
    if (found->hash) return found;
  }
  return NULL;
}

uint32_t turned_in(Text plain) {
  uint32_t count = 0;
  for (uint32_t place = 0; next_turned(plain, &place);) count++;
  return count;
}

// The ways in which a text may be turned, a bit each.
static uint32_t ways_of(Text plain) {
  uint32_t counts[MOST_WAYS] = {0}, found = 0, place = 0;
  round_now++;
  for (Turned *word; (word = next_turned(plain, &place));) {
    for (uint32_t way = 0; way <= alphabet_count && word->round != round_now; way++)
      if (word->ways >> way & 1 && ++counts[way] >= FEWEST) found |= 1u << way;
    word->round = round_now;
  }
  return found;
}

static uint8_t *put_in_alphabet(uint8_t *to, Text plain, const uint8_t *alphabet) {
  for (uint32_t place = 0; place < plain.size; place++) {
    uint8_t byte = plain.at[place];
    *to++ = is_small(byte) ? alphabet[byte - 'a'] : byte;
  }
  return to;
}

static uint8_t *put_backwards(uint8_t *to, Text text) {
  for (uint32_t place = text.size, end = place; place; end = place) {
    char_before(text, &place);
    for (uint32_t at = place; at < end; at++) *to++ = text.at[at];
  }
  return to;
}

// Each word backwards, with a blank between two.
static uint8_t *put_words_backwards(uint8_t *to, Text plain) {
  uint8_t *begin = to;
  for (uint32_t place = 0, start = 0; place < plain.size; start = place) {
    uint32_t end = place;
    while (place < plain.size && !is_space(next_char(plain, &place))) end = place;
    if (end == start) continue;
    if (to > begin) *to++ = ' ';
    to = put_backwards(to, (Text){plain.at + start, end - start});
  }
  return to;
}

static uint8_t *end_sentence(uint8_t *to) {
  __builtin_memcpy(to, "\n.\n", 3);
  return to + 3;
}

bool is_turned_in_many_ways(Text plain) { return __builtin_popcount(ways_of(plain)) > FEW_WAYS; }

Text turned(Text plain) {
  uint32_t ways = ways_of(plain), backwards = ways >> alphabet_count, count = __builtin_popcount(ways);
  if (!ways || count > FEW_WAYS) return (Text){0};
  uint8_t *view = take((count + 1) * (plain.size + 3)), *end = view;
  for (uint32_t way = 0; way < alphabet_count; way++)
    if (ways >> way & 1) end = end_sentence(put_in_alphabet(end, plain, alphabets + way * ALPHABET));
  if (backwards) end = end_sentence(put_words_backwards(end_sentence(put_backwards(end, plain)), plain));
  return (Text){view, end - view};
}
