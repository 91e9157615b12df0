#!/bin/sh
# A subsystem kind is one .c file; a plan names its `make`, and no list of the library has to know it. A copy of the tree gets the file and one
# line in the list of the tests of kinds, nothing else; the new kind must take the place of a native part and keep the contract.
# Usage: new_subsystem.sh SOURCE_FOLDER CMAKE C_COMPILER
set -eu
source=$1 cmake=$2 compiler=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

mkdir "$folder/tree"
for part in CMakeLists.txt include src cli packaging examples tests; do cp -R "$source/$part" "$folder/tree/"; done

# The new file: a mass on a spring and a damper, by the implicit midpoint rule. It can be repeated and nothing else.
cat > "$folder/tree/src/subsystem/midpoint_mass.c" <<'CODE'
/* Mass of 2 kg on a spring of 1000 N/m and a damper of 10 N s/m. */
#include "subsystem/subsystem.h"

#include <string.h>

enum { STEPS = 800 };

typedef struct mass_state {
  double t, x, v, integral;
} mass_state;

yoke_status make_midpoint_mass(yoke_context *ctx, const void *definition, yoke_subsystem **out);

static yoke_status mass_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                              yoke_context *ctx) {
  (void)s, (void)scratch, (void)u, (void)ctx;
  *(mass_state *)state = (mass_state){.t = t, .v = -100.0};
  return YOKE_OK;
}

static yoke_status mass_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                             yoke_step_request *request, yoke_context *ctx) {
  mass_state *m = state;
  (void)s, (void)scratch, (void)ctx;
  while (m->t < request->t_end) {
    const double a = m->t, b = fmin(yoke_signal_next_break(u, a), request->t_end), h = (b - a) / STEPS;
    for (int i = 0; i < STEPS; ++i) {
      double force;
      yoke_signal_value(u, a + ((double)i + 0.5) * h, YOKE_SIDE_LEFT, 0, &force);
      /* v_m = v + h/2 (f - c (x + h/2 v_m) - d v_m) / m */
      const double g = 0.5 * h / 2.0, v = (m->v + g * (force - 1000.0 * m->x)) / (1.0 + g * (10.0 + 500.0 * h));
      m->integral += h * (m->x + 0.5 * h * v);
      m->x += h * v;
      m->v = 2.0 * v - m->v;
    }
    m->t = b;
  }
  return YOKE_OK;
}

static yoke_status mass_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                               yoke_side side, double *y) {
  const mass_state *m = state;
  double            force;
  (void)s, (void)scratch;
  yoke_signal_value(u, m->t, side, 0, &force);
  y[0] = m->x;
  y[1] = m->v;
  y[2] = (force - 1000.0 * m->x - 10.0 * m->v) / 2.0;
  y[3] = m->integral;
  return YOKE_OK;
}

static void mass_accept(const yoke_subsystem *s, void *state) {
  (void)s;
  ((mass_state *)state)->integral = 0.0;
}

static yoke_status mass_copy(const yoke_subsystem *s, void *dst, const void *src) {
  (void)s;
  memcpy(dst, src, sizeof(mass_state));
  return YOKE_OK;
}

static const yoke_repeat_ops    repeat = {.copy = mass_copy};
static const yoke_subsystem_ops ops    = {.kind    = "midpoint-mass",
                                          .destroy = yoke_subsystem_free,
                                          .start   = mass_start,
                                          .step    = mass_step,
                                          .output  = mass_output,
                                          .accept  = mass_accept,
                                          .repeat  = &repeat};

yoke_status make_midpoint_mass(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  (void)definition;
  YOKE_TRY(yoke_subsystem_new(ctx, "midpoint-mass", sizeof(yoke_port), out));
  yoke_subsystem *s    = *out;
  yoke_port      *port = s->self;
  *port = (yoke_port){.name = "end", .shape = &yoke_shape_line, .n_y = 4, .takes = YOKE_TAKES_WRENCH, .wrench_at = 0};
  s->ops        = &ops;
  s->nu         = 1;
  s->ny         = 4;
  s->n_ports    = 1;
  s->ports      = port;
  s->state_size = sizeof(mass_state);
  return YOKE_OK;
}
CODE
echo 'X(make_midpoint_mass)' >> "$folder/tree/tests/subsystem/kind_list.def"

"$cmake" -S "$folder/tree" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$compiler" -DYOKE_BUILD_BENCH=OFF \
  > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$cmake" --build "$folder/build" --parallel 2 --target subsystem_kinds > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }

cd "$folder/tree"
known=$(grep -c '^X(' "$source/tests/subsystem/kind_list.def")
"$folder/build/bin/subsystem_kinds" > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
grep -q "kinds: $((known + 1))$" "$folder/log" || { echo "the new kind was not tested"; cat "$folder/log"; exit 1; }
echo "the kind takes the place of a native part and keeps the contract"
