/* Matrix Market files (.mtx): `coordinate` or `array`, real or integer, general or symmetric. */
#ifndef YOKE_IO_MATRIX_MARKET_H
#define YOKE_IO_MATRIX_MARKET_H

#include "base/memory.h"

typedef struct yoke_market_matrix {
  yoke_arena arena;
  int        n_rows, n_cols;
  bool       is_symmetric; /* one entry of a pair stands for both */
  int        n;
  int       *row, *col; /* [n] from 1 */
  double    *value;
} yoke_market_matrix;

/* Every failure names file and line: YOKE_E_IO where the file cannot be read, YOKE_E_MODEL where it is not valid. Clear it afterwards. */
yoke_status yoke_market_read(yoke_context *ctx, const char *path, yoke_market_matrix *out);
void        yoke_market_clear(yoke_market_matrix *matrix);

#endif
