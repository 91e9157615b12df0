/* Which states act on which: blocks of (q, v) whose rates follow from one another at an instant, through joints or through one mass matrix.
 *
 * Read off the pattern of an INDEX1 view (equations.h): unknowns a and lambda that stand in one equation belong together, with their
 * velocities and the positions that these move. A block acts on another one whose equations name its positions or velocities. Nodes of a rod act
 * on their neighbours only; those of a cable, whose mass matrix has a full inverse, on all. */
#ifndef YOKE_MODEL_DEPENDENCE_H
#define YOKE_MODEL_DEPENDENCE_H

#include "model/equations.h"

typedef struct yoke_dependence_blocks {
  int           n;
  int          *start, *member; /* [n + 1]; states of block j: member[start[j] ... start[j + 1]], ascending */
  yoke_pattern *acts_on;        /* [n, n] column j: blocks whose rates depend on block j, itself too */
  int           n_colours, *colour_start, *coloured; /* blocks by colour: those of one act on different blocks */
} yoke_dependence_blocks;

static inline int yoke_block_size(const yoke_dependence_blocks *blocks, int j) {
  return blocks->start[j + 1] - blocks->start[j];
}

/* Of the first n_states of q and of the nv velocities. Arrays live in `arena`; acts_on until it is forgotten, on failure too.
 * YOKE_E_MEMORY. */
yoke_status yoke_dependence_blocks_set(yoke_context *ctx, const yoke_dae *dae, int n_states, int nv, yoke_arena *arena,
                                       yoke_dependence_blocks *out);
void        yoke_dependence_blocks_forget(yoke_dependence_blocks *blocks);

#endif
