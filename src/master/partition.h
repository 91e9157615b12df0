/* Partition: which bodies, which masses of a chain, go together when a model is cut into n parts of like cost.
 *
 * Bodies that rigid joints, loads or events hold together are one group; where that leaves too few, rigid joints may be cut as well, each
 * as bad as ten of the stiffest elements; groups are the vertices of a graph, weighted by their
 * freedoms. Force elements and flexible joints are its edges. An edge is the heavier, the worse it is to cut it:
 *   w = (omega / omega_max) sqrt(m_heavy / m_light) (3 next to a load),  omega = max(sqrt(k / m_r), d / m_r),
 * with the reduced mass m_r = m1 m2 / (m1 + m2) (rotations: of the inertias). METIS finds parts of like weight with the least
 * sum of cut edges. A chain that is larger than one and a half parts is cut by index into parts of its own, near n/p, 2n/p, ..., at the
 * best element nearby by the same measure, unless a rigid joint or a load holds it to other bodies. */
#ifndef YOKE_MASTER_PARTITION_H
#define YOKE_MASTER_PARTITION_H

#include "model/model.h"

typedef struct yoke_chain_piece { /* masses first .. first + n - 1 of body `chain`; n = 0: none */
  int chain, first, n;
} yoke_chain_piece;

typedef struct yoke_assignment {
  int               n_parts, n_bodies; /* bodies of the model without ports of foreign subsystems, which are the last */
  int              *part_of;           /* [n_bodies]; of a chain that is cut: its first part */
  yoke_chain_piece *pieces;            /* [n_parts] */
} yoke_assignment;

typedef struct yoke_proposal_part {
  bool is_piece; /* of a chain */
  int  n_bodies; /* piece: masses */
  int  cost;     /* freedoms of its bodies */
} yoke_proposal_part;

typedef struct yoke_proposal_cut {
  char       *name;       /* connection, or element of a chain: "c.element[12]" (before mass 12, counted from 1) */
  const char *kind;       /* "spring-damper", "element" */
  int         part[2];    /* of both sides */
  double      stiffness;  /* largest of its directions [N/m] or [N m/rad] */
  double      frequency;  /* omega [rad/s] */
  double      mass_ratio; /* heavier to lighter side, >= 1 */
  bool        is_loaded;  /* a load acts next to it */
  bool        is_rigid;   /* a rigid joint: stiffness and frequency are 0 */
} yoke_proposal_cut;

/* Where the model is cut and why. */
typedef struct yoke_proposal {
  int                 n_parts, n_cuts;
  yoke_proposal_part *parts;
  yoke_proposal_cut  *cuts;
  double              balance;            /* largest cost to mean cost, >= 1 */
  double              frequency_range[2]; /* of all elements that could be cut [rad/s] */
  int                 n_candidates;       /* elements that could be cut */
  int                 n_groups;
} yoke_proposal;

/* Gives both; release them in any case. Where the model has fewer groups than parts are asked for, rigid joints are cut too if
 * `may_cut_joints`. YOKE_E_UNSUPPORTED: this build has no METIS (chains need none). YOKE_E_USAGE: there are too few groups. */
yoke_status yoke_partition_propose(yoke_context *ctx, const yoke_model *model, int n_parts, bool may_cut_joints,
                                   yoke_assignment *out, yoke_proposal *facts);
void        yoke_assignment_release(yoke_assignment *assignment);
void        yoke_proposal_release(yoke_proposal *proposal);

#endif
