/* A core module (ABI 1, version 0.1.0 of the world): `run` takes nothing and returns a number.
 *
 * It can see which handles it has, and cannot use them: here it returns how many hosts and secrets are granted, or a
 * negative number if a handle is not the one that the ABI defines.
 */
#include <stdint.h>

#define IMPORT(function) \
  __attribute__((import_module("palyra:plugins/host-capabilities@0.1.0"), import_name(function)))

IMPORT("http-count") int32_t http_count(void);
IMPORT("http-handle") int32_t http_handle(int32_t index);
IMPORT("secret-count") int32_t secret_count(void);
IMPORT("secret-handle") int32_t secret_handle(int32_t index);

__attribute__((export_name("run"))) int32_t run(void) {
  int32_t hosts = http_count(), secrets = secret_count();
  for (int32_t index = 0; index < hosts; index++)
    if (http_handle(index) != 10000 + index) return -1;
  for (int32_t index = 0; index < secrets; index++)
    if (secret_handle(index) != 20000 + index) return -2;
  return hosts * 100 + secrets;
}
