#include "linalg/condense.h"
#include <stdlib.h>

struct yoke_condense {
  yoke_arena    arena;
  int           m, n_small;      /* rows that go, rows that stay */
  int          *diagonal, *side; /* [m] where D and E lie in the values */
  int          *start;           /* [n_small + 1] rows of B in the three below */
  int          *stiff;           /* [n_stiff] where B lies in the values */
  int          *col;             /* [n_stiff] */
  int          *to;              /* [n_stiff] the entry of the condensed matrix that it changes */
  int           n_rest;
  int          *rest, *rest_to; /* [n_rest] entries of C in the values, and in the condensed matrix */
  yoke_pattern *pattern;
};

static bool fits(const yoke_pattern *p, int m) {
  int n_diagonal = 0, n_side = 0;
  if (m < 1 || 2 * m > p->n_cols) return false;
  for (int j = 0; j < p->n_cols; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1] && p->row[k] < m; ++k) {
      if (p->row[k] != j && p->row[k] + m != j) return false;
      if (p->row[k] == j) ++n_diagonal;
      if (p->row[k] + m == j) ++n_side;
    }
  }
  return n_diagonal == m && n_side == m;
}

static bool take(yoke_condense *c, const yoke_pattern *p) {
  const size_t m = (size_t)c->m, nnz = (size_t)p->nnz + 1;
  c->diagonal = yoke_arena_take(&c->arena, m, sizeof *c->diagonal);
  c->side     = yoke_arena_take(&c->arena, m, sizeof *c->side);
  c->start    = yoke_arena_take(&c->arena, (size_t)c->n_small + 2, sizeof *c->start);
  c->stiff    = yoke_arena_take(&c->arena, nnz, sizeof *c->stiff);
  c->col      = yoke_arena_take(&c->arena, nnz, sizeof *c->col);
  c->to       = yoke_arena_take(&c->arena, nnz, sizeof *c->to);
  c->rest     = yoke_arena_take(&c->arena, nnz, sizeof *c->rest);
  c->rest_to  = yoke_arena_take(&c->arena, nnz, sizeof *c->rest_to);
  return !c->arena.has_failed;
}

/* Entries of the rows that stay, by columns: those of B, then those of C; row and column in the condensed matrix. Returns how many of B. */
static int list_entries(yoke_condense *c, const yoke_pattern *p, int *at, int *row, int *col) {
  const int m = c->m;
  int       n = 0, n_stiff = 0;
  for (int j = 0; j < p->n_cols; ++j) {
    if (j == m) n_stiff = n;
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      const int i = p->row[k];
      if (i < m) {
        *(i == j ? &c->diagonal[i] : &c->side[i]) = k;
      } else {
        at[n]    = k;
        row[n]   = i - m;
        col[n++] = j < m ? j : j - m;
      }
    }
  }
  c->n_rest = n - n_stiff;
  return n_stiff;
}

static yoke_status map_entries(yoke_context *ctx, const yoke_pattern *p, yoke_condense *c) {
  yoke_arena work = {0};
  int       *list[4]; /* entries of the whole matrix, rows, columns, entries of the condensed one */
  for (int i = 0; i < 4; ++i) list[i] = yoke_arena_take(&work, (size_t)p->nnz + 1, sizeof **list);
  yoke_status status = YOKE_OK;
  if (!take(c, p) || work.has_failed)
    status = yoke_out_of_memory(ctx, "a condensed matrix (%d rows)", c->n_small);
  else {
    const int  n_stiff = list_entries(c, p, list[0], list[1], list[2]);
    const int *at = list[0], *row = list[1], *col = list[2], *to = list[3];
    status = yoke_pattern_create(ctx, c->n_small, c->n_small, n_stiff + c->n_rest, row, col, list[3], &c->pattern);
    /* B by rows: start[i + 1] runs over row i while it is filled */
    int *start = c->start + 1;
    for (int k = 0; k < n_stiff; ++k) ++start[row[k] + 1];
    for (int i = 0; i < c->n_small; ++i) start[i + 1] += start[i];
    for (int k = 0; k < n_stiff && status == YOKE_OK; ++k) {
      const int place = start[row[k]]++;
      c->stiff[place] = at[k];
      c->col[place]   = col[k];
      c->to[place]    = to[k];
    }
    for (int k = 0; k < c->n_rest && status == YOKE_OK; ++k) {
      c->rest[k]    = at[n_stiff + k];
      c->rest_to[k] = to[n_stiff + k];
    }
  }
  yoke_arena_free(&work);
  return status;
}

yoke_status yoke_condense_create(yoke_context *ctx, const yoke_pattern *pattern, int m, yoke_condense **out) {
  *out = NULL;
  if (!fits(pattern, m)) return YOKE_OK;
  yoke_condense *c = yoke_allocate(1, sizeof *c);
  if (c == NULL) return yoke_out_of_memory(ctx, "a condensed matrix");
  c->arena                 = yoke_arena_of(ctx);
  c->m                     = m;
  c->n_small               = pattern->n_cols - m;
  const yoke_status status = map_entries(ctx, pattern, c);
  if (status != YOKE_OK) {
    yoke_condense_destroy(&c);
    return status;
  }
  *out = c;
  return YOKE_OK;
}

void yoke_condense_destroy(yoke_condense **condense) {
  if (condense == NULL || *condense == NULL) return;
  yoke_pattern_destroy(&(*condense)->pattern);
  yoke_arena_free(&(*condense)->arena);
  free(*condense);
  *condense = NULL;
}

int yoke_condense_n(const yoke_condense *condense) {
  return condense->m;
}

const yoke_pattern *yoke_condense_pattern(const yoke_condense *condense) {
  return condense->pattern;
}

size_t yoke_condense_n_kept(const yoke_condense *condense, bool is_complex) {
  const size_t m = (size_t)condense->m;
  return (is_complex ? 2 : 1) * (2 * m + (size_t)condense->start[condense->n_small]);
}

/* ---- real ---- */

static void make_real(const yoke_condense *c, const double *a, double *small, double *kept) {
  const int m    = c->m;
  double   *over = kept, *ratio = kept + m, *B = kept + 2 * (size_t)m; /* 1 / d, e / d */
  for (int k = 0; k < c->pattern->nnz; ++k) small[k] = 0.0;
  for (int k = 0; k < c->n_rest; ++k) small[c->rest_to[k]] = a[c->rest[k]];
  for (int i = 0; i < m; ++i) {
    over[i]  = 1.0 / a[c->diagonal[i]];
    ratio[i] = a[c->side[i]] * over[i];
  }
  for (int k = 0; k < c->start[c->n_small]; ++k) {
    B[k] = a[c->stiff[k]];
    small[c->to[k]] -= B[k] * ratio[c->col[k]];
  }
}

static void right_real(const yoke_condense *c, const double *kept, double *x) {
  const int     m    = c->m;
  const double *over = kept, *B = kept + 2 * (size_t)m;
  double       *s = x + m;
  for (int i = 0; i < m; ++i) x[i] *= over[i];
  for (int i = 0, k = 0; i < c->n_small; ++i) {
    double sum = s[i];
    for (; k < c->start[i + 1]; ++k) sum -= B[k] * x[c->col[k]];
    s[i] = sum;
  }
}

/* ---- complex: `kept` holds pairs ---- */

static void make_complex(const yoke_condense *c, const double *re, const double *im, double *small_re, double *small_im,
                         double *kept) {
  const int m    = c->m;
  double   *over = kept, *ratio = kept + 2 * (size_t)m, *B = kept + 4 * (size_t)m;
  for (int k = 0; k < c->pattern->nnz; ++k) small_re[k] = small_im[k] = 0.0;
  for (int k = 0; k < c->n_rest; ++k) {
    small_re[c->rest_to[k]] = re[c->rest[k]];
    small_im[c->rest_to[k]] = im[c->rest[k]];
  }
  for (int i = 0; i < m; ++i) {
    const double a = re[c->diagonal[i]], b = im[c->diagonal[i]], size = a * a + b * b;
    const double e = re[c->side[i]], f = im[c->side[i]];
    double      *o = over + 2 * (size_t)i, *r = ratio + 2 * (size_t)i;
    o[0] = a / size;
    o[1] = -b / size;
    r[0] = e * o[0] - f * o[1];
    r[1] = e * o[1] + f * o[0];
  }
  for (int k = 0; k < c->start[c->n_small]; ++k) {
    const double *r = ratio + 2 * (size_t)c->col[k];
    double       *b = B + 2 * (size_t)k;
    b[0]            = re[c->stiff[k]];
    b[1]            = im[c->stiff[k]];
    small_re[c->to[k]] -= b[0] * r[0] - b[1] * r[1];
    small_im[c->to[k]] -= b[0] * r[1] + b[1] * r[0];
  }
}

static void right_complex(const yoke_condense *c, const double *kept, double *re, double *im) {
  const int     m    = c->m;
  const double *over = kept, *B = kept + 4 * (size_t)m;
  for (int i = 0; i < m; ++i) {
    const double *o = over + 2 * (size_t)i;
    const double  x = re[i] * o[0] - im[i] * o[1];
    im[i]           = re[i] * o[1] + im[i] * o[0];
    re[i]           = x;
  }
  for (int i = 0, k = 0; i < c->n_small; ++i) {
    double x = re[m + i], y = im[m + i];
    for (; k < c->start[i + 1]; ++k) {
      const double *b    = B + 2 * (size_t)k;
      const double  q_re = re[c->col[k]], q_im = im[c->col[k]];
      x -= b[0] * q_re - b[1] * q_im;
      y -= b[0] * q_im + b[1] * q_re;
    }
    re[m + i] = x;
    im[m + i] = y;
  }
}

/* ---- either ---- */

void yoke_condense_make(const yoke_condense *condense, const double *re, const double *im, double *small_re,
                        double *small_im, double *kept) {
  if (im == NULL)
    make_real(condense, re, small_re, kept);
  else
    make_complex(condense, re, im, small_re, small_im, kept);
}

void yoke_condense_right(const yoke_condense *condense, const double *kept, double *re, double *im) {
  if (im == NULL)
    right_real(condense, kept, re);
  else
    right_complex(condense, kept, re, im);
}

void yoke_condense_expand(const yoke_condense *condense, const double *kept, double *re, double *im) {
  const int m = condense->m;
  if (im == NULL) {
    for (int i = 0; i < m; ++i) re[i] -= kept[m + i] * re[m + i];
    return;
  }
  for (int i = 0; i < m; ++i) {
    const double *r = kept + 2 * (size_t)(m + i);
    const double  x = re[m + i], y = im[m + i];
    re[i] -= r[0] * x - r[1] * y;
    im[i] -= r[0] * y + r[1] * x;
  }
}
