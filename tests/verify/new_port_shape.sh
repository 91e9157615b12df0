#!/bin/sh
# A port shape is one .c file and one line in the list: a copy of the tree gets both and nothing else, is built, and the new shape must be found by
# its name and pass the tests of every shape; a row that only moves what it lacks must be idle on it.
# Usage: new_port_shape.sh SOURCE_FOLDER CMAKE C_COMPILER
set -eu
source=$1 cmake=$2 compiler=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

mkdir "$folder/tree"
for part in CMakeLists.txt include src cli packaging examples tests; do cp -R "$source/$part" "$folder/tree/"; done

# The new file: a point in the plane.
cat > "$folder/tree/src/frames/port_shape_plane_point.c" <<'CODE'
/* A point in the plane z = 0. */
#include "frames/port_shape.h"

static const yoke_shape_p p[]           = {{"x", "m", 0x01, 0}, {"y", "m", 0x02, 1}};
static const yoke_shape_v v[]           = {{0, "vx", "m/s", "ax", "m/s^2"}, {1, "vy", "m/s", "ay", "m/s^2"}};
static const int          integral_of[] = {0, 1};

const yoke_port_shape yoke_shape_plane_point = {
    .name = "plane-point", .n_p = 2, .n_v = 2, .n_integrals = 2, .p = p, .v = v, .integral_of = integral_of};
CODE
echo 'X(yoke_shape_plane_point)' >> "$folder/tree/src/frames/port_shape_list.def"

# A program that knows the shape by its name only.
cat > "$folder/tree/tests/frames/test_new_shape.c" <<'CODE'
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "coupling/formulation.h"
#include "frames/joint_rows.h"
#include <string.h>

static void the_shape_is_found_by_its_name(void **state) {
  const yoke_port_shape *shape = yoke_shape_find("plane-point");
  (void)state;
  assert_non_null(shape);
  assert_int_equal(yoke_shape_n_y(shape), 8);
  assert_false(yoke_shape_can_turn(shape));
}

static void rows_that_it_cannot_feel_are_idle(void **state) {
  const yoke_port_shape *const shape[2] = {yoke_shape_find("plane-point"), NULL};
  const double                 one[9]   = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  yoke_link                    link     = {.node = {0, 1}};
  (void)state;
  for (int s = 0; s < 2; ++s) memcpy(link.axes[s], one, sizeof one);
  for (int k = 0; k < 3; ++k) assert_true(yoke_row_is_idle(&(yoke_row){YOKE_ROW_POINT, k, 0}, &link, shape) == (k == 2));
}

/* Spring between two such points: forces in the plane, copies of x and y. */
static void a_coupling_takes_it(void **state) {
  const yoke_law               law      = {.stiffness = 3.0, .damping = 0.1};
  yoke_force_element           element  = {.n = 1, .law = &law, .link.node = {0, 1}, .row = {{YOKE_ROW_DISTANCE, 0, 0}}};
  const yoke_coupling_settings settings = {.formulation = "constitutive", .decomposition = YOKE_FORCE_DISPLACEMENT};
  const yoke_port_shape       *shape    = yoke_shape_find("plane-point");
  const yoke_coupling_def def = {.name = "c", .element = &element, .shape = {shape, shape}, .settings = &settings};
  const yoke_formulation_ops *ops = yoke_formulation_find("constitutive");
  void                       *self = NULL;
  int                         n    = 0;
  (void)state;
  assert_int_equal(ops->check(NULL, &def, NULL, 1), YOKE_OK);
  assert_int_equal(ops->create(NULL, &def, &self), YOKE_OK);
  const yoke_channel *channels = ops->channels(self, &n);
  assert_int_equal(n, 6); /* force x y; x y vx vy */
  assert_string_equal(channels[5].name, "copy 1 vy");
  ops->destroy(self);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_shape_is_found_by_its_name),
      cmocka_unit_test(rows_that_it_cannot_feel_are_idle),
      cmocka_unit_test(a_coupling_takes_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
CODE

"$cmake" -S "$folder/tree" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$compiler" -DYOKE_BUILD_BENCH=OFF \
  > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$cmake" --build "$folder/build" --parallel 2 --target frames_port_shape frames_new_shape > "$folder/log" 2>&1 ||
  { cat "$folder/log"; exit 1; }
for program in frames_port_shape frames_new_shape; do
  "$folder/build/bin/$program" > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
done
echo "the shape is found by its name, agrees with itself and can be coupled"
