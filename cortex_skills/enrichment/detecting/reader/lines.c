// A line is read once, however many of the texts it stands in that are looked at together.
//
// Rules kept here:
// - words do not go on from line to line, and no phrase does: what they are is the same in every text with the line;
// - a sentence does: what stands before the first end in a line, and behind the last, is judged in each text anew;
// - lines with words of languages without blanks are not read here: a text with one is read as a whole.
#include "lines.h"

// A line by the hash of how it was written, in a table of a power of two of places, half of them empty.
typedef struct {
  uint64_t hash;
  Line *line;
} Place;

static Place *places;
static uint32_t last_place;
static uint64_t hash_seed;
static Asked asked;
static Token line_end;

void begin_lines(uint32_t most, uint32_t signs, uint64_t seed) {
  uint32_t size = places_for(most);
  places = zeroed(size * sizeof *places);
  last_place = size - 1;
  asked = (Asked){judge_sentence, signs, false};
  hash_seed = seed;
  uint32_t count;
  line_end = *tokens_of((Text){(const uint8_t *)"\n", 1}, &count);
}

static uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

static uint64_t hash_of_line(Text text) {
  uint64_t hash = mixed(hash_seed, text.size), word;
  uint32_t place = 0;
  for (; place + sizeof word <= text.size; place += sizeof word) {
    __builtin_memcpy(&word, text.at + place, sizeof word);
    hash = mixed(hash, word);
  }
  for (word = 0; place < text.size; place++) word = word << 8 | text.at[place];
  hash = mixed(hash, word);
  return mixed(hash, hash_seed);
}

static bool sentence_says(const Token *tokens, uint32_t count) {
  return count && judge_sentence((Sentence){tokens, NULL, count}, &asked) >= 0;
}

static Words read(Text text) {
  Words words = {0};
  words.tokens = tokens_of(text, &words.count);
  words.first_end = words.last_end = words.count;
  for (uint32_t place = 0, start = 0; place < words.count; place++) {
    if (!is_end(&words.tokens[place])) continue;
    if (words.first_end == words.count) words.first_end = place;
    else words.says_within = words.says_within || sentence_says(words.tokens + start, place - start);
    words.last_end = place;
    start = place + 1;
  }
  return words;
}

static Line *new_line(Text raw) {
  Text folded;
  if (!fold(raw, &folded)) return NULL;
  Line *line = take(sizeof *line);
  bool is_plain = is_ascii(raw);
  *line = (Line){.raw = raw, .folded = folded, .plain = is_plain ? folded : look_alike(folded)};
  line->counts = counted(raw, line->plain, is_plain);
  line->has_script = !is_plain && has_script(folded);
  if (line->has_script) return line;
  line->seen = read(line->plain);
  line->read = line->plain.at == folded.at ? line->seen : read(folded);
  return line;
}

const Line *line_of(Text raw) {
  uint64_t hash = hash_of_line(raw);
  uint32_t place = hash & last_place;
  for (; places[place].line; place = (place + 1) & last_place)
    if (places[place].hash == hash && same(places[place].line->raw, raw)) return places[place].line;
  places[place] = (Place){hash, new_line(raw)};
  return places[place].line;
}

Counts counts_of(Lines lines) {
  Counts sum = {.chars = lines.count - 1, .line_ends = lines.count - 1};
  for (uint32_t each = 0; each < lines.count; each++) {
    const Counts *counts = &lines.at[each]->counts;
    sum.chars += counts->chars;
    sum.line_ends += counts->line_ends;
    sum.blanks += counts->blanks;
    sum.likes += counts->likes;
    sum.humps += counts->humps;
    sum.hyphens += counts->hyphens;
    sum.breaks += counts->breaks;
    sum.parted += counts->parted;
    sum.doubles += counts->doubles;
    sum.doubled_first += counts->doubled_first;
    sum.long_words += counts->long_words;
    sum.singles += counts->singles;
  }
  return sum;
}

static Text as(const Line *line, bool as_seen) { return as_seen ? line->plain : line->folded; }

Text text_of_lines(Lines lines, bool as_seen) {
  if (lines.count == 1) return as(lines.at[0], as_seen);
  uint32_t size = lines.count - 1;
  for (uint32_t each = 0; each < lines.count; each++) size += as(lines.at[each], as_seen).size;
  uint8_t *text = take(size), *end = text;
  for (uint32_t each = 0; each < lines.count; each++) {
    Text line = as(lines.at[each], as_seen);
    if (each) *end++ = '\n';
    __builtin_memcpy(end, line.at, line.size);
    end += line.size;
  }
  return (Text){text, size};
}

static void add(const Token *tokens, uint32_t count) {
  __builtin_memcpy(take(count * sizeof *tokens), tokens, count * sizeof *tokens);
}

// Whether a sentence that begins or ends in one of some lines says an instruction.
static bool sentences_say(Lines lines, bool as_seen) {
  Token *sentence = mark();
  uint32_t count = 0;
  for (uint32_t each = 0; each < lines.count; each++) {
    const Words *words = as_seen ? &lines.at[each]->seen : &lines.at[each]->read;
    if (each) {
      add(&line_end, 1);
      count++;
    }
    add(words->tokens, words->first_end);
    count += words->first_end;
    if (words->first_end == words->count) continue;
    if (words->says_within || sentence_says(sentence, count)) return true;
    back_to(sentence);
    count = words->count - words->last_end - 1;
    add(words->tokens + words->last_end + 1, count);
  }
  return sentence_says(sentence, count);
}

bool words_say(Lines lines, bool as_seen) {
  for (uint32_t each = 0; each < lines.count; each++)
    if (lines.at[each]->has_script) return judge(text_of_lines(lines, as_seen), asked.signs, false) >= 0;
  void *start = mark();
  bool found = sentences_say(lines, as_seen);
  back_to(start);
  return found;
}
