/* A tool that gets a page from the granted host, remembers it, and asserts its status to the graph.
 *
 * It uses its first host, its first secret (as a bearer token) and its first storage prefix.
 */
#include "palyra_json.h"

static palyra_answer failed(palyra_error error) { return (palyra_answer){true, error.message}; }

palyra_answer palyra_run(palyra_text tool, palyra_text input) {
  (void)tool; /* this plugin has one tool */
  palyra_text path = palyra_json_string(palyra_json_member(input, PALYRA_TEXT("path")));
  palyra_text subject = palyra_json_string(palyra_json_member(input, PALYRA_TEXT("subject")));

  palyra_text_result token = palyra_secret_read(palyra_secret_handle(0));
  if (token.failed) return failed(token.error);
  palyra_writer bearer = {0};
  palyra_write(&bearer, PALYRA_TEXT("Bearer "));
  palyra_write(&bearer, token.text);

  palyra_header header = {PALYRA_TEXT("authorization"), palyra_written(&bearer)};
  palyra_response_result page =
      palyra_http_fetch(palyra_http_handle(0), PALYRA_TEXT("GET"), path, &header, 1, PALYRA_TEXT(""));
  if (page.failed) return failed(page.error);

  int32_t storage = palyra_storage_handle(0);
  palyra_text_result before = palyra_storage_read(storage, PALYRA_TEXT("page"));
  bool changed = !before.failed && !palyra_same(before.text, page.response.body);
  palyra_done stored = palyra_storage_write(storage, PALYRA_TEXT("page"), page.response.body);
  if (stored.failed) return failed(stored.error);

  palyra_writer assertion = {0};
  palyra_write(&assertion, PALYRA_TEXT("{\"subject\":"));
  palyra_write_string(&assertion, subject);
  palyra_write(&assertion, PALYRA_TEXT(",\"predicate\":\"pageStatus\",\"object\":"));
  palyra_write_number(&assertion, page.response.status);
  palyra_write(&assertion, PALYRA_TEXT("}"));
  palyra_text_result asserted = palyra_graph_assert(palyra_written(&assertion));
  if (asserted.failed) return failed(asserted.error);
  palyra_log(PALYRA_INFO, PALYRA_TEXT("the page was checked"));

  palyra_writer out = {0};
  palyra_write(&out, PALYRA_TEXT("{\"status\":"));
  palyra_write_number(&out, page.response.status);
  palyra_write(&out, PALYRA_TEXT(",\"first\":"));
  palyra_write(&out, before.failed ? PALYRA_TEXT("true") : PALYRA_TEXT("false"));
  palyra_write(&out, PALYRA_TEXT(",\"changed\":"));
  palyra_write(&out, changed ? PALYRA_TEXT("true") : PALYRA_TEXT("false"));
  palyra_write(&out, PALYRA_TEXT(",\"body\":"));
  palyra_write_string(&out, page.response.body);
  palyra_write(&out, PALYRA_TEXT("}"));
  return (palyra_answer){false, palyra_written(&out)};
}
