#!/bin/sh
# A formulation is one .c file and one line in the list: a copy of the tree gets both and nothing else, is built, and must show the new
# word in `yoke help formulations`, run with it, and find it in the matrix test. Its own parameter, declared in that file alone, must be in
# help, read from a model file and from --set, checked, echoed in results, and told of where another formulation is in force.
# Usage: new_formulation.sh SOURCE_FOLDER CMAKE C_COMPILER
set -eu
source=$1 cmake=$2 compiler=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

mkdir "$folder/tree"
for part in CMakeLists.txt include src cli packaging examples tests; do cp -R "$source/$part" "$folder/tree/"; done

# The new file: the constitutive formulation under another name, every question passed on; it has a parameter.
cat > "$folder/tree/src/coupling/relabelled.c" <<'CODE'
/* Relabelled: the constitutive formulation under another name. Its parameter `swell` must not exceed 2. */
#include "coupling/formulation.h"
#include <string.h>

extern const yoke_formulation_ops constitutive_ops, relabelled_ops;

typedef struct relabelled_settings {
  double swell;
} relabelled_settings;

static const yoke_setting own_rows[] = {
    {.key = "swell", .type = YOKE_SETTING_POSITIVE, .unit = "s", .standard = {0.25}, .help = "a parameter that was added by a test",
     YOKE_SETTING_AT(relabelled_settings, swell)},
};

static yoke_status relabelled_check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme, int order) {
  YOKE_OWN_SETTINGS(relabelled_settings, own, def->settings);
  if (own.swell > 2.0) return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': swell is %g, expected at most 2", def->name, own.swell);
  return constitutive_ops.check(ctx, def, scheme, order);
}
static yoke_status relabelled_create(yoke_context *ctx, const yoke_coupling_def *def, void **self) {
  return constitutive_ops.create(ctx, def, self);
}
static void relabelled_destroy(void *self) {
  constitutive_ops.destroy(self);
}
static const yoke_channel *relabelled_channels(const void *self, int *n) {
  return constitutive_ops.channels(self, n);
}
static void relabelled_layout(const void *self, int channel, int degree, yoke_layout *out) {
  constitutive_ops.layout(self, channel, degree, out);
}
static int relabelled_n_conditions(const void *self) {
  return constitutive_ops.n_conditions(self);
}
static void relabelled_residual(const void *self, const yoke_coupling_view *view, double *c) {
  constitutive_ops.residual(self, view, c);
}
static void relabelled_jacobian(const void *self, const yoke_coupling_view *view, double *du, double *du_dot,
                                double *du_integral, double *dy1, double *dy2) {
  constitutive_ops.jacobian(self, view, du, du_dot, du_integral, dy1, dy2);
}
static void relabelled_update(const void *self, double t, const double *y1, const double *y2, const double *now, double *u,
                              yoke_arena *scratch) {
  constitutive_ops.update(self, t, y1, y2, now, u, scratch);
}
static int relabelled_n_rows(const void *self) {
  return constitutive_ops.shown->n_rows(self);
}
static void relabelled_values(const void *self, double t, const double *u, const double *const y[2],
                              double *const force[2], double *g, yoke_arena *scratch) {
  constitutive_ops.shown->values(self, t, u, y, force, g, scratch);
}
static void relabelled_energy(const void *self, double t, const double *const y[2], double *stored, double *lost, yoke_arena *scratch) {
  constitutive_ops.shown->energy(self, t, y, stored, lost, scratch);
}
static const yoke_shown_form relabelled_shown = {
    .n_rows = relabelled_n_rows, .values = relabelled_values, .energy = relabelled_energy};

const yoke_formulation_ops relabelled_ops = {
    .name         = "relabelled",
    .summary      = "a formulation that was added by a test",
    .settings     = {YOKE_SETTING_ROWS(own_rows)},
    .check        = relabelled_check,
    .create       = relabelled_create,
    .destroy      = relabelled_destroy,
    .channels     = relabelled_channels,
    .layout       = relabelled_layout,
    .n_conditions = relabelled_n_conditions,
    .residual     = relabelled_residual,
    .jacobian     = relabelled_jacobian,
    .update       = relabelled_update,
    .shown        = &relabelled_shown,
};
CODE
echo 'X(relabelled_ops)' >> "$folder/tree/src/coupling/formulation_list.def"

"$cmake" -S "$folder/tree" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$compiler" -DYOKE_BUILD_BENCH=OFF \
  > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$cmake" --build "$folder/build" --parallel 2 --target yoke cosimulation_matrix > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }

cd "$folder/tree"
yoke=$folder/build/yoke
"$yoke" help formulations | grep -q relabelled || { echo "help does not know the formulation"; exit 1; }

for word in constitutive relabelled; do
  "$yoke" run examples/two-mass.yaml --set cosimulation.couplings.formulation=$word --csv "$folder/$word.csv" > "$folder/log" 2>&1 ||
    { cat "$folder/log"; exit 1; }
done
cmp "$folder/constitutive.csv" "$folder/relabelled.csv" || { echo "the formulation gives other results"; exit 1; }


# The parameter.
fail() { echo "$1"; cat "$folder/log"; exit 1; }
swell=cosimulation.couplings.swell
run() { "$yoke" run "$@" > "$folder/log" 2>&1; }
"$yoke" help settings > "$folder/log"
grep -q "^$swell$" "$folder/log" || fail "help settings does not know the parameter"
"$yoke" help settings relabelled > "$folder/log"
grep -q "a number > 0 \[s\]; default: 0.25" "$folder/log" || fail "help of the formulation does not describe the parameter"

cp examples/two-mass.yaml "$folder/model.yaml"
method="--set cosimulation.couplings.formulation=relabelled"
run "$folder/model.yaml" $method --set $swell="700 ms" -o "$folder/a.h5" || fail "--set of the parameter"
grep -q "no effect" "$folder/log" && fail "the parameter is called idle under its own formulation"
"$yoke" info "$folder/a.h5" > "$folder/log"
grep -q "formulation: relabelled.*swell: 0.7" "$folder/log" || fail "the result does not hold the parameter"
run "$folder/model.yaml" $method -o "$folder/b.h5" || fail "the parameter has no default"
"$yoke" info "$folder/b.h5" > "$folder/log"
grep -q "swell: 0.25" "$folder/log" || fail "the result does not hold the default of the parameter"

"$yoke" info "$folder/a.h5" --model > "$folder/again.yaml"
run "$folder/again.yaml" -o "$folder/c.h5" || fail "the parameter in a model file"
"$yoke" info "$folder/c.h5" > "$folder/log"
grep -q "swell: 0.7" "$folder/log" || fail "the parameter is not read from the model file"

run "$folder/model.yaml" $method --set $swell=3 && fail "the formulation does not see its parameter"
grep -q "swell is 3" "$folder/log" || fail "the formulation does not see the value"
run "$folder/model.yaml" $method --set $swell=-1 && fail "a bad value is taken"
grep -q "key '$swell'" "$folder/log" || fail "a bad value is not named by its key"
run "$folder/model.yaml" $method --set cosimulation.couplings.swel=1 && fail "a misspelt parameter is taken"
grep -q "did you mean 'swell'" "$folder/log" || fail "no hint to the parameter"
run "$folder/model.yaml" --set $swell=1 || fail "another formulation"
grep -q "key '$swell' has no effect: only formulation relabelled reads it" "$folder/log" || fail "not told of as idle"

"$folder/build/bin/cosimulation_matrix" > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
for scheme in explicit semi-implicit implicit waveform; do
  grep -q "formulation relabelled under scheme $scheme: [1-9]" "$folder/log" ||
    { echo "the matrix has not run the formulation under $scheme"; exit 1; }
done
echo "help, run, results and matrix know the formulation and its parameter"
