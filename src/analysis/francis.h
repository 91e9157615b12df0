/* Francis: all eigenvalues of a small dense matrix by the double-shift QR iteration, without allocation or global state. */
#ifndef YOKE_ANALYSIS_FRANCIS_H
#define YOKE_ANALYSIS_FRANCIS_H

#include <yoke/status.h>

/* A [n, n] row major is overwritten; finite entries. Pairs are neighbours, the one with im > 0 first. YOKE_NOT_CONVERGED: 30 n iterations were not
 * enough (never seen). */
yoke_status yoke_francis(int n, double *A, double *re, double *im);

#endif
