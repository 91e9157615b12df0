#include "integrate/bridge.h"

#include "integrate/integrator.h"
#include <math.h>

bool yoke_bridge_attempt(int k, double rtol, yoke_bridge *out) {
  static const double share[] = {1.0, 0.7, 1.4, 0.5};
  enum { N_SHARES = sizeof share / sizeof *share };
  const double least = yoke_singular_rtol(rtol), most = yoke_singular_rtol(fmax(rtol, 1.0e-5));
  const int    round = k / N_SHARES;
  if (k < 0 || (round > 0 && least * pow(10.0, round - 1) >= most)) return false;
  *out = (yoke_bridge){share[k % N_SHARES], fmin(least * pow(10.0, round), most)};
  return true;
}
