#!/bin/sh
# A formulation is one .c file and one line in the list: a copy of the tree gets both and nothing else, is built, and must show the new
# word in `yoke help formulations`, run with it, and find it in the matrix test.
# Usage: new_formulation.sh SOURCE_FOLDER CMAKE C_COMPILER
set -eu
source=$1 cmake=$2 compiler=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

mkdir "$folder/tree"
for part in CMakeLists.txt include src cli examples tests; do cp -R "$source/$part" "$folder/tree/"; done

# The new file: the constitutive formulation under another name, every question passed on.
cat > "$folder/tree/src/coupling/relabelled.c" <<'CODE'
/* Relabelled: the constitutive formulation under another name. */
#include "coupling/formulation.h"

extern const yoke_formulation_ops constitutive_ops, relabelled_ops;

static yoke_status relabelled_check(yoke_context *ctx, const yoke_coupling_def *def, const char *scheme, int order) {
  return constitutive_ops.check(ctx, def, scheme, order);
}
static yoke_status relabelled_create(yoke_context *ctx, const yoke_coupling_def *def, void **self) {
  return constitutive_ops.create(ctx, def, self);
}
static void relabelled_destroy(void *self) {
  constitutive_ops.destroy(self);
}
static int relabelled_channels(const void *self, yoke_channel *out) {
  return constitutive_ops.channels(self, out);
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
static void relabelled_update(const void *self, double t, const double *y1, const double *y2, const double *now, double *u) {
  constitutive_ops.update(self, t, y1, y2, now, u);
}

const yoke_formulation_ops relabelled_ops = {
    .name         = "relabelled",
    .summary      = "a formulation that was added by a test",
    .check        = relabelled_check,
    .create       = relabelled_create,
    .destroy      = relabelled_destroy,
    .channels     = relabelled_channels,
    .layout       = relabelled_layout,
    .n_conditions = relabelled_n_conditions,
    .residual     = relabelled_residual,
    .jacobian     = relabelled_jacobian,
    .update       = relabelled_update,
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

"$folder/build/bin/cosimulation_matrix" > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
for scheme in explicit semi-implicit implicit waveform; do
  grep -q "formulation relabelled under scheme $scheme: [1-9]" "$folder/log" ||
    { echo "the matrix has not run the formulation under $scheme"; exit 1; }
done
echo "help, run and matrix know the formulation"
