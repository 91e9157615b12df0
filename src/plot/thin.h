/* Thinning: as many points of a long curve as a picture can show. */
#ifndef YOKE_PLOT_THIN_H
#define YOKE_PLOT_THIN_H

#include <stdbool.h>

/* Points come one by one, in picture coordinates. Of consecutive ones in the same column, `width` wide, the first, lowest, highest and last
 * remain, in their order: no peak is lost. */
typedef struct yoke_thin {
  double width;
  void (*put)(void *user, double x, double y);
  void  *user;
  bool   is_open; /* a column is begun */
  double column;
  int    n; /* points of the column so far */
  struct {
    int    at; /* which one of the column */
    double x, y;
  } first, lowest, highest, last;
} yoke_thin;

void yoke_thin_add(yoke_thin *thin, double x, double y);
void yoke_thin_end(yoke_thin *thin); /* of a curve; another may begin */

#endif
