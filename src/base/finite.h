/* Are n numbers finite? */
#ifndef YOKE_BASE_FINITE_H
#define YOKE_BASE_FINITE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Without branches, so that compilers take several at a time: one more in an exponent of all ones carries into the bit above. */
static inline bool yoke_all_finite(int n, const double *x) {
  const uint64_t exponent = UINT64_C(0x7ff0000000000000), one = UINT64_C(0x0010000000000000);
  uint64_t       carry = 0;
  for (int i = 0; i < n; ++i) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    carry |= (bits & exponent) + one;
  }
  return carry >> 63 == 0;
}

#endif
