/* The world of a plugin in WebAssembly for C: sandbox/wit/palyra-sdk.wit, version 0.2.0.
 *
 * Include it in one source file, define `palyra_run`, and compile with the flags of `compile.txt`. The result is a core
 * module; `cortex-skills package build` makes a component of it.
 *
 * Rules kept here:
 * - the types have the layout of the canonical ABI (Component Model, "Canonical ABI"), so nothing is converted;
 * - each call runs in a memory of its own, so that nothing is freed, and nothing stays: keep state in the storage;
 * - a text is UTF-8 without a NUL at its end; bytes are the same type.
 */
#ifndef PALYRA_H
#define PALYRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  const char *at;
  uint32_t size;
} palyra_text;

/* What a host function refuses or fails with: `code` is stable, `message` is for a person. */
typedef struct {
  palyra_text code, message;
} palyra_error;

typedef struct {
  palyra_text name, value;
} palyra_header;

typedef struct {
  uint16_t status;
  const palyra_header *headers;
  uint32_t header_count;
  palyra_text body;
} palyra_response;

/* Results: read `error` if `failed`, else the other member. */
typedef struct {
  bool failed;
  palyra_error error;
} palyra_done;

typedef struct {
  bool failed;
  union {
    palyra_text text;
    palyra_error error;
  };
} palyra_text_result;

typedef struct {
  bool failed;
  union {
    struct {
      const palyra_text *at;
      uint32_t count;
    } keys;
    palyra_error error;
  };
} palyra_keys_result;

typedef struct {
  bool failed;
  union {
    palyra_response response;
    palyra_error error;
  };
} palyra_response_result;

/* What a tool answers: JSON that its output schema accepts, or, if `failed`, a text for the caller. */
typedef struct {
  bool failed;
  palyra_text text;
} palyra_answer;

enum palyra_level { PALYRA_DEBUG, PALYRA_INFO, PALYRA_WARNING, PALYRA_ERROR };

/* The plugin defines this function. `tool` is the id of the tool, `input` is JSON that its input schema accepts. */
palyra_answer palyra_run(palyra_text tool, palyra_text input);

#define PALYRA_IMPORT(function) \
  __attribute__((import_module("palyra:plugins/host-capabilities@0.2.0"), import_name(function)))

/* How many hosts, secrets, storage prefixes and channels are granted, and the handle of each by its index in the sorted
 * grants; -1 for an index that is out of range. */
PALYRA_IMPORT("http-count") int32_t palyra_http_count(void);
PALYRA_IMPORT("http-handle") int32_t palyra_http_handle(int32_t index);
PALYRA_IMPORT("secret-count") int32_t palyra_secret_count(void);
PALYRA_IMPORT("secret-handle") int32_t palyra_secret_handle(int32_t index);
PALYRA_IMPORT("storage-count") int32_t palyra_storage_count(void);
PALYRA_IMPORT("storage-handle") int32_t palyra_storage_handle(int32_t index);
PALYRA_IMPORT("channel-count") int32_t palyra_channel_count(void);
PALYRA_IMPORT("channel-handle") int32_t palyra_channel_handle(int32_t index);

PALYRA_IMPORT("http-fetch")
void palyra_raw_http_fetch(int32_t handle, const char *method, uint32_t method_size, const char *path,
                           uint32_t path_size, const palyra_header *headers, uint32_t header_count, const char *body,
                           uint32_t body_size, palyra_response_result *result);
PALYRA_IMPORT("secret-read") void palyra_raw_secret_read(int32_t handle, palyra_text_result *result);
PALYRA_IMPORT("storage-read")
void palyra_raw_storage_read(int32_t handle, const char *key, uint32_t key_size, palyra_text_result *result);
PALYRA_IMPORT("storage-write")
void palyra_raw_storage_write(int32_t handle, const char *key, uint32_t key_size, const char *value,
                              uint32_t value_size, palyra_done *result);
PALYRA_IMPORT("storage-list")
void palyra_raw_storage_list(int32_t handle, const char *key, uint32_t key_size, palyra_keys_result *result);
PALYRA_IMPORT("channel-send")
void palyra_raw_channel_send(int32_t handle, const char *message, uint32_t size, palyra_done *result);
PALYRA_IMPORT("config-read") void palyra_raw_config_read(const char *name, uint32_t size, palyra_text_result *result);
PALYRA_IMPORT("graph-query")
void palyra_raw_graph_query(const char *arguments, uint32_t size, palyra_text_result *result);
PALYRA_IMPORT("graph-assert")
void palyra_raw_graph_assert(const char *arguments, uint32_t size, palyra_text_result *result);
PALYRA_IMPORT("log") void palyra_raw_log(int32_t level, const char *message, uint32_t size);

/* The text of a literal. */
#define PALYRA_TEXT(literal) ((palyra_text){"" literal, sizeof(literal) - 1})

/* Send a request to the host behind a handle. `path` starts with `/`. */
static inline palyra_response_result palyra_http_fetch(int32_t handle, palyra_text method, palyra_text path,
                                                       const palyra_header *headers, uint32_t header_count,
                                                       palyra_text body) {
  palyra_response_result result;
  palyra_raw_http_fetch(handle, method.at, method.size, path.at, path.size, headers, header_count, body.at, body.size,
                        &result);
  return result;
}

static inline palyra_text_result palyra_secret_read(int32_t handle) {
  palyra_text_result result;
  palyra_raw_secret_read(handle, &result);
  return result;
}

/* What is stored under a key; an error if nothing is. */
static inline palyra_text_result palyra_storage_read(int32_t handle, palyra_text key) {
  palyra_text_result result;
  palyra_raw_storage_read(handle, key.at, key.size, &result);
  return result;
}

static inline palyra_done palyra_storage_write(int32_t handle, palyra_text key, palyra_text value) {
  palyra_done result;
  palyra_raw_storage_write(handle, key.at, key.size, value.at, value.size, &result);
  return result;
}

/* The keys that start with a text. */
static inline palyra_keys_result palyra_storage_list(int32_t handle, palyra_text start) {
  palyra_keys_result result;
  palyra_raw_storage_list(handle, start.at, start.size, &result);
  return result;
}

static inline palyra_done palyra_channel_send(int32_t handle, palyra_text message) {
  palyra_done result;
  palyra_raw_channel_send(handle, message.at, message.size, &result);
  return result;
}

/* A value of `operator.config` as JSON: what the owner configured, or its default; an error if there is neither. */
static inline palyra_text_result palyra_config_read(palyra_text name) {
  palyra_text_result result;
  palyra_raw_config_read(name.at, name.size, &result);
  return result;
}

/* The arguments of `skill_graph_query` and `skill_assert` as JSON; the result is JSON. */
static inline palyra_text_result palyra_graph_query(palyra_text arguments) {
  palyra_text_result result;
  palyra_raw_graph_query(arguments.at, arguments.size, &result);
  return result;
}

static inline palyra_text_result palyra_graph_assert(palyra_text arguments) {
  palyra_text_result result;
  palyra_raw_graph_assert(arguments.at, arguments.size, &result);
  return result;
}

static inline void palyra_log(enum palyra_level level, palyra_text message) {
  palyra_raw_log(level, message.at, message.size);
}

/* `size` bytes, aligned to 8, until the end of the call; a call that needs more than its memory is stopped. */
static inline void *palyra_allocate(uint32_t size) {
  extern unsigned char __heap_base;
  static uintptr_t next = 0;
  const uint64_t page = 65536;
  uint64_t at = ((next != 0 ? next : (uintptr_t)&__heap_base) + 7) & ~(uint64_t)7;
  uint64_t end = at + size, available = (uint64_t)__builtin_wasm_memory_size(0) * page;
  if (end > available && __builtin_wasm_memory_grow(0, (size_t)((end - available + page - 1) / page)) == (size_t)-1)
    __builtin_trap();
  next = (uintptr_t)end;
  return (void *)(uintptr_t)at;
}

/* Where the host puts what it returns. */
__attribute__((export_name("cabi_realloc"))) void *palyra_export_realloc(const void *old, uint32_t old_size,
                                                                         uint32_t alignment, uint32_t size) {
  (void)alignment; /* at most 4 in this world */
  char *fresh = palyra_allocate(size);
  for (uint32_t index = 0; index < old_size && index < size; index++) fresh[index] = ((const char *)old)[index];
  return fresh;
}

__attribute__((export_name("run"))) const palyra_answer *palyra_export_run(const char *tool, uint32_t tool_size,
                                                                           const char *input, uint32_t input_size) {
  palyra_answer *answer = palyra_allocate(sizeof *answer);
  *answer = palyra_run((palyra_text){tool, tool_size}, (palyra_text){input, input_size});
  return answer;
}

#endif
