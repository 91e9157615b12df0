/* Model file: reads docs/model-file.md's YAML into a yoke_model (model/model.h). */
#ifndef YOKE_IO_MODEL_FILE_H
#define YOKE_IO_MODEL_FILE_H

#include "io/yaml.h"
#include "model/model.h"

/* "path=value", e.g. "bodies.upper.mass=3"; applied in order. */
typedef struct yoke_overrides {
  int                n;
  const char *const *texts;    /* [n] */
  bool               is_whole; /* the model runs as a whole: a split that does not fit is left out, with a warning */
} yoke_overrides;

/* Read, check and build the model of `path`, with everything it includes. `overrides` may be NULL. Mistakes are recorded in `ctx`: the
 * first 20 each with file, line, column, key, what was found and what was expected, the others counted. Gives. */
yoke_status yoke_model_file_read(yoke_context *ctx, const char *path, const yoke_overrides *overrides,
                                 yoke_model **out);

/* The same from a text of `size` bytes; `name` stands for the file in messages, includes are relative to its folder. */
yoke_status yoke_model_file_read_text(yoke_context *ctx, const char *name, const char *text, size_t size,
                                      const yoke_overrides *overrides, yoke_model **out);

/* The same from a tree, which is borrowed and left as it is. */
yoke_status yoke_model_file_read_tree(yoke_context *ctx, const char *name, const yoke_yaml_node *root,
                                      const yoke_overrides *overrides, yoke_model **out);

#endif
