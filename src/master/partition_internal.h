/* Shared by the files of the partition: elements that could be cut, and what must stay together. */
#ifndef YOKE_MASTER_PARTITION_INTERNAL_H
#define YOKE_MASTER_PARTITION_INTERNAL_H

#include "master/partition.h"

typedef struct cut_element {
  int    connection; /* -1: element of a chain */
  int    body[2];
  int    mass[2]; /* chains; else 0 */
  double stiffness, frequency, mass_ratio;
  bool   is_loaded, is_rigid; /* a rigid joint has no stiffness and no frequency */
} cut_element;

void   cut_measure_connection(const yoke_model *model, const yoke_connection *c, cut_element *e);
/* Element `i` (1 .. n - 1) of a chain; `spread` is a typical deflection [m], for power laws. */
void   cut_measure_element(const yoke_chain *chain, int i, double spread, cut_element *e);
/* How bad a cut is, from 0; omega_max is the largest frequency of all elements. */
double cut_badness(const cut_element *e, double omega_max);

/* Every pair of (body, mass) that must stay together: by a rigid joint, or because one load or event reads both. With `cuts_joints` rigid
 * joints bind only masses of chains. */
typedef void (*cut_bond)(void *user, int body_a, int mass_a, int body_b, int mass_b);
void cut_visit_bonds(const yoke_model *model, bool cuts_joints, cut_bond visit, void *user);
bool cut_is_rigid(const yoke_connection *c);
bool cut_is_strong(const yoke_load *load);

/* Writes down a cut; takes `name`. */
yoke_status cut_take(yoke_context *ctx, const cut_element *e, char *name, const char *kind, const int part[2],
                     yoke_proposal *facts);
void        cut_note(const cut_element *e, yoke_proposal *facts); /* one more candidate */

/* Bodies in the halo of a cut of chain `body`; 0: its cuts have none (partition_narrow.c). */
int  cut_halo_of(const yoke_model *model, int body);
/* The ends [n_pieces] of pieces of n masses with narrow ones around loads. false: not so many pieces, too many loads, no halo, or no memory (arena). */
bool cut_narrow_ends(yoke_arena *arena, int n, const bool *is_loaded, int halo, int n_pieces, int *ends);

/* Cut chain `body` into n_pieces, the parts from `first_part`. */
yoke_status cut_chain(yoke_context *ctx, const yoke_model *model, int body, int first_part, int n_pieces,
                      yoke_assignment *out, yoke_proposal *facts);

#endif
