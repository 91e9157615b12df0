/* BLAS on one thread: its sums depend on the number of threads, and our matrices are too small to gain from it. */
#ifndef YOKE_BASE_BLAS_H
#define YOKE_BASE_BLAS_H

#include <stddef.h>

/* Of the whole process, for OpenBLAS, MKL and BLIS, whichever is loaded; others have no threads. Cheap when it is so already;
 * from any thread. */
void yoke_blas_use_one_thread(void);

/* Library, version and kernel at work: "OpenBLAS 0.3.21 Haswell"; "": not known. */
void yoke_blas_describe(char *text, size_t size);

#endif
