/* A tool that greets, and counts in its storage how often it greeted each name. */
#include "palyra_json.h"

palyra_answer palyra_run(palyra_text tool, palyra_text input) {
  (void)tool; /* this plugin has one tool */
  palyra_text name = palyra_json_string(palyra_json_member(input, PALYRA_TEXT("name")));
  uint32_t times = 1;
  if (palyra_storage_count() > 0) {
    int32_t storage = palyra_storage_handle(0);
    palyra_text_result kept = palyra_storage_read(storage, name);
    if (!kept.failed) times += palyra_number(kept.text);
    palyra_writer count = {0};
    palyra_write_number(&count, times);
    palyra_done done = palyra_storage_write(storage, name, palyra_written(&count));
    if (done.failed) return (palyra_answer){true, done.error.message};
  }
  palyra_writer greeting = {0}, out = {0};
  palyra_write(&greeting, PALYRA_TEXT("Hello, "));
  palyra_write(&greeting, name);
  palyra_write(&out, PALYRA_TEXT("{\"greeting\":"));
  palyra_write_string(&out, palyra_written(&greeting));
  palyra_write(&out, PALYRA_TEXT(",\"times\":"));
  palyra_write_number(&out, times);
  palyra_write(&out, PALYRA_TEXT("}"));
  return (palyra_answer){false, palyra_written(&out)};
}
