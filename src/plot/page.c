#include "plot/page.h"

#include "base/memory.h"
#include "base/output_file.h"
#include "plot/dots.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_in(const char *path, const char *end) {
  const size_t n = strlen(path), k = strlen(end);
  return n > k && strcmp(path + n - k, end) == 0;
}

yoke_status yoke_page_check(yoke_context *ctx, const char *path) {
  if (ends_in(path, ".svg") || ends_in(path, ".html")) return YOKE_OK;
  if (ends_in(path, ".png")) return yoke_dots_check(ctx, path);
  return yoke_fail(ctx, YOKE_E_USAGE, "the picture '%s' ends in neither .svg nor .html nor .png", path);
}

yoke_status yoke_page_write(yoke_context *ctx, const char *path, const char *svg) {
  static const char *const page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                                  "<title>yoke</title><style>body{margin:1em}svg{max-width:100%%;height:auto}</style>"
                                  "</head>\n<body>\n%s</body></html>\n";
  if (svg != NULL && ends_in(path, ".png")) return yoke_dots_write(ctx, path, svg);
  if (svg != NULL && !ends_in(path, ".html")) return yoke_output_file_write_text(ctx, path, svg);
  const char  *body = svg != NULL ? strstr(svg, "<svg") : NULL; /* without the line that says it is XML */
  const size_t size = body != NULL ? strlen(page) + strlen(body) + 1 : 1;
  char        *text = yoke_allocate(size, 1);
  if (body == NULL || text == NULL) {
    free(text);
    return yoke_out_of_memory(ctx, "the picture '%s'", path);
  }
  snprintf(text, size, page, body);
  const yoke_status status = yoke_output_file_write_text(ctx, path, text);
  free(text);
  return status;
}
