#include "control/order_control.h"

#include <math.h>
#include <stdbool.h>

static double smaller(double a, double b) {
  return a < b ? a : b;
}

/* SDN(j); what is not known yet counts as large: no reason to rise, and none to fall below what works. */
static double sdn(const yoke_order_facts *f, int j) {
  return j >= 1 && j <= f->n_sdn ? f->sdn[j] : (double)INFINITY;
}

static bool knows(const yoke_order_facts *f, int j) {
  return j <= f->n_sdn;
}

static bool may_rise(const yoke_order_facts *f, int k_new) {
  return f->k < f->k_max && f->n_good > f->k && k_new == f->k && knows(f, f->k + 2);
}

/* SDN(k + 1) < SDN(k) < ... < SDN(1) */
static bool falls(const yoke_order_facts *f, int k) {
  for (int j = 1; j <= k; ++j) {
    if (knows(f, j + 1) && !(sdn(f, j + 1) < sdn(f, j))) return false;
  }
  return true;
}

static int conservative(const yoke_order_facts *f) {
  int k = f->k;
  while (k > 0 && !falls(f, k)) --k;
  if (may_rise(f, k) && sdn(f, f->k + 2) < sdn(f, f->k + 1)) k = f->k + 1;
  return k;
}

static int lower_ida(const yoke_order_facts *f) {
  const int k = f->k;
  if (!knows(f, k + 1)) return k;
  if (k == 1 && sdn(f, 1) <= 0.5 * sdn(f, 2)) return 0;
  if (k > 1 && fmax(sdn(f, k), sdn(f, k - 1)) <= sdn(f, k + 1)) return k - 1;
  return k;
}

static int ida(const yoke_order_facts *f) {
  const int k     = f->k;
  int       k_new = lower_ida(f);
  if (f->n_failed > 3 && k_new > 1) k_new = 1;
  if (f->n_failed > 5) k_new = 0;
  if (!may_rise(f, k_new)) return k_new;
  if (k == 0) return sdn(f, 2) < 0.5 * sdn(f, 1) ? 1 : 0;
  if (sdn(f, k) <= smaller(sdn(f, k + 1), sdn(f, k + 2))) return k - 1;
  return sdn(f, k + 2) < sdn(f, k + 1) ? k + 1 : k;
}

int yoke_order_next(yoke_order_rule rule, const yoke_order_facts *facts) {
  return rule == YOKE_ORDER_RULE_CONSERVATIVE ? conservative(facts) : ida(facts);
}
