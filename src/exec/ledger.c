#include "exec/ledger.h"

#include "base/clock.h"
#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double clock_cost = 5e-8; /* s per look at it and what is done with it, rather too much */
static const double share      = 5e-3; /* of the run that the ledger may take */
enum { LONGEST_STRIDE = 1009, FIRST_STEPS = 8, LOOKS = 4 /* per task */ };

yoke_status yoke_ledger_create(yoke_context *ctx, int n_parts, bool is_profile, yoke_ledger **out) {
  yoke_ledger *l = yoke_allocate(1, sizeof *l);
  *out           = l;
  if (l == NULL) return yoke_out_of_memory(ctx, "the ledger");
  l->n_parts = n_parts;
  l->look    = yoke_clock_look(yoke_clock_now, 20);
  l->stride = l->output_stride = 1;
  l->parts                     = yoke_allocate((size_t)n_parts + 1, sizeof *l->parts);
  l->span                      = yoke_allocate((size_t)n_parts + 1, sizeof *l->span);
  l->spans                     = yoke_allocate((size_t)n_parts + 1, sizeof *l->spans);
  l->here                      = yoke_allocate((size_t)n_parts + 1, sizeof *l->here);
  const bool  has_all          = l->parts != NULL && l->span != NULL && l->spans != NULL && l->here != NULL;
  yoke_status status           = has_all ? YOKE_OK : yoke_out_of_memory(ctx, "the ledger");
  for (int i = 0; has_all && i < n_parts; ++i) l->span[i] = -1.0;
  if (status == YOKE_OK && is_profile) status = yoke_projection_create(ctx, &l->projection);
  if (status == YOKE_OK && is_profile) status = yoke_timeline_create(ctx, &l->timeline);
  if (status != YOKE_OK) yoke_ledger_destroy(out);
  return status;
}

void yoke_ledger_destroy(yoke_ledger **ledger) {
  yoke_ledger *l = *ledger;
  if (l == NULL) return;
  yoke_projection_destroy(&l->projection);
  yoke_timeline_destroy(&l->timeline);
  free(l->parts);
  free(l->span);
  free(l->spans);
  free(l->here);
  free(l);
  *ledger = NULL;
}

/* Of what takes `seconds` and is timed by n looks at the clock every how manieth is timed? Odd, for patterns that come every second time. */
static int64_t stride_of(int64_t n, double seconds) {
  const double wanted = (double)n * clock_cost / (share * fmax(seconds, 1e-9));
  return wanted <= 1.0 ? 1 : 2 * (int64_t)ceil(fmin(wanted, LONGEST_STRIDE) / 2.0) + 1;
}

/* What lies between lists goes on. */
static void begin_serial(yoke_ledger *l) {
  if (l->projection != NULL) l->serial_begin = yoke_clock_thread();
}

static void end_serial(yoke_ledger *l) {
  if (l->projection != NULL) yoke_projection_serial(l->projection, yoke_clock_thread() - l->serial_begin);
}

void yoke_ledger_begin_step(yoke_ledger *l) {
  l->is_timed = l->n_steps++ >= l->next;
  if (!l->is_timed) return;
  l->n_tasks    = 0;
  l->step_lists = l->step_lost = l->step_longest = 0.0;
  memset(l->spans, 0, (size_t)l->n_parts * sizeof *l->spans);
  l->step_begin = yoke_clock_now();
  begin_serial(l);
}

/* Once per step: its lists may be as many as there are parts. */
static void add_idle(yoke_ledger *l) {
  for (int i = 0; i < l->n_parts; ++i) l->parts[i].idle += (double)l->stride * (l->step_longest - l->spans[i]);
}

void yoke_ledger_end_step(yoke_ledger *l) {
  if (!l->is_timed) return;
  const double end = yoke_clock_now(), seconds = end - l->step_begin - l->step_lost;
  l->steps += (double)l->stride * seconds;
  l->is_timed = false;
  add_idle(l);
  if (l->projection != NULL) {
    end_serial(l);
    yoke_timeline_add(l->timeline, (yoke_span){.kind = YOKE_SPAN_STEP, .begin = l->step_begin, .end = end});
  } else if (l->n_steps >= FIRST_STEPS) {
    l->stride = stride_of(LOOKS * l->n_tasks + 4, seconds);
  }
  l->next = l->n_steps + l->stride - 1;
}

double yoke_ledger_open_list(yoke_ledger *l) {
  end_serial(l);
  return yoke_clock_now();
}

void yoke_ledger_begin_list(yoke_ledger *l, double begin) {
  l->list_end          = yoke_clock_now();
  const double seconds = l->list_end - begin;
  l->step_lists += seconds;
  l->lists += (double)l->stride * seconds;
  l->n_here   = 0;
  l->n_driven = 0;
  if (l->projection != NULL) yoke_projection_begin(l->projection);
}

/* Between two looks there is one. */
static double between(const yoke_ledger *l, double begin, double end) {
  return fmax(end - begin - l->look, 0.0);
}

static void add_times(const yoke_ledger *l, const yoke_task_times *t, yoke_part_times *sum) {
  const double weight = (double)l->stride;
  sum->save += weight * between(l, t->begin, t->saved);
  sum->solver += weight * between(l, t->saved, t->solved);
  sum->exchange += weight * between(l, t->solved, t->end);
}

void yoke_ledger_task(yoke_ledger *l, int part, int variant, int job, const yoke_task_times *t) {
  add_times(l, t, &l->parts[part]);
  add_times(l, t, &l->own);
  if (l->span[part] < 0.0) l->here[l->n_here++] = part;
  l->span[part] = fmax(fmax(l->span[part], t->end - t->begin), 0.0);
  ++l->n_tasks;
  l->n_driven += t->worker == 0;
  if (l->projection == NULL) return;
  yoke_projection_task(l->projection, job, t->processor);
  yoke_timeline_add(l->timeline, (yoke_span){.kind    = YOKE_SPAN_TASK,
                                             .part    = part,
                                             .variant = variant,
                                             .worker  = t->worker,
                                             .begin   = t->begin,
                                             .saved   = t->saved,
                                             .solved  = t->solved,
                                             .end     = t->end});
}

void yoke_ledger_ranks(yoke_ledger *l, double done) {
  l->own.exchange += (double)l->stride * fmax(l->list_end - done, 0.0);
}

void yoke_ledger_end_list(yoke_ledger *l) {
  double longest = 0.0;
  for (int k = 0; k < l->n_here; ++k) {
    const int part = l->here[k];
    longest        = fmax(longest, l->span[part]);
    l->spans[part] += l->span[part];
    l->span[part] = -1.0;
  }
  l->step_longest += longest;
  if (l->projection != NULL) yoke_projection_end(l->projection);
  const double looks = LOOKS * (double)l->n_driven * l->look;
  l->lists -= (double)l->stride * looks;
  l->step_lost += looks + (yoke_clock_now() - l->list_end);
  if (l->projection != NULL) begin_serial(l);
}

void yoke_ledger_begin_output(yoke_ledger *l) {
  if (l->n_outputs++ < l->next_output) return;
  l->output_begin = yoke_clock_now();
  if (l->projection != NULL) l->output_processor = yoke_clock_thread();
}

void yoke_ledger_end_output(yoke_ledger *l) {
  if (l->n_outputs <= l->next_output) return;
  const double end = yoke_clock_now(), seconds = end - l->output_begin;
  l->output += (double)l->output_stride * seconds;
  if (l->projection != NULL) {
    yoke_projection_serial(l->projection, yoke_clock_thread() - l->output_processor);
    yoke_timeline_add(l->timeline, (yoke_span){.kind = YOKE_SPAN_OUTPUT, .begin = l->output_begin, .end = end});
  } else if (l->n_outputs >= FIRST_STEPS) {
    l->output_stride = stride_of(2, seconds);
  }
  l->next_output = l->n_outputs + l->output_stride - 1;
}
