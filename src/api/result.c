/* The public result: quantities over time, and what its file says of its run. */
#include <yoke/result.h>

#include "api/step_report.h"
#include "base/given.h"
#include "base/sized.h"
#include "base/text.h"
#include "io/result_reader.h"
#include "io/result_writer.h"

_Static_assert((int)YOKE_NUMBER_SIZE == (int)YOKE_TEXT_NUMBER, "room for a number");

void yoke_number_text(double value, char text[YOKE_NUMBER_SIZE]) {
  yoke_text_number(value, text);
}

yoke_status yoke_result_open(yoke_context *ctx, const char *path, yoke_result **out) {
  *out = NULL;
  YOKE_TRY(yoke_given(ctx, path, "path of a result"));
  return yoke_result_reader_open(ctx, path, out);
}
void yoke_result_close(yoke_result **result) {
  if (result != NULL) yoke_result_reader_close(result);
}
yoke_status yoke_result_repair(yoke_context *ctx, const char *path) {
  YOKE_TRY(yoke_given(ctx, path, "path of a result"));
  return yoke_result_reader_repair(ctx, path);
}
bool yoke_result_is_result(const char *path) {
  return yoke_result_reader_knows(path);
}

const char *yoke_result_path(const yoke_result *result) {
  return result->path;
}
int yoke_result_n_quantities(const yoke_result *result) {
  return result->n;
}
const char *yoke_result_name(const yoke_result *result, int i) {
  return result->names[i];
}
const char *yoke_result_unit(const yoke_result *result, int i) {
  return result->units[i];
}
int yoke_result_find(const yoke_result *result, const char *name) {
  return yoke_result_reader_find(result, name);
}
const double *yoke_result_times(const yoke_result *result, int i, size_t *n_times) {
  return yoke_result_reader_times(result, i, n_times);
}
yoke_status yoke_result_read(yoke_context *ctx, yoke_result *result, int i, double *values) {
  if (i < 0 || i >= result->n)
    return yoke_fail(ctx, YOKE_E_USAGE, "there is no quantity number %d in '%s': it has %d, counted from 0", i,
                     result->path, result->n);
  return yoke_result_reader_values(ctx, result, i, values);
}

yoke_status yoke_result_facts_get(yoke_context *ctx, const yoke_result *result, yoke_result_facts *out) {
  const yoke_result_facts facts = {
      .format               = result->is_hdf5     ? "HDF5"
                              : result->is_memory ? "memory"
                                                  : "CSV",
      .version              = result->version,
      .name                 = result->name,
      .model                = result->model,
      .settings             = result->settings,
      .status               = result->status,
      .t_end                = result->t_end,
      .t_reached            = result->t_reached,
      .n_groups             = result->n_groups,
      .scheme               = result->scheme,
      .sequence             = result->sequence,
      .order                = result->order,
      .macro_step           = result->macro_step,
      .n_subsystems         = result->n_subsystems,
      .n_channels           = result->n_channels,
      .n_macro_steps        = result->n_macro_steps,
      .control              = result->control,
      .report               = yoke_step_report_of(&result->steps),
      .is_open_for_writing  = result->is_open_for_writing,
      .macro_rtol           = result->macro_rtol,
      .accumulated_error    = result->accumulated_error,
      .n_subsystem_energies = result->energies[0].n,
      .n_coupling_energies  = result->energies[1].n,
  };
  return yoke_sized_show(ctx, out, &facts, sizeof facts, "yoke_result_facts");
}

yoke_status yoke_result_energy(yoke_context *ctx, const yoke_result *result, bool of_couplings, int i,
                               yoke_energy_share *out) {
  const yoke_energy_table *t = &result->energies[of_couplings ? 1 : 0];
  if (i < 0 || i >= t->n)
    return yoke_fail(ctx, YOKE_E_USAGE, "there is no energy of %s number %d in '%s': it has %d, counted from 0",
                     of_couplings ? "coupling" : "subsystem", i, result->path, t->n);
  if (of_couplings) {
    const double *e = t->values + (size_t)i * YOKE_N_COUPLING_ENERGIES;
    *out            = (yoke_energy_share){
                   .name = t->names[i], .energy = e[0], .dissipated = e[1], .work = {e[2], e[3]}, .leak = e[4], .corrected = e[5]};
  } else {
    const double *e = t->values + (size_t)i * YOKE_N_SUBSYSTEM_ENERGIES;
    *out            = (yoke_energy_share){
                   .name = t->names[i], .energy = e[0], .dissipated = e[1], .external = e[2], .work = {e[3]}, .leak = e[4]};
  }
  return YOKE_OK;
}
