/* Layout: "yokepack", version of the program (text), byte order (a plain block), number of bytes in all, what the objects wrote,
 * checksum over all of it. A text is its length and its bytes with the 0; arrays and blocks begin with their count. */
#include "base/pack.h"
#include "base/memory.h"
#include <yoke/version.h>
#include <stdlib.h>
#include <string.h>

static const char     MAGIC[8]   = {'y', 'o', 'k', 'e', 'p', 'a', 'c', 'k'};
static const uint64_t HOST_ORDER = 0x0102030405060708u;

enum { WORD = 8 };

uint64_t yoke_checksum(uint64_t sum, const void *bytes, size_t size) {
  const unsigned char *byte = bytes;
  for (size_t i = 0; i < size; ++i) sum = (sum ^ byte[i]) * 0x100000001b3u;
  return sum;
}

static void encode(uint64_t x, size_t size, unsigned char *to) {
  for (size_t i = 0; i < size; ++i) to[i] = (unsigned char)(x >> (8 * i));
}

static uint64_t decode(const unsigned char *from, size_t size) {
  uint64_t x = 0;
  for (size_t i = 0; i < size; ++i) x |= (uint64_t)from[i] << (8 * i);
  return x;
}

/* ---- writing ---- */

/* Room for n entries of `size` bytes behind what was written; NULL: out of memory. */
static unsigned char *extend(yoke_pack *pack, size_t n, size_t size) {
  const bool fits = n <= (SIZE_MAX - pack->size) / size;
  if (!fits || !yoke_grow(&pack->bytes, &pack->capacity, pack->size + n * size, 1)) pack->has_failed = true;
  if (pack->has_failed) return NULL;
  unsigned char *to = pack->bytes + pack->size;
  pack->size += n * size;
  return to;
}

static void put(yoke_pack *pack, uint64_t x, size_t size) {
  unsigned char *to = extend(pack, 1, size);
  if (to != NULL) encode(x, size, to);
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

void yoke_pack_int32(yoke_pack *pack, int32_t x) {
  put(pack, (uint32_t)x, 4);
}
void yoke_pack_int64(yoke_pack *pack, int64_t x) {
  put(pack, (uint64_t)x, WORD);
}
void yoke_pack_double(yoke_pack *pack, double x) {
  put(pack, bits_of(x), WORD);
}
void yoke_pack_bool(yoke_pack *pack, bool x) {
  put(pack, x, 1);
}

void yoke_pack_append(yoke_pack *pack, size_t size, const void *bytes) {
  unsigned char *to = extend(pack, size, 1);
  if (to != NULL && size > 0) memcpy(to, bytes, size);
}

void yoke_pack_block(yoke_pack *pack, size_t size, const void *block) {
  put(pack, size, WORD);
  yoke_pack_append(pack, size, block);
}

void yoke_pack_text(yoke_pack *pack, const char *text) {
  yoke_pack_block(pack, strlen(text) + 1, text);
}
void yoke_pack_tag(yoke_pack *pack, const char *tag) {
  yoke_pack_text(pack, tag);
}

void yoke_pack_int32s(yoke_pack *pack, size_t n, const int32_t *x) {
  put(pack, n, WORD);
  unsigned char *to = extend(pack, n, 4);
  for (size_t i = 0; to != NULL && i < n; ++i) encode((uint32_t)x[i], 4, to + 4 * i);
}

void yoke_pack_doubles(yoke_pack *pack, size_t n, const double *x) {
  put(pack, n, WORD);
  unsigned char *to = extend(pack, n, WORD);
  for (size_t i = 0; to != NULL && i < n; ++i) encode(bits_of(x[i]), WORD, to + WORD * i);
}

/* Where the number of bytes in all stands. */
static size_t total_at(void) {
  return sizeof MAGIC + WORD + sizeof YOKE_VERSION + WORD + sizeof HOST_ORDER;
}

void yoke_pack_begin(yoke_pack *pack) {
  pack->size          = 0;
  pack->has_failed    = false;
  unsigned char *head = extend(pack, sizeof MAGIC, 1);
  if (head != NULL) memcpy(head, MAGIC, sizeof MAGIC);
  yoke_pack_text(pack, YOKE_VERSION);
  yoke_pack_block(pack, sizeof HOST_ORDER, &HOST_ORDER);
  yoke_pack_int64(pack, 0);
}

yoke_status yoke_pack_end(yoke_pack *pack, yoke_context *ctx) {
  if (pack->has_failed) return yoke_out_of_memory(ctx, "a packed state (%zu bytes so far)", pack->size);
  encode(pack->size + WORD, WORD, pack->bytes + total_at());
  put(pack, yoke_checksum(YOKE_CHECKSUM_START, pack->bytes, pack->size), WORD);
  return pack->has_failed ? yoke_out_of_memory(ctx, "a packed state (%zu bytes)", pack->size) : YOKE_OK;
}

void yoke_pack_free(yoke_pack *pack) {
  free(pack->bytes);
  *pack = (yoke_pack){0};
}

/* ---- reading ---- */

void yoke_unpack_refuse(yoke_unpack *in, const char *failure) {
  if (in->failure != NULL) return;
  in->failure   = failure;
  in->failed_at = in->at;
}

bool yoke_is_count(int64_t x) {
  return x >= 0 && x < INT32_MAX / 2;
}

bool yoke_is_bool(const bool *x) {
  unsigned char byte;
  memcpy(&byte, x, 1);
  return byte <= 1;
}

/* The next `size` bytes; NULL: there are not so many, or reading has failed before. */
static const unsigned char *take(yoke_unpack *in, size_t size) {
  if (in->failure == NULL && size > in->size - in->at) yoke_unpack_refuse(in, "it ends too early");
  if (in->failure != NULL) return NULL;
  const unsigned char *from = in->bytes + in->at;
  in->at += size;
  return from;
}

static uint64_t get(yoke_unpack *in, size_t size) {
  const unsigned char *from = take(in, size);
  return from != NULL ? decode(from, size) : 0;
}

static double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* `n` entries of `size` bytes, as many as the pack says. */
static const unsigned char *take_counted(yoke_unpack *in, size_t n, size_t size) {
  const uint64_t count = get(in, WORD);
  if (in->failure == NULL && count != n) yoke_unpack_refuse(in, "a count is not the one expected");
  if (in->failure == NULL && n > (in->size - in->at) / size) yoke_unpack_refuse(in, "it ends too early");
  return take(in, in->failure == NULL ? n * size : 0);
}

int32_t yoke_unpack_int32(yoke_unpack *in) {
  return (int32_t)(uint32_t)get(in, 4);
}
int64_t yoke_unpack_int64(yoke_unpack *in) {
  return (int64_t)get(in, WORD);
}
double yoke_unpack_double(yoke_unpack *in) {
  return double_of(get(in, WORD));
}

bool yoke_unpack_bool(yoke_unpack *in) {
  const uint64_t x = get(in, 1);
  if (x > 1) yoke_unpack_refuse(in, "a value is neither true nor false");
  return x == 1;
}

const void *yoke_unpack_block(yoke_unpack *in, size_t size) {
  return take_counted(in, size, 1);
}

const char *yoke_unpack_text(yoke_unpack *in) {
  const uint64_t size = get(in, WORD);
  if (in->failure == NULL && (size == 0 || size > in->size - in->at)) yoke_unpack_refuse(in, "a text has no end");
  const unsigned char *from = take(in, in->failure == NULL ? (size_t)size : 0);
  if (from != NULL && memchr(from, 0, (size_t)size) != from + size - 1) yoke_unpack_refuse(in, "a text has no end");
  return in->failure == NULL ? (const char *)from : "";
}

void yoke_unpack_tag(yoke_unpack *in, const char *tag) {
  if (strcmp(yoke_unpack_text(in), tag) != 0) yoke_unpack_refuse(in, "a part is not the one expected");
}

void yoke_unpack_int32s(yoke_unpack *in, size_t n, int32_t *x) {
  const unsigned char *from = take_counted(in, n, 4);
  for (size_t i = 0; i < n; ++i) x[i] = from != NULL ? (int32_t)(uint32_t)decode(from + 4 * i, 4) : 0;
}

void yoke_unpack_doubles(yoke_unpack *in, size_t n, double *x) {
  const unsigned char *from = take_counted(in, n, WORD);
  for (size_t i = 0; i < n; ++i) x[i] = from != NULL ? double_of(decode(from + WORD * i, WORD)) : 0.0;
}

yoke_status yoke_unpack_check(const yoke_unpack *in, yoke_context *ctx) {
  if (in->failure == NULL) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_IO, "packed state (%zu bytes): damaged at byte %zu: %s", in->size + WORD, in->failed_at,
                   in->failure);
}

yoke_status yoke_unpack_begin(yoke_unpack *in, const void *bytes, size_t size, yoke_context *ctx) {
  *in                        = (yoke_unpack){.bytes = bytes, .size = size < WORD ? 0 : size - WORD};
  const unsigned char *magic = take(in, sizeof MAGIC);
  if (magic == NULL || memcmp(magic, MAGIC, sizeof MAGIC) != 0) {
    return yoke_fail(ctx, YOKE_E_IO, "these %zu bytes are not a packed state", size);
  }
  if (yoke_checksum(YOKE_CHECKSUM_START, in->bytes, in->size) != decode(in->bytes + in->size, WORD)) {
    return yoke_fail(ctx, YOKE_E_IO, "packed state (%zu bytes): damaged or cut off, its checksum is wrong", size);
  }
  const char *version = yoke_unpack_text(in);
  if (in->failure == NULL && strcmp(version, YOKE_VERSION) != 0) {
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "packed state: written by version '%s', this is %s", version,
                     YOKE_VERSION);
  }
  const void *order = yoke_unpack_block(in, sizeof HOST_ORDER);
  if (order != NULL && memcmp(order, &HOST_ORDER, sizeof HOST_ORDER) != 0) {
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "packed state: written by a machine of another byte order");
  }
  if (yoke_unpack_int64(in) != (int64_t)size) yoke_unpack_refuse(in, "its length is not the one written");
  return yoke_unpack_check(in, ctx);
}

yoke_status yoke_unpack_end(yoke_unpack *in, yoke_context *ctx) {
  if (in->at != in->size) yoke_unpack_refuse(in, "it holds more than was expected");
  return yoke_unpack_check(in, ctx);
}
