/* Signal: n scalar inputs over one span of time, each a piecewise polynomial on common pieces.
 * Piece p covers [t[p], t[p+1]]; component i there is
 *   u_i(s) = sum_k c[(p n + i) (degree + 1) + k] s^k,   s = time - t[p].
 * Before t[0] the first, after t[n_pieces] the last piece is continued. Interior t[p] are break
 * points: integrators stop there. At a break point `yoke_signal_value` takes the piece that ends
 * there (left limit) or starts there, as `side` says. */
#ifndef YOKE_SIGNAL_H
#define YOKE_SIGNAL_H

#include <yoke/export.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the signals that the couplings make. */
enum { YOKE_SIGNAL_MAX_DEGREE = 7 };

typedef struct yoke_signal {
  int           n;        /* components; 0 is a valid signal */
  int           n_pieces; /* >= 1 */
  int           degree;   /* >= 0, common to all components */
  const double *t;        /* [n_pieces + 1], increasing [s] */
  const double *c;        /* [n_pieces, n, degree + 1], row major */
} yoke_signal;

typedef enum yoke_side { YOKE_SIDE_LEFT, YOKE_SIDE_RIGHT } yoke_side;

/* u [n] at `time`; the derivative with respect to time if `derivative` is 1, and so on. */
YOKE_API void yoke_signal_value(const yoke_signal *signal, double time, yoke_side side, int derivative, double *u);

/* Integral of every component from `from` to `to`, [n]. */
YOKE_API void yoke_signal_integral(const yoke_signal *signal, double from, double to, double *integral);

/* The first break point strictly after `time`, or +infinity. */
YOKE_API double yoke_signal_next_break(const yoke_signal *signal, double time);

/* The signal without inputs. */
YOKE_API extern const yoke_signal yoke_signal_none;

#ifdef __cplusplus
}
#endif
#endif
