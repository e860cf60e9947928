// Words that are written as one: each is read by its letters.
//
// Rules kept here:
// - linear: no letter belongs to two runs of long words.
#include "disguises.h"

// Behind the letters that stand at a place, and how many they are.
static uint32_t behind_letters(Text plain, uint32_t place, uint32_t *count) {
  uint32_t next = place;
  for (*count = 0; next < plain.size && is_letter(next_char(plain, &next)); ++*count) place = next;
  return place;
}

// Behind the long words at a place that follow each other, with a sign or a blank between them at most.
static uint32_t behind_long_words(Text plain, uint32_t place) {
  for (;;) {
    uint32_t count, behind = behind_letters(plain, place, &count);
    if (count < LONG_WORD) return place;
    uint8_t sign = behind < plain.size ? plain.at[behind] : 0;
    bool is_between = sign == '-' || sign == '.' || sign == ',' || sign == '!' || sign == '?' || sign == ' ';
    place = behind + is_between;
  }
}

int32_t judge_long_words(Text plain) {
  for (uint32_t place = 0, count; place < plain.size;) {
    uint32_t end = behind_long_words(plain, place);
    int32_t found = end > place ? judge_run_together((Text){plain.at + place, end - place}) : -1;
    if (found >= 0) return found;
    place = behind_letters(plain, end, &count);
    if (place < plain.size) next_char(plain, &place);
  }
  return -1;
}
