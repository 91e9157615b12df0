#include "api/energies.h"

#include "base/memory.h"
#include "base/text.h"
#include <math.h>
#include <stdlib.h>

static yoke_energy_share share_of(const double *account, bool is_coupling) {
  return (yoke_energy_share){.energy     = account[YOKE_ACCOUNT_ENERGY],
                             .dissipated = account[YOKE_ACCOUNT_DISSIPATED],
                             .external   = is_coupling ? 0.0 : account[YOKE_ACCOUNT_EXTERNAL],
                             .work       = {account[is_coupling ? (int)YOKE_ACCOUNT_WORK_1 : (int)YOKE_ACCOUNT_WORK],
                                      is_coupling ? account[YOKE_ACCOUNT_WORK_2] : 0.0},
                             .leak       = account[YOKE_ACCOUNT_LEAK],
                             .corrected  = is_coupling ? account[YOKE_ACCOUNT_CORRECTED] : 0.0};
}

yoke_energy_share yoke_energies_of_part(const yoke_run_system *run, int part) {
  return share_of(yoke_account_now(yoke_system_account(run->system)) + yoke_account_of_part(part, 0), false);
}

yoke_energy_share yoke_energies_of_wire(const yoke_run_system *run, int wire) {
  const double *now = yoke_account_now(yoke_system_account(run->system));
  return share_of(now + yoke_account_of_wire(run->plan->n_parts, wire, 0), true);
}

bool yoke_energies_are_known(const yoke_run_system *run) {
  return yoke_system_account(run->system) != NULL && yoke_account_is_complete(run->plan->n_couplings, run->plan->wires);
}

yoke_status yoke_energies_take(yoke_context *ctx, const yoke_run_system *run, yoke_run_summary *s) {
  const yoke_account *account = yoke_system_account(run->system);
  const yoke_plan    *plan    = run->plan;
  if (account == NULL) return YOKE_OK;
  const yoke_account_sums sums = yoke_account_sum(account);
  s->has_leak                  = isfinite(sums.leak);
  s->leak                      = sums.leak;
  s->leak_largest              = sums.largest;
  s->leak_share                = sums.size > 0.0 ? sums.largest / sums.size : 0.0;
  s->leak_corrected            = sums.corrected;
  s->leak_worst                = sums.worst;
  if (!yoke_energies_are_known(run)) return YOKE_OK;
  s->subsystem_energies = yoke_allocate((size_t)plan->n_parts + 1, sizeof *s->subsystem_energies);
  s->coupling_energies  = yoke_allocate((size_t)plan->n_couplings + 1, sizeof *s->coupling_energies);
  bool done             = s->subsystem_energies != NULL && s->coupling_energies != NULL;
  for (int p = 0; done && p < plan->n_parts; ++p) {
    s->subsystem_energies[p]      = yoke_energies_of_part(run, p);
    s->subsystem_energies[p].name = yoke_text_copy(plan->parts[p].name);
    done                          = s->subsystem_energies[p].name != NULL;
  }
  for (int w = 0; done && w < plan->n_couplings; ++w) {
    s->coupling_energies[w]      = yoke_energies_of_wire(run, w);
    s->coupling_energies[w].name = yoke_text_copy(plan->couplings[w].name);
    done                         = s->coupling_energies[w].name != NULL;
  }
  return done ? YOKE_OK : yoke_out_of_memory(ctx, "the energies of the run");
}

static void release_list(yoke_energy_share **list, int n) {
  for (int i = 0; *list != NULL && i < n; ++i) free((*list)[i].name);
  free(*list);
  *list = NULL;
}

void yoke_energies_release(yoke_run_summary *s) {
  release_list(&s->subsystem_energies, s->n_subsystems);
  release_list(&s->coupling_energies, s->n_couplings);
}

/* Corrections that did far less than what leaked all the same may have made it: held forces excite what they are to calm. */
static void judge_correction(yoke_context *ctx, const yoke_run_summary *s) {
  static const double little = 1e-3, far_less = 1.0 / 3.0;
  if (s->leak_corrected == 0.0 || !(s->leak_share > little)) return;
  if (!(fabs(s->leak_corrected) < far_less * s->leak_largest)) return;
  yoke_warn(ctx,
            "the energy correction did %.3g J, and up to %.3g J came out of nothing all the same: it may bring in more "
            "than it takes out, where forces are static or large for what moves; compare with cosimulation.energy "
            "monitor, use guard, or a smaller cosimulation.energy_cap",
            s->leak_corrected, s->leak_largest);
}

/* Energies are kept, where it went in and came out is another matter. */
static void judge_amount(yoke_context *ctx, const yoke_run_summary *s, double limit) {
  const double moves = s->leak_largest / s->leak_share, share = fabs(s->leak_corrected) / moves;
  if (!(share > limit)) return;
  yoke_warn(ctx,
            "the energy correction did %.3g J, %.3g %% of the energy that moves in the model (the limit is %g %%): the "
            "balance is kept, but motions may be far from those of the model; use a smaller cosimulation.step or a "
            "higher order, and see yoke run --verify",
            s->leak_corrected, 100.0 * share, 100.0 * limit);
}

void yoke_energies_judge(yoke_context *ctx, const yoke_run_summary *s, double limit) {
  if (s->has_leak) judge_correction(ctx, s);
  if (s->has_leak) judge_amount(ctx, s, limit);
  if (!s->has_leak || !(s->leak_share > limit)) return;
  const bool names_one = s->coupling_energies != NULL && s->leak_worst >= 0;
  yoke_warn(
      ctx,
      "the couplings have brought up to %.3g J out of nothing, %.3g %% of the energy that moves in the model (the "
      "limit is %g %%)%s%.100s%s; use a smaller cosimulation.step, a higher order%s",
      s->leak_largest, 100.0 * s->leak_share, 100.0 * limit, names_one ? ", most of it at coupling '" : "",
      names_one ? s->coupling_energies[s->leak_worst].name : "", names_one ? "'" : "",
      s->leak_corrected != 0.0 ? ", or a larger cosimulation.energy_cap" : ", or cosimulation.energy correct");
}
