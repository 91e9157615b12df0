/* Places: where the bodies of a model, and the masses of its chains, are among the parts of a plan. Numbers alone: the model may be gone. */
#ifndef YOKE_MASTER_PLACES_H
#define YOKE_MASTER_PLACES_H

#include "base/memory.h"

/* Where a body or a mass of a chain went. */
typedef struct yoke_place {
  int part;
  int body; /* of the part's submodel */
  int mass; /* of that body; 0 but for chains */
} yoke_place;

/* Masses first .. first + n - 1 of a chain, in one part. */
typedef struct yoke_piece {
  int        first, n;
  yoke_place place;   /* of mass `first` */
  int        halo[2]; /* masses before and behind it of which the part holds copies (plan_halo.c) */
} yoke_piece;

typedef struct yoke_places {
  yoke_arena  arena;
  int         n_bodies;
  int        *piece_at; /* [n_bodies + 1] pieces of body b: piece_at[b] .. piece_at[b + 1] - 1, by rising masses */
  yoke_piece *pieces;   /* a body that is no chain is one piece of one "mass" */
} yoke_places;

/* The piece that a mass is in. */
const yoke_piece *yoke_piece_find(const yoke_places *places, int body, int mass);
yoke_place        yoke_place_find(const yoke_places *places, int body, int mass);
void              yoke_places_clear(yoke_places *places);

#endif
