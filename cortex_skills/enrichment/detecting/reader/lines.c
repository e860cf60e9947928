// A line is read once, however many of the texts it stands in that are looked at together.
//
// Rules kept here:
// - words do not go on from line to line, and no phrase does: what they are is the same in every text with the line;
// - a sentence does: what stands before the first end in a line, and behind the last, is judged in each text anew;
// - lines with words of languages without blanks are not read here, nor those with line ends: a text with one is read as
//   a whole.
#include "lines.h"

// A line by the hash of how it was written, in a table of a power of two of places, half of them empty.
typedef struct {
  uint64_t hash;
  Line *line;
} Slot;

enum { READ_AS_WHOLE = HAS_SCRIPT | HAS_LINE_END };

static Slot *places;
static uint32_t last_place;
static uint64_t hash_seed;
static Token line_end;

void begin_lines(uint32_t most, uint64_t seed) {
  uint32_t size = places_for(most);
  places = zeroed(size * sizeof *places);
  last_place = size - 1;
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

static const Said NOTHING = {0, -1};

// What is said first, and then.
static Said and_then(Said first, Said then) {
  return (Said){first.beside | then.beside, first.rule < 0 ? then.rule : first.rule};
}

static Said sentence_says(const Token *tokens, uint32_t count, Mask whole) {
  Said says = NOTHING;
  while (count && says.rule < 0) {
    // Signs only ever add to what holds.
    Asked asked = {judge_sentence, ~says.beside, false};
    int32_t rule = judge_as_it_stands((Sentence){tokens, NULL, count}, whole, &asked);
    if (rule < 0) break;
    if (rules[rule].signs) says.beside |= rules[rule].signs;
    else says.rule = rule;
  }
  return says;
}

static Mask meaning_of_words(const Token *tokens, uint32_t count) {
  Mask found = {{0}};
  for (uint32_t place = 0; place < count; place++) found = either(found, tokens[place].mask);
  return found;
}

static Words read(Text text) {
  Words words = {.says_within = NOTHING};
  words.tokens = tokens_of(text, &words.count);
  words.first_end = words.last_end = words.count;
  for (uint32_t place = 0, start = 0; place <= words.count; place++) {
    bool is_last = place == words.count;
    if (!is_last && !is_end(&words.tokens[place])) continue;
    Mask whole = meaning_of_words(words.tokens + start, place - start);
    Said says = sentence_says(words.tokens + start, place - start, whole);
    if (!start) {
      words.head = whole;
      words.head_says = says;
      words.first_end = place;
    }
    if (is_last) {
      words.tail = whole;
      words.tail_says = says;
    } else {
      if (start) words.says_within = and_then(words.says_within, says);
      words.last_end = place;
      start = place + 1;
    }
  }
  return words;
}

static Reading *new_reading(Text text) {
  Reading *reading = take(sizeof *reading);
  *reading = (Reading){.text = text};
  return reading;
}

static Reading *found_reading(const Line *line, Way way) {
  Text text = read_in(way, line->raw, line->readings[AS_SEEN]->text);
  for (Way other = AS_SEEN; other < WAYS; other++)
    if (line->readings[other] && same(text, line->readings[other]->text)) return line->readings[other];
  return new_reading(text);
}

static Reading *reading_of(Line *line, Way way) {
  if (!line->readings[way]) line->readings[way] = found_reading(line, way);
  return line->readings[way];
}

static const Words *words_of(Line *line, Way way) {
  Reading *reading = reading_of(line, way);
  if (!reading->has_words && !(line->flags & READ_AS_WHOLE)) reading->words = read(reading->text);
  reading->has_words = true;
  return &reading->words;
}

static Line *line_that_is(Text raw, Text folded, Text plain) {
  Line *line = take(sizeof *line);
  bool is_plain = is_ascii(plain), is_simple = is_plain && plain.at == folded.at;
  *line = (Line){.raw = raw, .counts = counted(raw, plain, is_plain)};
  if (!is_simple && has_script(folded)) line->flags |= HAS_SCRIPT;
  if (may_name_speaker(raw)) line->flags |= MAY_NAME_SPEAKER;
  if (line->counts.line_ends) line->flags |= HAS_LINE_END;
  line->readings[AS_WRITTEN] = line->readings[AS_SEEN] = new_reading(folded);
  if (plain.at != folded.at) line->readings[AS_SEEN] = new_reading(plain);
  return line;
}

static Line *new_line(Text raw) {
  Text folded;
  if (!fold(raw, &folded)) return NULL;
  return line_that_is(raw, folded, is_ascii(raw) ? folded : look_alike(folded));
}

// Where a line is found that was written so, or would be.
static Slot *place_of_line(Text raw) {
  uint64_t hash = hash_of_line(raw);
  uint32_t place = hash & last_place;
  for (; places[place].line; place = (place + 1) & last_place)
    if (places[place].hash == hash && same(places[place].line->raw, raw)) break;
  places[place].hash = hash;
  return &places[place];
}

Line *line_of(Text raw) {
  Slot *place = place_of_line(raw);
  if (!place->line) place->line = new_line(raw);
  return place->line;
}

void add_folded_line(Text raw, Text folded, Text plain) {
  Line *line = line_that_is(raw, folded, same(folded, plain) ? folded : plain);
  line->flags |= FOLDED_BY_HOST;
  place_of_line(raw)->line = line;
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
    sum.turned += counts->turned;
  }
  return sum;
}

Text text_of_lines(Lines lines, Way way) {
  if (lines.count == 1) return reading_of(lines.at[0], way)->text;
  uint32_t size = lines.count - 1;
  for (uint32_t each = 0; each < lines.count; each++) size += reading_of(lines.at[each], way)->text.size;
  uint8_t *text = take(size), *end = text;
  for (uint32_t each = 0; each < lines.count; each++) {
    Text line = reading_of(lines.at[each], way)->text;
    if (each) *end++ = '\n';
    __builtin_memcpy(end, line.at, line.size);
    end += line.size;
  }
  return (Text){text, size};
}

Forms forms_of_line(Line *line, Way way) {
  Reading *reading = reading_of(line, way);
  if (!reading->has_forms) reading->forms = forms_in(reading->text);
  reading->has_forms = true;
  return reading->forms;
}

uint32_t flags_of(Lines lines) {
  uint32_t found = 0;
  for (uint32_t each = 0; each < lines.count; each++) found |= lines.at[each]->flags;
  return found;
}

bool are_read_alike(Lines lines, Way way, Way other) {
  for (uint32_t each = 0; each < lines.count; each++)
    if (lines.at[each]->readings[way] != lines.at[each]->readings[other]) return false;
  return true;
}

// A sentence that runs through some lines, up to the first end in the last: it begins behind the last end of the first
// line, or with it. The categories of its words.
typedef struct {
  Lines lines;
  Mask whole;
  bool is_behind_end;
} Run;

static void add(const Token *tokens, uint32_t count) {
  __builtin_memcpy(take(count * sizeof *tokens), tokens, count * sizeof *tokens);
}

// The words of a run, with the line ends or without them; writes how many words stand before each line end.
static Sentence words_of_run(const Run *run, Way way, bool with_ends, uint32_t *ends) {
  const Words *first = words_of(run->lines.at[0], way);
  Token *tokens = mark();
  if (run->is_behind_end) add(first->tokens + first->last_end + 1, first->count - first->last_end - 1);
  else add(first->tokens, first->count);
  for (uint32_t each = 1; each < run->lines.count; each++) {
    const Words *words = words_of(run->lines.at[each], way);
    *ends++ = (Token *)mark() - tokens;
    if (with_ends) add(&line_end, 1);
    add(words->tokens, words->first_end);
  }
  return (Sentence){tokens, NULL, (Token *)mark() - tokens};
}

// What a run says as it stands, and in one line.
static Said run_says(const Run *run, Way way) {
  if (run->lines.count == 1) {
    const Words *words = words_of(run->lines.at[0], way);
    return run->is_behind_end ? words->tail_says : words->head_says;
  }
  uint32_t end_count = run->lines.count - 1, *ends = take(end_count * sizeof *ends);
  Mask with_ends = either(run->whole, line_end.mask);
  Said says = NOTHING;
  if (may_say(with_ends, UINT32_MAX)) {
    Sentence words = words_of_run(run, way, true, ends);
    says = sentence_says(words.tokens, words.count, with_ends);
  }
  Sentence words = words_of_run(run, way, false, ends);
  Mask phrases = add_phrases_over(ends, end_count, (Token *)words.tokens, words.count);
  says = and_then(says, sentence_says(words.tokens, words.count, either(run->whole, phrases)));
  back_to(ends);
  return says;
}

static Said sentences_say(Lines lines, Way way) {
  Run run = {.lines = {lines.at, 0}};
  Said says = NOTHING;
  for (uint32_t each = 0; each < lines.count && says.rule < 0; each++) {
    const Words *words = words_of(lines.at[each], way);
    run.whole = either(run.whole, words->head);
    run.lines.count++;
    if (words->first_end == words->count) continue;
    says = and_then(says, and_then(run_says(&run, way), words->says_within));
    run = (Run){{lines.at + each, 1}, words->tail, true};
  }
  return says.rule < 0 ? and_then(says, run_says(&run, way)) : says;
}

int32_t words_say_beside(Lines lines, Way way, uint32_t signs) {
  if (flags_of(lines) & READ_AS_WHOLE) return judge(text_of_lines(lines, way), signs, false);
  Said says = sentences_say(lines, way);
  return says.rule < 0 && says.beside & signs ? BESIDE_SIGNS : says.rule;
}

static bool say_long_words_of(Line *line) {
  if (line->of_long_words == NOT_ASKED)
    line->of_long_words = judge_long_words(line->readings[AS_SEEN]->text) >= 0 ? SAYS_SO : SAYS_NOT;
  return line->of_long_words == SAYS_SO;
}

bool long_words_say(Lines lines) {
  for (uint32_t each = 0; each < lines.count; each++)
    if (lines.at[each]->counts.long_words && say_long_words_of(lines.at[each])) return true;
  return false;
}
