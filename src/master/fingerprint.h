/* Fingerprint: what must be the same where packed bytes are to go on, as pairs of texts, label and value, in a pack. The first pair that
 * differs can be named. */
#ifndef YOKE_MASTER_FINGERPRINT_H
#define YOKE_MASTER_FINGERPRINT_H

#include "base/pack.h"
#include "base/setting.h"

/* `value` of what the label says. */
void yoke_fingerprint_text(yoke_pack *out, const char *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void yoke_fingerprint_number(yoke_pack *out, const char *label, double value);
/* A checksum, which messages do not show. */
void yoke_fingerprint_sum(yoke_pack *out, uint64_t sum, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* All members of `target` that the rows of a table fill; labels are their keys below `path`. */
void yoke_fingerprint_settings(yoke_pack *out, const yoke_setting_table *table, const char *path, const void *target);

/* YOKE_E_USAGE: a message names the first label whose value is another one. */
yoke_status yoke_fingerprint_compare(const void *packed, size_t packed_size, const yoke_pack *own, yoke_context *ctx);

#endif
