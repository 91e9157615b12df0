/* Pack: what an object is at this moment as bytes, to go on from in another process.
 *
 * Writing appends values in a fixed order; reading asks for the same values in the same order:
 *
 *   yoke_pack pack = {0};                            yoke_unpack in;
 *   yoke_pack_begin(&pack);                          YOKE_TRY(yoke_unpack_begin(&in, bytes, size, ctx));
 *   yoke_pack_tag(&pack, "thing");                   yoke_unpack_tag(&in, "thing");
 *   yoke_pack_double(&pack, thing->t);               const double t = yoke_unpack_double(&in);
 *   yoke_pack_doubles(&pack, n, thing->mass);        yoke_unpack_doubles(&in, n, mass);
 *   YOKE_TRY(yoke_pack_end(&pack, ctx));             YOKE_TRY(yoke_unpack_end(&in, ctx));
 *   ... pack.bytes, pack.size ...
 *   yoke_pack_free(&pack);
 *
 * Objects write between begin and end of their owner. Both sides remember the first failure (memory; damage), so an object asks
 * once: behind a failure reading gives zeros and empty texts, and writing does nothing.
 *
 * Invariants:
 *   1. No pointers: a pack means the same in every process of the same version on machines of the same byte order. Numbers are
 *      little-endian; plain blocks (yoke_pack_block) are the memory of the machine, which the head names.
 *   2. Nothing is read beyond the end, whatever the bytes say: every count is checked against the count that the reader expects
 *      or against the bytes that are left. A checksum over all bytes tells damage before anything is read. */
#ifndef YOKE_BASE_PACK_H
#define YOKE_BASE_PACK_H

#include <yoke/context.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FNV-1a, begun with YOKE_CHECKSUM_START: a change of any single byte always shows. */
#define YOKE_CHECKSUM_START 0xcbf29ce484222325u
uint64_t yoke_checksum(uint64_t sum, const void *bytes, size_t size);

typedef struct yoke_pack { /* {0}: empty */
  unsigned char *bytes;
  size_t         size, capacity;
  bool           has_failed; /* out of memory */
} yoke_pack;

void        yoke_pack_begin(yoke_pack *pack); /* empties it; its memory is used again */
yoke_status yoke_pack_end(yoke_pack *pack, yoke_context *ctx);
void        yoke_pack_free(yoke_pack *pack);

void yoke_pack_tag(yoke_pack *pack, const char *tag); /* a text that the reader expects */
void yoke_pack_int32(yoke_pack *pack, int32_t x);
void yoke_pack_int64(yoke_pack *pack, int64_t x);
void yoke_pack_double(yoke_pack *pack, double x);
void yoke_pack_bool(yoke_pack *pack, bool x);
void yoke_pack_text(yoke_pack *pack, const char *text);
void yoke_pack_int32s(yoke_pack *pack, size_t n, const int32_t *x);
void yoke_pack_doubles(yoke_pack *pack, size_t n, const double *x);
void yoke_pack_block(yoke_pack *pack, size_t size, const void *block); /* without pointers */

/* What another pack holds from `bytes` on, as it is. */
void yoke_pack_append(yoke_pack *pack, size_t size, const void *bytes);

typedef struct yoke_unpack {
  const unsigned char *bytes;
  size_t               size, at; /* `size` without the checksum */
  const char          *failure;  /* first one; NULL: none */
  size_t               failed_at;
} yoke_unpack;

/* `bytes` are kept. YOKE_E_IO: damaged or not a pack; YOKE_E_UNSUPPORTED: of another version or byte order. */
yoke_status yoke_unpack_begin(yoke_unpack *in, const void *bytes, size_t size, yoke_context *ctx);
yoke_status yoke_unpack_check(const yoke_unpack *in, yoke_context *ctx); /* YOKE_E_IO after a failure */
yoke_status yoke_unpack_end(yoke_unpack *in, yoke_context *ctx);         /* the same, and all must have been read */

/* What was read makes no sense; `failure` (kept) says why. Only the first failure counts. */
void yoke_unpack_refuse(yoke_unpack *in, const char *failure);

/* What blocks that were read as they are may hold: a count that is not negative and far from overflow; a bool that is one. */
bool yoke_is_count(int64_t x);
bool yoke_is_bool(const bool *x);

void        yoke_unpack_tag(yoke_unpack *in, const char *tag);
int32_t     yoke_unpack_int32(yoke_unpack *in);
int64_t     yoke_unpack_int64(yoke_unpack *in);
double      yoke_unpack_double(yoke_unpack *in);
bool        yoke_unpack_bool(yoke_unpack *in);
const char *yoke_unpack_text(yoke_unpack *in);                         /* lies in the bytes; never NULL */
void        yoke_unpack_int32s(yoke_unpack *in, size_t n, int32_t *x); /* n must be the count that was written */
void        yoke_unpack_doubles(yoke_unpack *in, size_t n, double *x);
const void *yoke_unpack_block(yoke_unpack *in, size_t size); /* lies in the bytes, not aligned; NULL after a failure */

#endif
