/* Energy account: what every subsystem and every coupling of a graph stores, loses, gets and passes on, and what none of this explains.
 *
 *   subsystem   leak = dE + dD - dX - work                E stored, D dissipated, X external work, work: in through all its ports
 *   coupling    leak = dE + dD + work[1] + work[2]        E, D of the element that it holds; work[k] goes out to the subsystem of side k
 *   total       their sum: dE + dD - dX of all, whatever the works are, because each stands on both sides
 * The same samples of the force and of the displacement count on both sides of a port. An element that one side holds between its own motion
 * and copies of the other's stores what it stores there. Works are integrals of the applied signals over the motion of the ports between
 * macro points, by two points of Gauss; positions are Hermite polynomials there, so that a constant force has the work f . dx.
 * All numbers are since the start, but for stored energies.
 *
 * Works, losses and external work add up in every step. What is stored counts by its change alone: it is looked at, and leaks are told, at balance
 * points, macro points of which corrections take every one and others as many as cost little (yoke_account_is_due). Between them the numbers are
 * those of the last one. */
#ifndef YOKE_ENERGY_ACCOUNT_H
#define YOKE_ENERGY_ACCOUNT_H

#include "coupling/graph.h"

/* Numbers of a subsystem and of a coupling [J]. */
enum {
  YOKE_ACCOUNT_ENERGY,
  YOKE_ACCOUNT_DISSIPATED,
  YOKE_ACCOUNT_EXTERNAL, /* subsystems */
  YOKE_ACCOUNT_WORK,
  YOKE_ACCOUNT_WORK_1 = YOKE_ACCOUNT_EXTERNAL, /* couplings */
  YOKE_ACCOUNT_WORK_2,
  YOKE_ACCOUNT_LEAK,
  YOKE_ACCOUNT_CORRECTED, /* couplings: what corrections did, part of the works */
  YOKE_N_ACCOUNTS
};

/* Places in the list of all numbers. */
enum { YOKE_ACCOUNT_TOTAL_LEAK, YOKE_N_ACCOUNT_TOTALS };
static inline int yoke_account_of_part(int part, int number) {
  return YOKE_N_ACCOUNT_TOTALS + part * YOKE_N_ACCOUNTS + number;
}
static inline int yoke_account_of_wire(int n_parts, int wire, int number) {
  return yoke_account_of_part(n_parts + wire, number);
}

typedef struct yoke_account yoke_account;

typedef struct yoke_account_def { /* all kept */
  yoke_graph            *graph;
  int                    n_parts;
  yoke_subsystem *const *subsystems;
  int                    n_wires;
  const yoke_wire       *wires;
} yoke_account_def;

/* Can the leak of single subsystems and couplings be told? Not where a coupling does not tell what goes through its ports. */
bool yoke_account_is_complete(int n_wires, const yoke_wire *wires);

/* Before the graph is started. All subsystems account for their energies and works. Gives. */
yoke_status yoke_account_create(yoke_context *ctx, const yoke_account_def *def, yoke_account **out);
void        yoke_account_destroy(yoke_account **account);

/* The graph was started. */
yoke_status yoke_account_start(yoke_account *account, yoke_context *ctx);
/* States, inputs or prescribed motions jump at the present time, and have done so: what is stored more behind it is no leak, but work from outside.
 * It becomes a balance point. Collective. */
yoke_status yoke_account_begin_jump(yoke_account *account, yoke_context *ctx);
yoke_status yoke_account_end_jump(yoke_account *account, yoke_context *ctx);
/* A step was accepted; `before`: outputs of all subsystems, one behind the other, at its beginning t. Works of couplings are counted. */
yoke_status yoke_account_look(yoke_account *account, double t, const double *before, yoke_context *ctx);
/* Behind it: have solvers done so much since the last balance point that another one costs little? `evaluations`: of the step, the same on all
 * ranks and for any number of threads. */
bool        yoke_account_is_due(yoke_account *account, int64_t evaluations);
/* The present time becomes a balance point, before anything is changed there. Collective; nothing where it is one. */
yoke_status yoke_account_balance(yoke_account *account, yoke_context *ctx);
bool        yoke_account_is_balanced(const yoke_account *account);
/* The total leak since it was taken last; NaN where no balance point is. */
double      yoke_account_take_leak(yoke_account *account);

/* The correction of a coupling has done so much work on a side in the last step, which is balanced [J]: work of the coupling as that of its
 * channels. */
void yoke_account_correct(yoke_account *account, int wire, int side, double work);

/* All numbers at the last balance point, and as they were at the last one before the present step. */
const double *yoke_account_now(const yoke_account *account);
const double *yoke_account_before(const yoke_account *account);

/* [n_parts, YOKE_N_ENERGIES] of the subsystems at the last balance point; behind a jump those behind it. */
const double *yoke_account_energies(const yoke_account *account);
/* [n_wires] stored by the elements of couplings with the true motions of their ports, at the same time, which is the present. */
const double *yoke_account_stored(yoke_account *account);

/* Lost in the elements of all couplings since the start, with the true motions of their ports [J]. */
double yoke_account_lost(const yoke_account *account);
/* Work of jumps that no subsystem tells: into the elements of couplings with the true motions of their ports, and of halos [J]. */
double yoke_account_brought(const yoke_account *account);

typedef struct yoke_account_sums {
  double leak, largest; /* total at the present time; largest |leak| so far [J] */
  double corrected;     /* work of all corrections [J] */
  double size;  /* energy that moves: the largest kinetic energy and the swing of the potential one so far [J] */
  int    worst; /* the coupling with the largest |leak|; -1: there is none */
} yoke_account_sums;
yoke_account_sums yoke_account_sum(const yoke_account *account);

void        yoke_account_pack(const yoke_account *account, yoke_pack *out);
yoke_status yoke_account_unpack(yoke_account *account, yoke_unpack *in, yoke_context *ctx);

#endif
