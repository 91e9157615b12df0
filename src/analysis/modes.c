#include "analysis/modes.h"

#include "linalg/lapack.h"
#include "analysis/whole_model.h"
#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double zero_share = 1e-7; /* eigenvalues and singular values below this share of the largest count as 0 */

void yoke_eigenmodes_release(yoke_eigenmodes *modes) {
  free(modes->modes);
  *modes = (yoke_eigenmodes){0};
}

typedef struct spectrum {
  yoke_context             *ctx;
  const yoke_model         *model;
  const yoke_multibody     *mb;
  const yoke_linearization *l;
  int                       n;
  double                   *re, *im, *vectors; /* [n], [n], [n, n] column major, as dgeev gives them */
  double                   *singular, *null;   /* [n], [n, n] column major: right singular vectors as rows */
  double                   *mass;              /* [nv] diagonal of M */
  double                   *shape;             /* [nv, 2] complex motion of the mode at hand */
} spectrum;

static yoke_status no_memory(const spectrum *s) {
  return yoke_out_of_memory(s->ctx, "the modes of %d states", s->n);
}

static yoke_status decompose(spectrum *s) {
  const size_t n = (size_t)s->n, n2 = n * n;
  double      *A = yoke_allocate(2 * n2 + 1, sizeof *A), *B = A + n2;
  if (A == NULL) return no_memory(s);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) A[j * n + i] = B[j * n + i] = s->l->A[i * n + j];
  }
  lapack_int info = lapack_dgeev('N', 'V', s->n, A, s->n, s->re, s->im, NULL, 1, s->vectors, s->n);
  if (info == 0) info = lapack_dgesvd('N', 'A', s->n, s->n, B, s->n, s->singular, NULL, 1, s->null, s->n);
  free(A);
  if (info == LAPACK_NO_MEMORY) return no_memory(s);
  return info == 0
             ? YOKE_OK
             : yoke_fail(s->ctx, YOKE_E_UNSTABLE, "the eigenvalues of model '%s' cannot be computed", s->model->name);
}

/* ---- shapes ---- */

/* Motion of the bodies for xi = (re, im) [n_freedoms each], im NULL: real. */
static void set_shape(const spectrum *s, const double *re, size_t stride, const double *im) {
  const size_t nf = (size_t)s->l->n_freedoms;
  for (int i = 0; i < s->l->nv; ++i) {
    double a = 0.0, b = 0.0;
    for (size_t j = 0; j < nf; ++j) {
      a += s->l->N[(size_t)i * nf + j] * re[j * stride];
      if (im != NULL) b += s->l->N[(size_t)i * nf + j] * im[j * stride];
    }
    s->shape[2 * i]     = a;
    s->shape[2 * i + 1] = b;
  }
}

static double energy_of(const spectrum *s, int i) {
  return s->mass[i] * (s->shape[2 * i] * s->shape[2 * i] + s->shape[2 * i + 1] * s->shape[2 * i + 1]);
}

/* The largest motions; each component of v is taken once. Parts below a thousandth of the largest are left out. */
static void describe(const spectrum *s, yoke_eigenmode *mode) {
  double first = 0.0, size = 1.0, phase = 0.0, before = (double)INFINITY;
  int    last = -1;
  for (mode->n_shape = 0; mode->n_shape < YOKE_EIGENMODE_SHAPE; ++mode->n_shape) {
    int    best   = -1;
    double energy = 0.0;
    for (int i = 0; i < s->l->nv; ++i) { /* next in the order of energy, then of number */
      const double e = energy_of(s, i);
      if ((e < before || (e == before && i > last)) && e > energy) {
        best   = i;
        energy = e;
      }
    }
    if (best < 0 || energy < 1e-6 * first) return;
    yoke_eigenmotion *motion = &mode->shape[mode->n_shape];
    const double      re = s->shape[2 * best], im = s->shape[2 * best + 1];
    if (mode->n_shape == 0) {
      first = energy;
      size  = hypot(re, im);
      phase = atan2(im, re);
    }
    yoke_multibody_freedom_name(s->model, s->mb, best, false, motion->name, sizeof motion->name);
    motion->amplitude = hypot(re, im) / size;
    motion->phase     = remainder(atan2(im, re) - phase, 2.0 * M_PI);
    if (motion->phase <= -M_PI) motion->phase = M_PI;
    before = energy;
    last   = best;
  }
}

/* ---- modes ---- */

static void add_mode(const spectrum *s, double re, double im, yoke_eigenmode_kind kind, yoke_eigenmodes *out) {
  const double    size = hypot(re, im);
  yoke_eigenmode *mode = &out->modes[out->n++];
  *mode                = (yoke_eigenmode){.kind = kind, .re = re, .im = im, .frequency = size / (2.0 * M_PI)};
  if (kind != YOKE_EIGENMODE_RIGID && size > 0.0) mode->damping = -re / size;
  describe(s, mode);
}

static int slower(const void *a, const void *b) {
  const yoke_eigenmode *x = a, *y = b;
  if ((x->kind == YOKE_EIGENMODE_RIGID) != (y->kind == YOKE_EIGENMODE_RIGID))
    return x->kind == YOKE_EIGENMODE_RIGID ? -1 : 1;
  if (x->frequency != y->frequency) return x->frequency < y->frequency ? -1 : 1;
  return x->re < y->re ? -1 : x->re > y->re;
}

/* Null space first, then all eigenvalues that are not 0. A double eigenvalue 0 that is not a rest of the null space (free motion at
 * constant velocity) comes out of rounding as a pair of the size of its root. */
static void collect(const spectrum *s, yoke_eigenmodes *out) {
  const size_t n       = (size_t)s->n;
  double       fastest = 0.0;
  for (size_t i = 0; i < n; ++i) fastest = fmax(fastest, hypot(s->re[i], s->im[i]));
  int n_rigid = 0;
  for (size_t k = 0; k < n; ++k) {
    if (s->singular[k] > zero_share * fmin(1.0, s->singular[0])) continue;
    set_shape(s, s->null + k, n, NULL);
    add_mode(s, 0.0, 0.0, YOKE_EIGENMODE_RIGID, out);
    ++n_rigid;
  }
  const double smallest = n_rigid > 0 ? fmax(zero_share * fastest, 1e-6) : zero_share * fastest;
  for (size_t k = 0; k < n; ++k) {
    const double re = s->re[k], im = s->im[k], size = hypot(re, im);
    if (im < 0.0 || size <= smallest) continue;
    set_shape(s, s->vectors + k * n, 1, im > 0.0 ? s->vectors + (k + 1) * n : NULL);
    const bool          grows = re > zero_share * fastest;
    yoke_eigenmode_kind kind  = im > 0.0 ? YOKE_EIGENMODE_OSCILLATION : YOKE_EIGENMODE_DECAY;
    if (grows) kind = im > 0.0 ? YOKE_EIGENMODE_FLUTTER : YOKE_EIGENMODE_GROWTH;
    add_mode(s, re, im, kind, out);
  }
  qsort(out->modes, (size_t)out->n, sizeof *out->modes, slower);
}

yoke_status yoke_eigenmodes_of(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb,
                               const yoke_linearization *l, yoke_eigenmodes *out) {
  const size_t n = (size_t)l->n_x, nv = (size_t)l->nv;
  spectrum     s     = {.ctx = ctx, .model = model, .mb = mb, .l = l, .n = l->n_x};
  *out               = (yoke_eigenmodes){.n_freedoms = l->n_freedoms};
  yoke_arena arena   = {0};
  s.re               = yoke_arena_take(&arena, n, sizeof *s.re);
  s.im               = yoke_arena_take(&arena, n, sizeof *s.im);
  s.singular         = yoke_arena_take(&arena, n, sizeof *s.singular);
  s.vectors          = yoke_arena_take(&arena, n * n, sizeof *s.vectors);
  s.null             = yoke_arena_take(&arena, n * n, sizeof *s.null);
  s.mass             = yoke_arena_take(&arena, nv, sizeof *s.mass);
  s.shape            = yoke_arena_take(&arena, 2 * nv, sizeof *s.shape);
  double *unit       = yoke_arena_take(&arena, nv, sizeof *unit); /* shape serves as room for M e_i */
  out->modes         = yoke_allocate(2 * n + 1, sizeof *out->modes);
  yoke_status status = arena.has_failed || out->modes == NULL ? no_memory(&s) : YOKE_OK;
  if (status == YOKE_OK && n > 0) {
    for (size_t i = 0; i < nv; ++i) {
      unit[i] = 1.0;
      yoke_multibody_mass_apply(mb, unit, s.shape);
      s.mass[i] = s.shape[i];
      unit[i]   = 0.0;
    }
    status = decompose(&s);
    if (status == YOKE_OK) collect(&s, out);
  }
  yoke_arena_free(&arena);
  if (status != YOKE_OK) yoke_eigenmodes_release(out);
  return status;
}
