/* Spectrum: eigenvalues of small dense non-symmetric matrices. */
#ifndef YOKE_ANALYSIS_SPECTRUM_H
#define YOKE_ANALYSIS_SPECTRUM_H

#include <yoke/status.h>

enum { YOKE_SPECTRUM_SMALL = 72 }; /* up to here nothing is allocated */

/* Largest |eigenvalue| of the [n, n] row-major matrix, which is not changed. Reentrant. YOKE_NON_FINITE: an entry is not finite;
 * YOKE_NOT_CONVERGED: the iteration failed; YOKE_E_MEMORY. */
yoke_status yoke_spectral_radius(int n, const double *matrix, double *rho);

/* All eigenvalues, re and im have room for n; pairs are neighbours, the one with im > 0 first. */
yoke_status yoke_eigenvalues(int n, const double *matrix, double *re, double *im);

/* The eigenvalue of largest magnitude and its right eigenvector: largest component 1. `size` [n] are the magnitudes of the components.
 * re, im, size may be NULL. Of a pair the one with im > 0. */
yoke_status yoke_dominant_mode(int n, const double *matrix, double *rho, double *re, double *im, double *size);

#endif
