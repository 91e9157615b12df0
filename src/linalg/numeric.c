/* A column of L or U lies in the room of its block as `length` row numbers, filled up to whole entries, then `length` entries;
 * row numbers count from the start of the block. Blocks of one row have no room, only their pivot. */
#include "linalg/numeric.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entries that `length` row numbers take. */
static size_t index_room(int length, size_t entry) {
  return ((size_t)length * sizeof(int) + entry - 1) / entry;
}

static char *column(void *block, int at, size_t entry) {
  return (char *)block + (size_t)at * entry;
}

/* ---- memory ---- */

/* Every array is made by klu_malloc so that klu_free_numeric takes it; blocks have no room yet. klu_malloc leaves a failure in
 * common->status. */
static klu_numeric *numeric_create(int n, int n_blocks, int n_off, size_t work, bool has_scale, size_t entry,
                                   klu_common *common) {
  const size_t rows    = (size_t)n;
  klu_numeric *numeric = klu_malloc(1, sizeof *numeric, common);
  if (numeric == NULL) return NULL;
  *numeric     = (klu_numeric){.n = n, .nblocks = n_blocks, .nzoff = n_off, .worksize = work};
  int **ints[] = {&numeric->Pnum, &numeric->Pinv, &numeric->Lip, &numeric->Uip, &numeric->Llen, &numeric->Ulen};
  for (size_t i = 0; i < sizeof ints / sizeof ints[0]; ++i) *ints[i] = klu_malloc(rows, sizeof(int), common);
  numeric->Offp   = klu_malloc(rows + 1, sizeof(int), common);
  numeric->Offi   = klu_malloc((size_t)n_off + 1, sizeof(int), common);
  numeric->Offx   = klu_malloc((size_t)n_off + 1, entry, common);
  numeric->Udiag  = klu_malloc(rows, entry, common);
  numeric->Rs     = has_scale ? klu_malloc(rows, sizeof(double), common) : NULL;
  numeric->LUsize = klu_malloc((size_t)n_blocks, sizeof(size_t), common);
  numeric->LUbx   = klu_malloc((size_t)n_blocks, sizeof(void *), common);
  numeric->Work   = klu_malloc(work, 1, common);
  numeric->Xwork  = numeric->Work;
  numeric->Iwork  = numeric->Work != NULL ? (int *)(void *)((char *)numeric->Work + rows * entry) : NULL;
  for (int b = 0; numeric->LUbx != NULL && b < n_blocks; ++b) numeric->LUbx[b] = NULL;
  for (int b = 0; numeric->LUsize != NULL && b < n_blocks; ++b) numeric->LUsize[b] = 0;
  if (common->status != KLU_OK) yoke_numeric_free(&numeric, entry, common);
  return numeric;
}

/* Room for L and U of block b. False: out of memory. */
static bool block_create(klu_numeric *numeric, int b, size_t room, size_t entry, klu_common *common) {
  numeric->LUbx[b]   = klu_malloc(room, entry, common);
  numeric->LUsize[b] = numeric->LUbx[b] != NULL ? room : 0;
  return numeric->LUbx[b] != NULL;
}

void yoke_numeric_free(klu_numeric **numeric, size_t entry, const klu_common *settings) {
  klu_common common = *settings;
  if (*numeric == NULL) return;
  if (entry > sizeof(double)) {
    klu_z_free_numeric(numeric, &common);
  } else {
    klu_free_numeric(numeric, &common);
  }
}

bool yoke_numeric_assign(klu_numeric *to, const klu_numeric *from, size_t entry) {
  const size_t n = (size_t)from->n;
  if (to->n != from->n || to->nblocks != from->nblocks || to->nzoff != from->nzoff || to->worksize != from->worksize ||
      (to->Rs == NULL) != (from->Rs == NULL)) {
    return false;
  }
  for (int b = 0; b < from->nblocks; ++b) {
    if ((to->LUbx[b] == NULL) != (from->LUbx[b] == NULL)) return false;
    if (from->LUbx[b] != NULL && to->LUsize[b] != from->LUsize[b]) return false;
  }
  memcpy(to->Pnum, from->Pnum, n * sizeof(int));
  memcpy(to->Pinv, from->Pinv, n * sizeof(int));
  memcpy(to->Lip, from->Lip, n * sizeof(int));
  memcpy(to->Uip, from->Uip, n * sizeof(int));
  memcpy(to->Llen, from->Llen, n * sizeof(int));
  memcpy(to->Ulen, from->Ulen, n * sizeof(int));
  memcpy(to->Offp, from->Offp, (n + 1) * sizeof(int));
  memcpy(to->Offi, from->Offi, (size_t)from->nzoff * sizeof(int));
  for (int b = 0; b < from->nblocks; ++b) {
    if (from->LUbx[b] != NULL) memcpy(to->LUbx[b], from->LUbx[b], from->LUsize[b] * entry);
  }
  to->lnz           = from->lnz;
  to->unz           = from->unz;
  to->max_lnz_block = from->max_lnz_block;
  to->max_unz_block = from->max_unz_block;
  return true;
}

klu_numeric *yoke_numeric_clone(const klu_numeric *from, size_t entry, const klu_common *settings) {
  klu_common   common = *settings;
  klu_numeric *numeric =
      numeric_create(from->n, from->nblocks, from->nzoff, from->worksize, from->Rs != NULL, entry, &common);
  if (numeric == NULL) return NULL;
  bool is_complete = true;
  for (int b = 0; is_complete && b < from->nblocks; ++b) {
    if (from->LUbx[b] != NULL) is_complete = block_create(numeric, b, from->LUsize[b], entry, &common);
  }
  if (!is_complete || !yoke_numeric_assign(numeric, from, entry)) yoke_numeric_free(&numeric, entry, settings);
  return numeric;
}

/* ---- growth ---- */

/* Largest |x| (complex: |re| + |im|) of n entries and of `largest`; a NaN stays. */
static double largest_entry(const double *x, size_t n, bool is_complex, double largest) {
  const size_t parts = is_complex ? 2 : 1;
  for (size_t i = 0; i < n; ++i) {
    const double size = is_complex ? fabs(x[parts * i]) + fabs(x[parts * i + 1]) : fabs(x[i]);
    if (!(size <= largest)) largest = size;
  }
  return largest;
}

double yoke_numeric_growth(const klu_symbolic *symbolic, const klu_numeric *numeric, size_t entry) {
  const bool    is_complex = entry > sizeof(double);
  const size_t  parts      = entry / sizeof(double);
  const double *pivot      = numeric->Udiag;
  double        largest    = 0.0;
  for (int k = 0; k < numeric->n; ++k) {
    const double size = largest_entry(pivot + parts * (size_t)k, 1, is_complex, 0.0);
    if (!(size > 0.0) || !isfinite(size)) return (double)INFINITY;
    if (size > largest) largest = size;
  }
  for (int b = 0; b < numeric->nblocks; ++b) {
    const double *block = numeric->LUbx[b];
    if (block == NULL) continue;
    for (int k = symbolic->R[b]; k < symbolic->R[b + 1]; ++k) {
      const double *u = block + parts * ((size_t)numeric->Uip[k] + index_room(numeric->Ulen[k], entry));
      largest         = largest_entry(u, (size_t)numeric->Ulen[k], is_complex, largest);
    }
  }
  return isfinite(largest) ? largest : (double)INFINITY;
}

/* ---- bytes ---- */

static void pack_column(const void *block, int at, int length, size_t entry, yoke_pack *pack) {
  const char *index = (const char *)block + (size_t)at * entry, *values = index + index_room(length, entry) * entry;
  yoke_pack_int32s(pack, (size_t)length, (const int *)(const void *)index);
  yoke_pack_doubles(pack, (size_t)length * (entry / sizeof(double)), (const double *)(const void *)values);
}

void yoke_numeric_pack(const klu_symbolic *symbolic, const klu_numeric *numeric, size_t entry, yoke_pack *pack) {
  const size_t n = (size_t)numeric->n, n_off = (size_t)numeric->nzoff, parts = entry / sizeof(double);
  const int    counts[] = {numeric->lnz, numeric->unz, numeric->max_lnz_block, numeric->max_unz_block};
  yoke_pack_int32s(pack, 4, counts);
  yoke_pack_int32s(pack, n, numeric->Pnum);
  for (int b = 0; b < numeric->nblocks; ++b) {
    const int first = symbolic->R[b], n_rows = symbolic->R[b + 1] - first;
    if (n_rows == 1) continue;
    yoke_pack_int32s(pack, (size_t)n_rows, numeric->Llen + first);
    yoke_pack_int32s(pack, (size_t)n_rows, numeric->Ulen + first);
    for (int k = first; k < first + n_rows; ++k) {
      pack_column(numeric->LUbx[b], numeric->Lip[k], numeric->Llen[k], entry, pack);
      pack_column(numeric->LUbx[b], numeric->Uip[k], numeric->Ulen[k], entry, pack);
    }
  }
  yoke_pack_doubles(pack, parts * n, numeric->Udiag);
  yoke_pack_bool(pack, numeric->Rs != NULL);
  if (numeric->Rs != NULL) yoke_pack_doubles(pack, n, numeric->Rs);
  yoke_pack_int32s(pack, n + 1, numeric->Offp);
  yoke_pack_int32s(pack, n_off, numeric->Offi);
  yoke_pack_doubles(pack, parts * n_off, numeric->Offx);
}

static bool all_within(size_t n, const int *x, int limit) {
  for (size_t i = 0; i < n; ++i) {
    if (x[i] < 0 || x[i] >= limit) return false;
  }
  return true;
}

/* Pivot rows and their inverse: every row once, within the block that the ordering put it into. Lip serves as scratch. */
static void unpack_pivots(const klu_symbolic *symbolic, klu_numeric *numeric, yoke_unpack *in) {
  const int n        = numeric->n;
  int      *block_of = numeric->Lip;
  yoke_unpack_int32s(in, (size_t)n, numeric->Pnum);
  for (int b = 0; b < numeric->nblocks; ++b) {
    for (int k = symbolic->R[b]; k < symbolic->R[b + 1]; ++k) block_of[symbolic->P[k]] = b;
  }
  for (int i = 0; i < n; ++i) numeric->Pinv[i] = -1;
  for (int b = 0; b < numeric->nblocks; ++b) {
    for (int k = symbolic->R[b]; k < symbolic->R[b + 1]; ++k) {
      const int row = numeric->Pnum[k];
      if (row < 0 || row >= n || numeric->Pinv[row] >= 0 || block_of[row] != b) {
        yoke_unpack_refuse(in, "the pivots are not an order of the rows");
        return;
      }
      numeric->Pinv[row] = k;
    }
  }
}

static void unpack_column(klu_numeric *numeric, int b, int at, int length, int n_rows, size_t entry, yoke_unpack *in) {
  char *index  = column(numeric->LUbx[b], at, entry);
  char *values = index + index_room(length, entry) * entry;
  yoke_unpack_int32s(in, (size_t)length, (int *)(void *)index);
  yoke_unpack_doubles(in, (size_t)length * (entry / sizeof(double)), (double *)(void *)values);
  if (!all_within((size_t)length, (const int *)(const void *)index, n_rows)) {
    yoke_unpack_refuse(in, "a row number is outside of its block");
  }
}

/* L and U of block b, columns one behind the other as KLU lays them out. False: out of memory. */
static bool unpack_block(const klu_symbolic *symbolic, klu_numeric *numeric, int b, size_t entry, klu_common *common,
                         yoke_unpack *in) {
  const int  first = symbolic->R[b], n_rows = symbolic->R[b + 1] - first;
  int *const L = numeric->Llen + first, *const U = numeric->Ulen + first;
  size_t room = 0;
  if (n_rows == 1) {
    L[0] = U[0] = numeric->Lip[first] = numeric->Uip[first] = 0;
    return true;
  }
  yoke_unpack_int32s(in, (size_t)n_rows, L);
  yoke_unpack_int32s(in, (size_t)n_rows, U);
  if (!all_within((size_t)n_rows, L, n_rows) || !all_within((size_t)n_rows, U, n_rows)) {
    yoke_unpack_refuse(in, "a column is longer than its block");
    return true;
  }
  for (int k = 0; k < n_rows; ++k) {
    numeric->Lip[first + k] = (int)room;
    room += index_room(L[k], entry) + (size_t)L[k];
    numeric->Uip[first + k] = (int)room;
    room += index_room(U[k], entry) + (size_t)U[k];
    if (room > INT32_MAX || room > in->size - in->at) {
      yoke_unpack_refuse(in, "a column is longer than what is left");
      return true;
    }
  }
  if (!block_create(numeric, b, room, entry, common)) return false;
  for (int k = first; k < first + n_rows && in->failure == NULL; ++k) {
    unpack_column(numeric, b, numeric->Lip[k], numeric->Llen[k], n_rows, entry, in);
    unpack_column(numeric, b, numeric->Uip[k], numeric->Ulen[k], n_rows, entry, in);
  }
  return true;
}

/* Entries above the diagonal blocks. */
static void unpack_above(klu_numeric *numeric, size_t entry, yoke_unpack *in) {
  const size_t n = (size_t)numeric->n, n_off = (size_t)numeric->nzoff;
  yoke_unpack_int32s(in, n + 1, numeric->Offp);
  yoke_unpack_int32s(in, n_off, numeric->Offi);
  yoke_unpack_doubles(in, n_off * (entry / sizeof(double)), numeric->Offx);
  bool is_sound =
      numeric->Offp[0] == 0 && numeric->Offp[n] == numeric->nzoff && all_within(n_off, numeric->Offi, numeric->n);
  for (size_t k = 0; k < n; ++k) is_sound = is_sound && numeric->Offp[k] <= numeric->Offp[k + 1];
  if (!is_sound) yoke_unpack_refuse(in, "the entries above the blocks are out of place");
}

klu_numeric *yoke_numeric_unpack(const klu_symbolic *symbolic, size_t entry, const klu_common *settings,
                                 yoke_unpack *in) {
  klu_common   common = *settings;
  const size_t n = (size_t)symbolic->n, parts = entry / sizeof(double);
  /* as klu_factor: n entries to solve with, and the larger of 3 n entries and 6 ints per row of the largest block */
  const size_t ints = 6 * (size_t)symbolic->maxblock * sizeof(int),
               work = n * entry + (3 * n * entry > ints ? 3 * n * entry : ints);
  klu_numeric *numeric =
      numeric_create(symbolic->n, symbolic->nblocks, symbolic->nzoff, work, settings->scale > 0, entry, &common);
  if (numeric == NULL) return NULL;
  int counts[4];
  yoke_unpack_int32s(in, 4, counts);
  numeric->lnz           = counts[0];
  numeric->unz           = counts[1];
  numeric->max_lnz_block = counts[2];
  numeric->max_unz_block = counts[3];
  unpack_pivots(symbolic, numeric, in);
  bool has_memory = true;
  for (int b = 0; b < numeric->nblocks && has_memory && in->failure == NULL; ++b) {
    has_memory = unpack_block(symbolic, numeric, b, entry, &common, in);
  }
  yoke_unpack_doubles(in, parts * n, numeric->Udiag);
  if (yoke_unpack_bool(in) != (numeric->Rs != NULL)) yoke_unpack_refuse(in, "rows are scaled in another way");
  if (numeric->Rs != NULL) yoke_unpack_doubles(in, n, numeric->Rs);
  unpack_above(numeric, entry, in);
  if (!has_memory || in->failure != NULL) yoke_numeric_free(&numeric, entry, settings);
  return numeric;
}
