#include "analysis/spectrum.h"

#include "linalg/lapack.h"
#include "analysis/francis.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  WORK = 8, /* numbers of workspace per row and column */
  OWN  = 32 /* up to here our own iteration is faster than LAPACK: 2.5 times for n = 6, 1.6 times here */
};

static yoke_status check_finite(int n, const double *matrix) {
  double sum = 0.0; /* inf and nan stay, whatever is added */
  for (int i = 0; i < n * n; ++i) sum += matrix[i] * 0.0;
  return sum == 0.0 ? YOKE_OK : YOKE_NON_FINITE;
}

/* Room for what the solver overwrites: the stack up to YOKE_SPECTRUM_SMALL, else the heap. */
typedef struct room {
  double  small[YOKE_SPECTRUM_SMALL * (2 * YOKE_SPECTRUM_SMALL + WORK)];
  double *matrix, *vectors, *work;
  double *heap;
} room;

static yoke_status room_open(room *r, int n, int with_vectors) {
  const size_t size = (size_t)n * (size_t)n, vectors = with_vectors ? size : 0, all = size + vectors + WORK * (size_t)n;
  r->heap = NULL;
  if (n > YOKE_SPECTRUM_SMALL) {
    r->heap = malloc(all * sizeof *r->heap);
    if (r->heap == NULL) return YOKE_E_MEMORY;
  }
  r->matrix  = r->heap != NULL ? r->heap : r->small;
  r->vectors = r->matrix + size;
  r->work    = r->vectors + vectors;
  return YOKE_OK;
}

/* LAPACK sees columns where we have rows: the transposed matrix, whose eigenvalues are the same and whose left eigenvectors w,
 * w^H M^T = s w^H, are the conjugates of ours. `vectors` may be NULL. */
static yoke_status solve(int n, const double *matrix, room *r, double *re, double *im, double *vectors) {
  memcpy(r->matrix, matrix, (size_t)n * (size_t)n * sizeof *matrix);
  const lapack_int info = lapack_dgeev_work(vectors != NULL ? 'V' : 'N', 'N', n, r->matrix, n, re, im, vectors, n, NULL,
                                            n, r->work, WORK * n);
  return info == 0 ? YOKE_OK : info > 0 ? YOKE_NOT_CONVERGED : YOKE_E_INTERNAL;
}

yoke_status yoke_eigenvalues(int n, const double *matrix, double *re, double *im) {
  room r;
  if (n < 1) return n == 0 ? YOKE_OK : YOKE_E_INTERNAL;
  YOKE_TRY(check_finite(n, matrix));
  YOKE_TRY(room_open(&r, n, 0));
  yoke_status status = YOKE_NOT_CONVERGED;
  if (n <= OWN) {
    memcpy(r.matrix, matrix, (size_t)n * (size_t)n * sizeof *matrix);
    status = yoke_francis(n, r.matrix, re, im);
  }
  if (status != YOKE_OK) status = solve(n, matrix, &r, re, im, NULL);
  free(r.heap);
  return status;
}

static int largest(int n, const double *re, const double *im) {
  int    at   = 0;
  double most = -1.0;
  for (int i = 0; i < n; ++i) {
    const double size = hypot(re[i], im[i]);
    if (size > most) {
      most = size;
      at   = i;
    }
  }
  return at;
}

yoke_status yoke_spectral_radius(int n, const double *matrix, double *rho) {
  double  small[2 * YOKE_SPECTRUM_SMALL], *re = small;
  double *heap = NULL;
  *rho         = 0.0;
  if (n < 1) return n == 0 ? YOKE_OK : YOKE_E_INTERNAL;
  if (n > YOKE_SPECTRUM_SMALL) {
    heap = malloc(2 * (size_t)n * sizeof *heap);
    if (heap == NULL) return YOKE_E_MEMORY;
    re = heap;
  }
  const yoke_status status = yoke_eigenvalues(n, matrix, re, re + n);
  if (status == YOKE_OK) {
    const int at = largest(n, re, re + n);
    *rho         = hypot(re[at], re[n + at]);
  }
  free(heap);
  return status;
}

/* Magnitudes of the components of eigenvector `at`, largest 1; a pair is stored as real and imaginary part in two columns. */
static void sizes(int n, int at, const double *im, const double *vectors, double *size) {
  const double *real = vectors + (size_t)at * (size_t)n, *imag = im[at] > 0.0 ? real + n : NULL;
  double        most = 0.0;
  for (int i = 0; i < n; ++i) {
    size[i] = imag != NULL ? hypot(real[i], imag[i]) : fabs(real[i]);
    most    = fmax(most, size[i]);
  }
  for (int i = 0; i < n && most > 0.0; ++i) size[i] /= most;
}

yoke_status yoke_dominant_mode(int n, const double *matrix, double *rho, double *re, double *im, double *size) {
  if (n < 1) return YOKE_E_INTERNAL;
  room r;
  YOKE_TRY(check_finite(n, matrix));
  YOKE_TRY(room_open(&r, n, 1));
  double     *eigen  = malloc(2 * (size_t)n * sizeof *eigen);
  yoke_status status = eigen != NULL ? solve(n, matrix, &r, eigen, eigen + n, r.vectors) : YOKE_E_MEMORY;
  if (status == YOKE_OK) {
    const int at = largest(n, eigen, eigen + n); /* of a pair the first, which has im > 0 */
    *rho         = hypot(eigen[at], eigen[n + at]);
    if (re != NULL) *re = eigen[at];
    if (im != NULL) *im = eigen[n + at];
    if (size != NULL) sizes(n, at, eigen + n, r.vectors, size);
  }
  free(eigen);
  free(r.heap);
  return status;
}
