#include "steps.h"

/* "label   error 3, event 1"; nothing when all are 0. */
static void print_reasons(FILE *file, int width, const char *label, int n, const int64_t *count, const char *what) {
  const char *comma = "";
  int64_t     sum   = 0;
  for (int i = 0; i < n; ++i) sum += count[i];
  if (sum == 0) return;
  fprintf(file, "%-*s ", width, label);
  for (int i = 0; i < n; ++i) {
    if (count[i] == 0) continue;
    fprintf(file, "%s%s %lld", comma, yoke_reason_word(i), (long long)count[i]);
    comma = ", ";
  }
  fprintf(file, " (%s)\n", what);
}

void print_steps(FILE *file, int width, const yoke_step_report *r) {
  const char *comma = "";
  if (r->steps == 0) return;
  fprintf(file, "%-*s %.3g to %.3g s, mean %.3g s", width, "step sizes", r->smallest, r->largest, r->mean);
  if (r->largest_error >= 0.0) fprintf(file, "; errors up to %.3g of the tolerance", r->largest_error);
  fprintf(file, "\n%-*s ", width, "degrees");
  for (int k = 0; k < YOKE_N_DEGREES; ++k) {
    if (r->degrees[k] == 0) continue;
    fprintf(file, "%s%d: %.3g %%", comma, k, 100.0 * (double)r->degrees[k] / (double)r->steps);
    comma = ", ";
  }
  fputc('\n', file);
  print_reasons(file, width, "rejected", YOKE_N_REJECTED, r->rejected, "trials by reason");
  print_reasons(file, width, "shortened", YOKE_N_REASONS, r->reduced, "accepted steps by the last reason");
  if (r->forced > 0) {
    fprintf(file,
            "%-*s uncontrolled acceptance: %lld steps have an error above the tolerance and could not be repeated\n",
            width, "warning", (long long)r->forced);
  }
}

static void json_reasons(json *j, const char *key, int n, const int64_t *count) {
  json_begin(j, key, '{');
  for (int i = 0; i < n; ++i) json_whole(j, yoke_reason_word(i), count[i]);
  json_end(j, '}');
}

void json_steps(json *j, const yoke_step_report *r) {
  json_number(j, "smallest_step", r->smallest);
  json_number(j, "mean_step", r->mean);
  json_number(j, "largest_step", r->largest);
  json_number(j, "largest_error", r->largest_error);
  json_reasons(j, "rejected_by", YOKE_N_REJECTED, r->rejected);
  json_reasons(j, "reduced_by", YOKE_N_REASONS, r->reduced);
  json_begin(j, "degrees", '[');
  for (int k = 0; k < YOKE_N_DEGREES; ++k) json_whole(j, NULL, r->degrees[k]);
  json_end(j, ']');
  json_whole(j, "forced_steps", r->forced);
}
