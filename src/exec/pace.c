#include "exec/pace.h"

#include <math.h>

/* Work of a stretch [s]: in the end longer than what a scheduler gives at a time; the first one is that of some short lists, so that a run that is
 * over soon is decided too, and each next one twice as long. */
static const double first_stretch = 6e-4, longest_stretch = 5e-3;
static const double clearly_pays = 0.8; /* wall / work that one thread does not reach */
static const double hopeless     = 4.0; /* a stretch that is behind by this factor ends early */
enum { FIRST_REST = 4, LONGEST_REST = 4096, LONGEST_TRUST = 64 };

static int longer(int n, int most) {
  return n == 0 ? FIRST_REST : n < most ? 2 * n : n;
}

static double present_stretch(const yoke_pace *p) {
  return fmax(first_stretch, p->stretch);
}

static void begin(yoke_pace *p, bool is_alone) {
  p->stretch  = fmin(longest_stretch, 2.0 * present_stretch(p));
  p->is_alone = is_alone;
  p->work = p->wall = 0.0;
}

static void end_together(yoke_pace *p, double ratio) {
  const bool pays = ratio < clearly_pays;
  p->together     = ratio;
  if (pays) p->n_rest = 0;
  if (!pays && p->n_left > 0) --p->n_left;
  begin(p, !pays && p->n_left == 0); /* alone, to compare */
}

/* The comparison with the stretch together before, or one of a rest. */
static void end_alone(yoke_pace *p, double ratio) {
  if (p->n_left > 0) {
    begin(p, --p->n_left > 0);
    return;
  }
  const bool is_beaten = ratio <= p->together;
  p->n_defeats += is_beaten;
  p->n_rest  = is_beaten ? longer(p->n_rest, LONGEST_REST) : 0;
  p->n_trust = is_beaten ? 0 : longer(p->n_trust, LONGEST_TRUST);
  p->n_left  = is_beaten ? p->n_rest : p->n_trust;
  begin(p, is_beaten);
}

void yoke_pace_note(yoke_pace *p, double work, double wall) {
  p->work += work;
  p->wall += wall;
  const double length  = present_stretch(p);
  const bool   is_lost = !p->is_alone && p->wall > hopeless * length && p->wall > hopeless * p->work;
  if (p->work < length && !is_lost) return;
  const double ratio = p->wall / p->work;
  if (p->is_alone)
    end_alone(p, ratio);
  else
    end_together(p, ratio);
}
