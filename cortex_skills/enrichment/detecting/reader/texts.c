// What the host asks of one text that it has written into the reader's room.
//
// Rules kept here:
// - what was met of characters that the host has not told of is answered instead of anything else.
#include "reader.h"

int32_t answered(int32_t answer) {
  bool is_unknown = met_unknown;
  met_unknown = false;
  return is_unknown ? UNKNOWN : answer;
}

EXPORT("judge") int32_t judge_text(uint32_t size, uint32_t signs, uint32_t title) {
  return answered(judge((Text){given(), size}, signs, title));
}

EXPORT("judge_run_together") int32_t judge_span(uint32_t size) {
  return answered(judge_run_together((Text){given(), size}));
}

EXPORT("judge_long_words") int32_t judge_words_as_one(uint32_t size) {
  return answered(judge_long_words((Text){given(), size}));
}

EXPORT("meaning") int32_t meaning(uint32_t size) { return answered((int32_t)meaning_of((Text){given(), size})); }

// A text as it is read, and as it looks.
typedef struct {
  Text folded, plain;
} Read;

EXPORT("fold") int32_t fold_text(uint32_t size) {
  Read *read = take(sizeof *read);
  if (!fold((Text){given(), size}, &read->folded)) return answered(FOLD_IT);
  read->plain = look_alike(read->folded);
  return answered((int32_t)read);
}
