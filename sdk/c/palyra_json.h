/* JSON for tools in C: members of an object, strings, and a writer.
 *
 * Rules kept here:
 * - what is read is valid JSON (the host has checked the input), and a text that is not is read as having no members,
 *   never beyond its end;
 * - what is written is UTF-8, with quotes, backslashes and control characters escaped.
 */
#ifndef PALYRA_JSON_H
#define PALYRA_JSON_H

#include "palyra.h"

static inline bool palyra_same(palyra_text a, palyra_text b) {
  if (a.size != b.size) return false;
  for (uint32_t index = 0; index < a.size; index++)
    if (a.at[index] != b.at[index]) return false;
  return true;
}

static inline uint32_t palyra_json_blank(palyra_text json, uint32_t at) {
  while (at < json.size && (json.at[at] == ' ' || json.at[at] == '\t' || json.at[at] == '\n' || json.at[at] == '\r')) at++;
  return at;
}

/* Where a string that starts at `at` ends. */
static inline uint32_t palyra_json_after_string(palyra_text json, uint32_t at) {
  for (at++; at < json.size && json.at[at] != '"'; at++)
    if (json.at[at] == '\\') at++;
  return at < json.size ? at + 1 : json.size;
}

/* Where a value that starts at `at` ends. */
static inline uint32_t palyra_json_after_value(palyra_text json, uint32_t at) {
  uint32_t depth = 0;
  while (at < json.size) {
    char c = json.at[at];
    if (c == '"') {
      at = palyra_json_after_string(json, at);
      if (depth == 0) return at;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) return at;
    if (c == '{' || c == '[') depth++;
    at++;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return at;
}

/* The JSON of a member of an object; its size is 0 if there is none. */
static inline palyra_text palyra_json_member(palyra_text json, palyra_text name) {
  uint32_t at = palyra_json_blank(json, 0);
  if (at >= json.size || json.at[at] != '{') return (palyra_text){json.at, 0};
  for (at = palyra_json_blank(json, at + 1); at < json.size && json.at[at] == '"'; at = palyra_json_blank(json, at + 1)) {
    uint32_t name_end = palyra_json_after_string(json, at);
    palyra_text found = {json.at + at + 1, name_end >= at + 2 ? name_end - at - 2 : 0};
    at = palyra_json_blank(json, name_end);
    if (at >= json.size || json.at[at] != ':') break;
    at = palyra_json_blank(json, at + 1);
    uint32_t start = at;
    at = palyra_json_after_value(json, at);
    uint32_t end = at;
    while (end > start && palyra_json_blank(json, end - 1) >= at) end--;
    if (palyra_same(found, name)) return (palyra_text){json.at + start, end - start};
    at = palyra_json_blank(json, at);
    if (at >= json.size || json.at[at] != ',') break;
  }
  return (palyra_text){json.at, 0};
}

static inline uint32_t palyra_json_hex(palyra_text json, uint32_t at) {
  uint32_t code = 0;
  for (uint32_t index = 0; index < 4 && at + index < json.size; index++) {
    char c = json.at[at + index];
    code = code * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  return code & 0xFFFF;
}

/* The text of a JSON string; empty for another value. */
static inline palyra_text palyra_json_string(palyra_text json) {
  if (json.size < 2 || json.at[0] != '"') return (palyra_text){json.at, 0};
  char *out = palyra_allocate(json.size);
  uint32_t size = 0;
  for (uint32_t at = 1; at < json.size - 1; at++) {
    char c = json.at[at];
    if (c != '\\' || at + 1 >= json.size - 1) {
      out[size++] = c;
      continue;
    }
    c = json.at[++at];
    if (c != 'u') {
      out[size++] = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
      continue;
    }
    uint32_t code = palyra_json_hex(json, at + 1);
    at += 4;
    bool has_low = at + 6 < json.size && json.at[at + 1] == '\\' && json.at[at + 2] == 'u';
    uint32_t low = has_low && code >> 10 == 0x36 ? palyra_json_hex(json, at + 3) : 0;
    if (low >> 10 == 0x37) {
      code = 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF);
      at += 6;
    } else if (code >> 11 == 0x1B) {
      code = 0xFFFD; /* half of a pair */
    }
    if (code < 0x80) {
      out[size++] = (char)code;
      continue;
    }
    if (code >= 0x10000) {
      out[size++] = (char)(0xF0 | code >> 18);
      out[size++] = (char)(0x80 | (code >> 12 & 0x3F));
    } else if (code >= 0x800) {
      out[size++] = (char)(0xE0 | code >> 12);
    }
    out[size++] = code >= 0x800 ? (char)(0x80 | (code >> 6 & 0x3F)) : (char)(0xC0 | code >> 6);
    out[size++] = (char)(0x80 | (code & 0x3F));
  }
  return (palyra_text){out, size};
}

/* A text that grows. */
typedef struct {
  char *at;
  uint32_t size, room;
} palyra_writer;

static inline void palyra_write(palyra_writer *out, palyra_text text) {
  if (text.size > out->room - out->size) {
    uint32_t room = (out->size + text.size) * 2 + 64;
    out->at = palyra_export_realloc(out->at, out->size, 1, room);
    out->room = room;
  }
  for (uint32_t index = 0; index < text.size; index++) out->at[out->size++] = text.at[index];
}

/* Write a text as a JSON string. */
static inline void palyra_write_string(palyra_writer *out, palyra_text text) {
  static const char digits[] = "0123456789abcdef";
  palyra_write(out, PALYRA_TEXT("\""));
  for (uint32_t index = 0; index < text.size; index++) {
    unsigned char c = (unsigned char)text.at[index];
    char escaped[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
    if (c < 0x20)
      palyra_write(out, (palyra_text){escaped, 6});
    else if (c == '"' || c == '\\')
      palyra_write(out, (palyra_text){(char[2]){'\\', (char)c}, 2});
    else
      palyra_write(out, (palyra_text){text.at + index, 1});
  }
  palyra_write(out, PALYRA_TEXT("\""));
}

static inline void palyra_write_number(palyra_writer *out, uint32_t number) {
  char digits[10];
  uint32_t start = sizeof digits;
  do digits[--start] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  palyra_write(out, (palyra_text){digits + start, sizeof digits - start});
}

/* What was written. */
static inline palyra_text palyra_written(const palyra_writer *out) { return (palyra_text){out->at, out->size}; }

/* The number that a text starts with; 0 without one. */
static inline uint32_t palyra_number(palyra_text text) {
  uint32_t number = 0;
  for (uint32_t index = 0; index < text.size && text.at[index] >= '0' && text.at[index] <= '9'; index++)
    number = number * 10 + (uint32_t)(text.at[index] - '0');
  return number;
}

#endif
