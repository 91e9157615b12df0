/* Samples of what takes long. By hand a test program runs whole. `make test` leaves out long tests and takes a share of large matrices, more
 * so under sanitizers (tests/CMakeLists.txt has the numbers); `make verify` runs all of it (YOKE_WHOLE=1), `make
 * test-quick` as little as under sanitizers (YOKE_QUICK=1). */
#ifndef YOKE_TESTS_SAMPLE_H
#define YOKE_TESTS_SAMPLE_H

/* A test of many combinations runs every nth of them, from the first on: n of YOKE_STRIDE; 1 without. */
int sample_stride(void);

/* The same under sanitizers; elsewhere all of them run. */
int sample_stride_sanitized(void);

#endif
