/* A run by steps: a crane trolley with a load on a rope, pushed by a force that the program changes on the way. The force is an input of the model;
 * the program looks at the trolley after every macro step, brakes behind 1 m until it stands, then lets go, and keeps the results in a file.
 *   usage: stepwise [FILE.csv] */
#include <stdio.h>
#include <string.h>
#include <yoke/yoke.h>

static const char text[] = "yoke: 1\n"
                           "name: crane\n"
                           "gravity: [0, -9.81]\n"
                           "t_end: 10\n"
                           "inputs: {push: {value: 60, unit: N, description: of the drive on the trolley}}\n"
                           "bodies:\n"
                           "  trolley: {kind: planar, mass: 20, inertia: 1}\n"
                           "  load: {kind: planar, mass: 100, inertia: 10, position: [0, -4], frames: {hook: [0, 4]}}\n"
                           "connections:\n"
                           "  rail: {kind: translational, between: [ground, trolley], axis: [1, 0, 0]}\n"
                           "  rope: {kind: revolute, between: [trolley, load.hook]}\n"
                           "loads: {drive: {kind: expression, on: trolley, force: [push, 0]}}\n"
                           "split: {crane: [trolley], load: [load]}\n"
                           "cosimulation: {step: 5e-3}\n"
                           "output: {every: 0.05, select: [trolley.x, trolley.vx, load.angle, push]}\n";

enum { PLACE, SPEED, SWING, N_QUANTITIES };
static const double brake_at = 1.0; /* [m] */

static yoke_status drive(yoke_context *ctx, yoke_simulation *s) {
  static const char *const names[] = {"trolley.x", "trolley.vx", "load.angle"}, *const input[] = {"push"};
  int    handles[N_QUANTITIES], push;
  double force = 60.0, values[N_QUANTITIES], largest = 0.0;
  YOKE_TRY(yoke_simulation_find(ctx, s, N_QUANTITIES, names, handles)); /* once: no look-up of names in the loop */
  YOKE_TRY(yoke_simulation_find_inputs(ctx, s, 1, input, &push));
  while (!yoke_simulation_has_ended(s)) {
    YOKE_TRY(yoke_simulation_step(ctx, s, NULL));
    YOKE_TRY(yoke_simulation_get(ctx, s, N_QUANTITIES, handles, values));
    if (values[SWING] > largest) largest = values[SWING];
    double wanted = force;
    if (force > 0.0 && values[PLACE] > brake_at) wanted = -60.0; /* brake */
    if (force < 0.0 && values[SPEED] < 0.0) wanted = 0.0;        /* let go */
    if (wanted == force) continue;
    force = wanted;
    printf("t = %6.3f s: trolley at %.3f m with %6.3f m/s, push %3.0f N from here on\n", yoke_simulation_t(s),
           values[PLACE], values[SPEED], force);
    YOKE_TRY(yoke_simulation_set(ctx, s, 1, &push, &force));
  }
  printf("t = %6.3f s: trolley at %.3f m, the load swung by up to %.1f degrees\n", yoke_simulation_t(s), values[PLACE],
         largest * 57.29577951308232);
  return YOKE_OK;
}

static yoke_status run(yoke_context *ctx, const char *file, yoke_model **model, yoke_simulation **s) {
  yoke_record_options record;
  memset(&record, 0, sizeof record);
  record.size = sizeof record;
  record.out  = file;
  YOKE_TRY(yoke_model_load_text(ctx, "crane", text, strlen(text), NULL, model));
  YOKE_TRY(yoke_simulation_create(ctx, *model, NULL, s));
  if (file != NULL) YOKE_TRY(yoke_simulation_record(ctx, *s, &record));
  YOKE_TRY(drive(ctx, *s));
  return file != NULL ? yoke_simulation_record_end(ctx, *s) : YOKE_OK;
}

int main(int argc, char **argv) {
  yoke_context    *ctx    = NULL;
  yoke_model      *model  = NULL;
  yoke_simulation *s      = NULL;
  yoke_status      status = yoke_context_create(&ctx);
  if (status == YOKE_OK) status = run(ctx, argc > 1 ? argv[1] : NULL, &model, &s);
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) fprintf(stderr, "%s\n", yoke_context_message(ctx, i));
  yoke_simulation_destroy(&s);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}
