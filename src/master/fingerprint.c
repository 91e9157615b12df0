#include "master/fingerprint.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 400 };

static const char remedy[] = "unpack it with the model and settings it was packed with";
static const char sum_mark = '#'; /* first letter of a checksum */

static void put(yoke_pack *out, const char *value, const char *format, va_list arguments) {
  char label[LABEL];
  vsnprintf(label, sizeof label, format, arguments);
  yoke_pack_text(out, label);
  yoke_pack_text(out, value);
}

void yoke_fingerprint_text(yoke_pack *out, const char *value, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  put(out, value, format, arguments);
  va_end(arguments);
}

void yoke_fingerprint_number(yoke_pack *out, const char *label, double value) {
  char text[YOKE_SETTING_TEXT];
  yoke_setting_number_text(value, text, sizeof text);
  yoke_fingerprint_text(out, text, "%s", label);
}

void yoke_fingerprint_sum(yoke_pack *out, uint64_t sum, const char *format, ...) {
  char    text[24];
  va_list arguments;
  snprintf(text, sizeof text, "%c%016" PRIx64, sum_mark, sum);
  va_start(arguments, format);
  put(out, text, format, arguments);
  va_end(arguments);
}

void yoke_fingerprint_settings(yoke_pack *out, const yoke_setting_table *table, const char *path, const void *target) {
  for (int i = 0; i < table->n; ++i) {
    const yoke_setting *row = &table->rows[i];
    char                value[YOKE_SETTING_PATH];
    if (row->size == 0) continue; /* it fills nothing */
    yoke_setting_text(row, target, value, sizeof value);
    yoke_fingerprint_text(out, value, "%s.%s", path, row->key);
  }
}

yoke_status yoke_fingerprint_compare(const void *packed, size_t packed_size, const yoke_pack *own, yoke_context *ctx) {
  yoke_unpack then = {.bytes = packed, .size = packed_size}, now = {.bytes = own->bytes, .size = own->size};
  while (then.at < then.size && now.at < now.size) {
    const char *label[2], *value[2];
    label[0] = yoke_unpack_text(&then);
    value[0] = yoke_unpack_text(&then);
    label[1] = yoke_unpack_text(&now);
    value[1] = yoke_unpack_text(&now);
    YOKE_TRY(yoke_unpack_check(&then, ctx));
    if (strcmp(label[0], label[1]) != 0)
      return yoke_fail(ctx, YOKE_E_USAGE, "packed state: it has %s where this system has %s; %s", label[0], label[1],
                       remedy);
    if (strcmp(value[0], value[1]) == 0) continue;
    if (value[0][0] == sum_mark)
      return yoke_fail(ctx, YOKE_E_USAGE, "packed state: %s is not what it was; %s", label[0], remedy);
    return yoke_fail(ctx, YOKE_E_USAGE, "packed state: %s was %s, here it is %s; %s", label[0], value[0], value[1],
                     remedy);
  }
  if (then.at == then.size && now.at == now.size) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "packed state: it has %s parts and settings than this system; %s",
                   then.at < then.size ? "more" : "fewer", remedy);
}
