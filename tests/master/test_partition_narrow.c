/* Splits of chains whose cuts have halos: narrow pieces around loads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "io/model_file.h"
#include "master/partition.h"

#include <stdio.h>
#include <string.h>

/* 1000 masses, loads on the third and on a pair in the middle (counted from 1). */
#define CHAIN                                                                                                          \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1e-4\n"                                                                                                      \
  "bodies:\n"                                                                                                          \
  "  c: {kind: chain, n: 1000, mass: 1, stiffness: 1, damping: 0,\n"                                                   \
  "      loads: [{on: [%s], kind: impulse, force: 1, time: 0, width: 1, rise: 0.1}]}\n"                                \
  "cosimulation: {couplings: {%s}}\n"

typedef struct proposed {
  yoke_context   *ctx;
  yoke_model     *model;
  yoke_assignment split;
  yoke_proposal   facts;
} proposed;

static void propose(proposed *p, const char *loads, const char *couplings, int n_parts) {
  char text[1000];
  *p = (proposed){0};
  snprintf(text, sizeof text, CHAIN, loads, couplings);
  assert_int_equal(yoke_context_create(&p->ctx), YOKE_OK);
  assert_int_equal(yoke_model_file_read_text(p->ctx, "test", text, strlen(text), NULL, &p->model), YOKE_OK);
  assert_int_equal(yoke_partition_propose(p->ctx, p->model, n_parts, true, &p->split, &p->facts), YOKE_OK);
}

static void done(proposed *p) {
  yoke_assignment_release(&p->split);
  yoke_proposal_release(&p->facts);
  yoke_model_destroy(&p->model);
  yoke_context_destroy(&p->ctx);
}

static void expect_ends(const proposed *p, int n, const int *ends) {
  for (int k = 0; k < n; ++k) assert_int_equal(p->split.pieces[k].first + p->split.pieces[k].n, ends[k]);
}

/* Four halos of two masses on each side of a load; the wide stretches, 477 and 490 masses, share what pieces are left. */
static void loads_have_narrow_pieces_of_their_own(void **state) {
  static const int ends[] = {11, 252, 493, 510, 755, 1000};
  proposed         p;
  (void)state;
  propose(&p, "3, 502", "formulation: overlap, halo: 2", 6);
  expect_ends(&p, 6, ends);
  for (int i = 0; i < p.facts.n_cuts; ++i) assert_false(p.facts.cuts[i].is_loaded);
  done(&p);
}

/* Eight masses are the halo of a run that names nothing of its method. */
static void halos_by_default_count_too(void **state) {
  static const int ends[] = {35, 569, 634, 1000};
  proposed         p;
  (void)state;
  propose(&p, "3, 602", "", 4);
  expect_ends(&p, 4, ends);
  done(&p);
}

/* Loads nearer to each other than three margins leave no stretch between them. */
static void loads_near_each_other_share_a_piece(void **state) {
  static const int ends[] = {491, 533, 1000};
  proposed         p;
  (void)state;
  propose(&p, "500, 502, 525", "formulation: overlap, halo: 2", 3);
  expect_ends(&p, 3, ends);
  done(&p);
}

/* Without halos, with fewer parts than narrow and wide stretches, and where narrow ones would be most of the chain. */
static void else_pieces_are_equal(void **state) {
  static const int two[] = {500, 1000}, four[] = {250, 500, 750, 1000};
  static const struct {
    const char *loads, *couplings;
    int         n;
    const int  *ends;
  } cases[] = {{"3, 602", "formulation: constitutive", 4, four},
               {"3, 602", "formulation: overlap, halo: 2", 2, two},
               {"3, 602", "formulation: overlap, halo: 80", 4, four}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    proposed p;
    propose(&p, cases[i].loads, cases[i].couplings, cases[i].n);
    expect_ends(&p, cases[i].n, cases[i].ends);
    done(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_have_narrow_pieces_of_their_own),
      cmocka_unit_test(halos_by_default_count_too),
      cmocka_unit_test(loads_near_each_other_share_a_piece),
      cmocka_unit_test(else_pieces_are_equal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
