// What the host asks of texts that it has written into the reader's room.
//
// Rules kept here:
// - a text that says nothing here by its words, and shows no disguise, is not looked at again for them.
#include "reader.h"

// How many texts there are, what the host knows of them all, and of each, how it was written, how it is read, and as
// it looks; the last is none where it is as it is read. The bytes of all stand behind.
typedef struct {
  uint32_t raw, folded, plain;
} Sizes;
enum { AS_READ = UINT32_MAX, SHORT_LINES = 12 };

EXPORT("judge") int32_t judge_text(const uint8_t *at, uint32_t size, uint32_t signs, uint32_t title) {
  return judge((Text){at, size}, signs, title);
}

EXPORT("judge_run_together") int32_t judge_span(const uint8_t *at, uint32_t size) {
  return judge_run_together((Text){at, size});
}

// Whether the words of a text say an instruction, when lines that are very short are read as one.
static bool says_as_one_line(Text plain, uint32_t signs) {
  uint32_t lines = 0, length = 0;
  for (uint32_t place = 0; place < plain.size; place++) {
    lines += plain.at[place] == '\n';
    length += (plain.at[place] & 0xc0) != 0x80;
  }
  if ((uint64_t)lines * SHORT_LINES <= length) return false;
  uint8_t *copy = copied(plain, 0);
  for (uint32_t place = 0; place < plain.size; place++)
    if (copy[place] == '\n') copy[place] = ' ';
  return judge((Text){copy, plain.size}, signs, false) >= 0;
}

static uint32_t look_at(Text raw, Text folded, Text plain, uint32_t signs) {
  void *start = mark();
  uint32_t found = disguises(raw, plain, signs);
  if ((folded.at != plain.at && judge(folded, signs, false) >= 0) || judge(plain, signs, false) >= 0 ||
      says_as_one_line(plain, signs))
    found |= WORDS << SAYS;
  back_to(start);
  return found;
}

// What each of some texts shows and says, as `disguises` tells it, with WORDS for the words as they are; written where
// the sizes begin.
EXPORT("look") void look(Sizes *texts, uint32_t count, uint32_t signs) {
  const uint8_t *at = (const uint8_t *)(texts + count);
  uint32_t *found = take(count * sizeof(uint32_t));
  for (uint32_t each = 0; each < count; each++) {
    Sizes sizes = texts[each];
    Text raw = {at, sizes.raw}, folded = {raw.at + raw.size, sizes.folded}, plain = folded;
    if (sizes.plain != AS_READ) plain = (Text){folded.at + folded.size, sizes.plain};
    at = plain.at + plain.size;
    found[each] = look_at(raw, folded, plain, signs);
  }
  __builtin_memcpy(texts, found, count * sizeof(uint32_t));
}
