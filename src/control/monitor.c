#include "control/monitor.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

enum {
  FIRST_STEPS     = 3,
  STEPS_TO_JUDGE  = 16,
  SPARE_ESTIMATES = 20
};                                        /* so many are made where they are wanted, whatever they cost */
static const double share_of_work = 0.05; /* of the right-hand sides of the run */
static const double most_work     = 0.1;  /* behind breaks and where jumps have doubled */
static const double least_share   = 0.3;  /* of the largest jump since the last estimate: below it a ratio is noise */
static const double doubled       = 2.0;
static const double share_of_prescribed = 0.5; /* of the largest error of a motion that every step begins anew */

/* What is held of one subsystem. */
typedef struct held {
  double peak; /* largest jump since the last estimate */
  double base; /* largest jump that was estimated */
} held;

/* What is known, and changes. */
typedef struct known {
  int64_t steps, estimates, evaluations, integrations;
  int64_t run;        /* work of the run: right-hand sides, and one for each integration */
  int64_t last;       /* of the last estimate */
  int     fresh;      /* steps since a start or a break */
  int     owes;       /* 1: the error of the last step is not counted yet (count_late) */
  double  H;          /* of the ratios */
  double  H_compared; /* of the last step that step control has compared; 0: none */
} known;

struct yoke_monitor {
  yoke_graph       *graph;
  yoke_estimator    estimator; /* PREDICTED, CONSISTENT, or COUPLING where copies tell; `knows` false: none */
  bool              knows;
  bool              is_free;        /* every step tells its error */
  bool              has_prescribed; /* the motion of a port is, anew in every step */
  const char       *blind;
  yoke_error_tally *tally;
  yoke_arena        arena;
  known             known;
  int               n, n_subsystems, n_channels;
  int              *subsystem; /* [n] of a component */
  bool             *is_rate;   /* [n] it is a velocity */
  double           *errors;    /* [n] of the step at hand */
  double           *ratio;     /* [n] |e| per jump */
  double           *most;      /* [n] largest |e| that was estimated */
  double           *compared;  /* [n] |e| of the last step that step control has compared */
  bool              has_inner; /* the step at hand has `inner` */
  double           *inner;     /* [n] of the step at hand: how far it is off between its ends, beside `errors` */
  double           *jumps;     /* [n_subsystems] of the step at hand */
  held             *held;      /* [n_subsystems] */
  double           *size;      /* [n_channels] that jumps are measured by */
};

/* ---- life ---- */

static void choose(yoke_monitor *m) {
  const yoke_scheme_settings *s       = yoke_graph_settings(m->graph);
  const char                 *name    = "";
  const bool                  is_free = !yoke_graph_traits(m->graph)->extrapolates_only && !s->gauss_seidel &&
                       s->predictor == YOKE_PREDICTOR_EXTRAPOLATION && yoke_graph_has_end_values(m->graph, &name);
  const bool is_all_overlap = yoke_graph_is_all_overlap(m->graph);
  m->is_free                = is_free || is_all_overlap;
  m->estimator.way          = is_all_overlap ? YOKE_ESTIMATE_COUPLING
                              : is_free      ? YOKE_ESTIMATE_PREDICTED
                                             : YOKE_ESTIMATE_CONSISTENT;
  m->knows                  = m->is_free || yoke_graph_can_compare(m->graph, &name);
  if (!yoke_graph_can_repeat(m->graph, &name)) m->blind = name;
}

static yoke_status fill(yoke_monitor *m, yoke_context *ctx) {
  choose(m);
  YOKE_TRY(yoke_graph_monitor(m->graph, m->knows && m->estimator.way == YOKE_ESTIMATE_CONSISTENT, ctx));
  YOKE_TRY(yoke_error_tally_create(ctx, m->graph, &m->tally));
  m->n            = yoke_error_tally_n(m->tally);
  m->n_subsystems = yoke_graph_n_subsystems(m->graph);
  m->n_channels   = yoke_graph_n_all_channels(m->graph);
  m->subsystem    = yoke_arena_take(&m->arena, (size_t)m->n, sizeof *m->subsystem);
  m->is_rate      = yoke_arena_take(&m->arena, (size_t)m->n, sizeof *m->is_rate);
  m->errors       = yoke_arena_take(&m->arena, (size_t)m->n, sizeof *m->errors);
  m->ratio        = yoke_arena_take(&m->arena, (size_t)m->n, sizeof *m->ratio);
  m->most         = yoke_arena_take(&m->arena, (size_t)m->n, sizeof *m->most);
  m->compared     = yoke_arena_take(&m->arena, (size_t)m->n, sizeof *m->compared);
  m->inner        = yoke_arena_take(&m->arena, (size_t)m->n, sizeof *m->inner);
  m->jumps        = yoke_arena_take(&m->arena, (size_t)m->n_subsystems, sizeof *m->jumps);
  m->held         = yoke_arena_take(&m->arena, (size_t)m->n_subsystems, sizeof *m->held);
  m->size         = yoke_arena_take(&m->arena, (size_t)m->n_channels, sizeof *m->size);
  YOKE_TRY(yoke_arena_check(&m->arena, ctx, "the monitor of %d subsystems", m->n_subsystems));
  for (int i = 0; i < yoke_graph_n_ports(m->graph); ++i) {
    const int       first = yoke_error_tally_first(m->tally, i);
    yoke_port_trial port;
    yoke_graph_port_trial(m->graph, i, &port);
    m->has_prescribed = m->has_prescribed || port.share < 1.0;
    for (int k = 0; k < port.n_p + port.n_v; ++k) {
      m->subsystem[first + k] = port.subsystem;
      m->is_rate[first + k]   = k >= port.n_p;
    }
  }
  for (int k = 0; k < m->n_channels; ++k) m->size[k] = 1.0;
  return YOKE_OK;
}

yoke_status yoke_monitor_create(yoke_context *ctx, yoke_graph *graph, yoke_monitor **out) {
  yoke_monitor *m = yoke_allocate(1, sizeof *m);
  *out            = m;
  if (m == NULL) return yoke_out_of_memory(ctx, "the monitor");
  m->graph                 = graph;
  m->arena                 = yoke_arena_of(ctx);
  const yoke_status status = fill(m, ctx);
  if (status != YOKE_OK) yoke_monitor_destroy(out);
  return status;
}

void yoke_monitor_destroy(yoke_monitor **monitor) {
  if (*monitor == NULL) return;
  yoke_error_tally_destroy(&(*monitor)->tally);
  yoke_arena_free(&(*monitor)->arena);
  free(*monitor);
  *monitor = NULL;
}

/* Consistent multipliers at the end of the last step were those behind the break, to which nothing inside the step leads. */
void yoke_monitor_restart(yoke_monitor *m) {
  m->known.fresh      = 0;
  m->known.owes       = 0;
  m->known.H_compared = 0.0;
  for (int i = 0; i < yoke_graph_n_ports(m->graph); ++i) {
    yoke_port_trial port;
    yoke_graph_port_trial(m->graph, i, &port);
    if (yoke_graph_feels_multipliers(m->graph, port.subsystem)) yoke_error_tally_forget(m->tally, i);
  }
}

/* ---- one step ---- */

/* Errors of all ports; false: `by` has none, or one is not finite. */
static bool take_errors(yoke_monitor *m, const yoke_estimator *by) {
  for (int i = 0; i < yoke_graph_n_ports(m->graph); ++i) {
    if (!yoke_estimator_port_errors(by, m->graph, i, m->errors + yoke_error_tally_first(m->tally, i))) return false;
  }
  for (int i = 0; i < m->n; ++i) {
    if (!isfinite(m->errors[i])) return false;
  }
  return true;
}

static double largest_value(const yoke_channel_trial *channel) {
  const double size = fmax(channel->size, fmax(fabs(channel->value), fabs(channel->predicted)));
  return size > 0.0 ? size : 1.0;
}

/* Jumps are measured by what the values are now. */
static void measure_anew(yoke_monitor *m) {
  for (int k = 0; k < m->n_channels; ++k) {
    yoke_channel_trial channel;
    yoke_graph_channel_trial(m->graph, k, &channel);
    m->size[k] = largest_value(&channel);
  }
  yoke_graph_jumps(m->graph, m->size, m->jumps);
  memset(m->held, 0, (size_t)m->n_subsystems * sizeof *m->held);
}

/* |e| per jump, where the jump is not small by chance. */
static void keep_ratios(yoke_monitor *m) {
  for (int s = 0; s < m->n_subsystems; ++s) {
    held *h = &m->held[s];
    if (!(m->jumps[s] > 0.0) || m->jumps[s] < least_share * h->peak) m->jumps[s] = 0.0;
    if (m->jumps[s] > 0.0) *h = (held){.base = fmax(h->base, m->jumps[s])};
  }
  for (int i = 0; i < m->n; ++i) {
    const double jump = m->jumps[m->subsystem[i]];
    m->most[i]        = fmax(m->most[i], fabs(m->errors[i]));
    if (jump > 0.0) m->ratio[i] = fabs(m->errors[i]) / jump;
  }
}

static void hold(yoke_monitor *m, double H) {
  const double by = m->known.H > 0.0 ? H / m->known.H : 1.0;
  for (int i = 0; i < m->n; ++i) {
    const double error = fmin(m->ratio[i] * m->jumps[m->subsystem[i]], doubled * m->most[i]);
    m->errors[i]       = error * (m->is_rate[i] ? by : by * by);
  }
}

/* How errors of positions and velocities of the last step that step control has compared change in one of another length. */
static void find_scales(const yoke_monitor *m, const yoke_trial *trial, double scale[2]) {
  int order[2];
  yoke_graph_local_order(m->graph, trial->degree, order);
  for (int k = 0; k < 2; ++k) scale[k] = pow(trial->H / m->known.H_compared, (double)order[k]);
}

static void hold_compared(yoke_monitor *m, const yoke_trial *trial) {
  double scale[2];
  find_scales(m, trial, scale);
  for (int i = 0; i < m->n; ++i) m->errors[i] = scale[m->is_rate[i]] * m->compared[i];
}

/* One that vanishes by chance is held as half of what it was. */
static void keep_compared(yoke_monitor *m, const yoke_trial *trial) {
  double scale[2] = {0.0, 0.0};
  if (m->known.H_compared > 0.0) find_scales(m, trial, scale);
  for (int i = 0; i < m->n; ++i)
    m->compared[i] = fmax(fabs(m->errors[i]), 0.5 * fmin(scale[m->is_rate[i]], 1.0) * m->compared[i]);
  m->known.H_compared = trial->H;
}

/* Has a jump doubled beyond all that were estimated? */
static bool is_surprised(const yoke_monitor *m) {
  for (int s = 0; s < m->n_subsystems; ++s) {
    if (m->jumps[s] > doubled * m->held[s].base) return true;
  }
  return false;
}

static bool may_work(const known *k, double share) {
  return (double)(k->evaluations + k->integrations + k->last) <= share * (double)k->run;
}

/* A second integration. */
static yoke_status compare(yoke_monitor *m, bool is_new, bool is_early, double H) {
  yoke_step_statistics work   = {0};
  const yoke_status    status = yoke_graph_compare(m->graph, &work, NULL);
  known               *k      = &m->known;
  k->evaluations += work.evaluations;
  k->integrations += work.integrations;
  k->last = work.evaluations + work.integrations;
  if (status == YOKE_E_MEMORY) return status;
  if (status != YOKE_OK || !take_errors(m, &m->estimator)) {
    hold(m, H);
    return YOKE_OK;
  }
  ++k->estimates;
  k->H = H;
  if (is_new) measure_anew(m);
  if (!is_early) keep_ratios(m);
  return YOKE_OK;
}

/* An early step takes all of its past: its degree d has no better one to be compared with. The step behind it has one value more, and
 * d + 1 against d tells what d was off by. So the first early step counts nothing, the others stand for the one before them, and
 * the first step whose past is long enough stands for itself and for the one before. */
static void count_late(yoke_monitor *m, bool is_early) {
  const double times = (m->known.owes ? 1.0 : 0.0) + (is_early ? 0.0 : 1.0);
  for (int i = 0; i < m->n && times != 1.0; ++i) m->errors[i] *= times;
}

/* Where there is no integration to be had for nothing. */
static yoke_status look_now_and_then(yoke_monitor *m, bool is_early, double H) {
  YOKE_TRY(yoke_graph_look(m->graph));
  yoke_graph_jumps(m->graph, m->size, m->jumps);
  for (int s = 0; s < m->n_subsystems; ++s) m->held[s].peak = fmax(m->held[s].peak, m->jumps[s]);
  const bool is_new    = m->known.fresh < FIRST_STEPS || is_early || m->known.owes;
  const bool is_wanted = is_new || is_surprised(m);
  const bool is_spare  = is_wanted && m->known.estimates < SPARE_ESTIMATES;
  if (is_spare || may_work(&m->known, is_wanted ? most_work : share_of_work))
    YOKE_TRY(compare(m, is_new, is_early, H));
  else
    hold(m, H);
  count_late(m, is_early);
  return YOKE_OK;
}

/* Where coupling values break estimates that stand for smooth ones are too low. What is held for later steps is without this. */
static void count_breaks(yoke_monitor *m) {
  yoke_error_constants surplus = {1.0, 1.0};
  if (yoke_graph_traits(m->graph)->extrapolates_only) return; /* there is no surplus */
  for (int i = 0; i < yoke_graph_n_ports(m->graph); ++i) {
    const int       first = yoke_error_tally_first(m->tally, i);
    yoke_port_trial port;
    yoke_graph_port_trial(m->graph, i, &port);
    if (port.is_felt) return; /* the last ones */
    if (i % 2 == 0) surplus = yoke_estimator_surplus(m->graph, port.wire);
    for (int k = 0; k < port.n_p + port.n_v; ++k)
      m->errors[first + k] *= k < port.n_p ? surplus.position : surplus.velocity;
  }
}

/* What counts once. Motions that are prescribed anew in every step carry nothing on. */
static void find_inner(yoke_monitor *m) {
  const bool is_found = yoke_graph_inner_errors(m->graph, m->n, m->inner);
  m->has_inner        = is_found || m->has_prescribed;
  if (m->has_inner && !is_found) memset(m->inner, 0, (size_t)m->n * sizeof *m->inner);
  for (int i = 0; m->has_prescribed && i < yoke_graph_n_ports(m->graph); ++i) {
    const int       first = yoke_error_tally_first(m->tally, i);
    yoke_port_trial port;
    yoke_graph_port_trial(m->graph, i, &port);
    for (int k = first; port.share < 1.0 && k < first + port.n_p + port.n_v; ++k) {
      m->inner[k]  = fmax(m->inner[k], share_of_prescribed * fabs(m->errors[k]) / port.share);
      m->errors[k] = 0.0;
    }
  }
}

/* Copies in halos tell the error of this very step, in every one. */
static void take_copies(yoke_monitor *m) {
  if (yoke_graph_copy_order(m->graph) == 0) return;
  for (int i = 0; i < yoke_graph_n_ports(m->graph); ++i) {
    yoke_port_trial port;
    yoke_graph_port_trial(m->graph, i, &port);
    if (port.has_copy)
      (void)yoke_estimator_port_errors(&m->estimator, m->graph, i, m->errors + yoke_error_tally_first(m->tally, i));
  }
}

yoke_status yoke_monitor_look(yoke_monitor *m, const yoke_estimator *by, yoke_step_statistics *statistics) {
  yoke_trial trial;
  yoke_graph_trial(m->graph, &trial);
  yoke_error_tally_start(m->tally, m->graph);
  const bool is_early = yoke_graph_takes_whole_past(m->graph), is_first = is_early && !m->known.owes;
  ++m->known.steps;
  m->known.run += statistics->evaluations + statistics->integrations;
  statistics->local_error = (double)NAN;
  if (by != NULL && take_errors(m, by)) {
    ++m->known.estimates;
    if (by->way == YOKE_ESTIMATE_CONSISTENT) keep_compared(m, &trial);
  } else if (by != NULL && yoke_estimator_holds(by, m->graph)) {
    hold_compared(m, &trial);
  } else if (!m->knows) {
    return YOKE_OK;
  } else if (m->is_free) {
    if (!take_errors(m, &m->estimator)) return YOKE_OK;
    ++m->known.estimates;
    count_late(m, is_early);
  } else {
    YOKE_TRY(look_now_and_then(m, is_early, trial.H));
  }
  ++m->known.fresh;
  take_copies(m);
  count_breaks(m);
  find_inner(m);
  if (is_first) m->has_inner = false;
  m->known.owes           = is_early;
  statistics->local_error = yoke_error_tally_add(m->tally, m->graph, m->errors, m->has_inner ? m->inner : NULL);
  return YOKE_OK;
}

double yoke_monitor_mean_step(const yoke_monitor *m) {
  const double past = yoke_graph_trial_end(m->graph) - yoke_error_tally_t_start(m->tally);
  return past / (double)(m->known.steps > 0 ? m->known.steps : 1);
}

double yoke_monitor_bite(yoke_monitor *m, const yoke_estimator *by, double limit, double t_end) {
  yoke_trial trial;
  yoke_graph_trial(m->graph, &trial);
  const double left = t_end - yoke_graph_t(m->graph), mean = yoke_monitor_mean_step(m);
  if (m->known.steps < STEPS_TO_JUDGE || !(left > 0.0) || !take_errors(m, by)) return 0.0;
  count_breaks(m);
  find_inner(m); /* what counts once takes nothing */
  return yoke_error_tally_bite(m->tally, m->errors, limit) / fmin(fmax(trial.H, mean) / left, 1.0);
}

double yoke_monitor_pace(const yoke_monitor *m, double limit, double spared, double t_end) {
  yoke_trial trial;
  yoke_graph_trial(m->graph, &trial);
  const double left = t_end - yoke_graph_trial_end(m->graph) + trial.H, mean = yoke_monitor_mean_step(m);
  if (!(left > 0.0)) return 0.0;
  return yoke_error_tally_pace(m->tally, m->errors, m->has_inner ? m->inner : NULL, limit, spared,
                               fmin(fmax(trial.H, mean) / left, 1.0));
}

/* ---- questions ---- */

yoke_monitor_facts yoke_monitor_facts_get(const yoke_monitor *m) {
  return (yoke_monitor_facts){.knows        = m->knows,
                              .blind        = m->blind,
                              .steps        = m->known.steps,
                              .estimates    = m->known.estimates,
                              .evaluations  = m->known.evaluations,
                              .integrations = m->known.integrations};
}

const yoke_error_tally *yoke_monitor_tally(const yoke_monitor *m) {
  return m->tally;
}

/* ---- as bytes ---- */

void yoke_monitor_pack(const yoke_monitor *m, yoke_pack *out) {
  yoke_pack_tag(out, "monitor");
  yoke_pack_block(out, sizeof m->known, &m->known);
  yoke_pack_doubles(out, (size_t)m->n, m->ratio);
  yoke_pack_doubles(out, (size_t)m->n, m->most);
  yoke_pack_doubles(out, (size_t)m->n, m->compared);
  yoke_pack_block(out, (size_t)m->n_subsystems * sizeof *m->held, m->held);
  yoke_pack_doubles(out, (size_t)m->n_channels, m->size);
  yoke_error_tally_pack(m->tally, out);
}

static void read(yoke_monitor *m, yoke_unpack *in) {
  yoke_unpack_tag(in, "monitor");
  const void *counts = yoke_unpack_block(in, sizeof m->known);
  if (counts != NULL) memcpy(&m->known, counts, sizeof m->known);
  yoke_unpack_doubles(in, (size_t)m->n, m->ratio);
  yoke_unpack_doubles(in, (size_t)m->n, m->most);
  yoke_unpack_doubles(in, (size_t)m->n, m->compared);
  const void *list = yoke_unpack_block(in, (size_t)m->n_subsystems * sizeof *m->held);
  if (list != NULL) memcpy(m->held, list, (size_t)m->n_subsystems * sizeof *m->held);
  yoke_unpack_doubles(in, (size_t)m->n_channels, m->size);
  yoke_error_tally_unpack(m->tally, in);
  if (in->failure == NULL && (!yoke_is_count(m->known.fresh) || !yoke_is_count(m->known.steps)))
    yoke_unpack_refuse(in, "no monitor leaves such counts");
}

yoke_status yoke_monitor_unpack(yoke_monitor *m, yoke_unpack *in, yoke_context *ctx) {
  read(m, in);
  return yoke_unpack_check(in, ctx);
}
