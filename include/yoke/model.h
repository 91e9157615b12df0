/* Model: a mechanical system, read from a model file (docs/model-file.md) or built by calls (yoke/draft.h). Constant: any number of threads may use one at
 * the same time. */
#ifndef YOKE_MODEL_H
#define YOKE_MODEL_H

#include <yoke/context.h>
#include <yoke/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_model yoke_model;

/* A setting by the name of its option ("order", yoke/settings.h) or by its key ("output.every"), with its value as in the model file. */
typedef struct yoke_choice {
  const char *name, *value;
} yoke_choice;

/* All is borrowed for the call. */
typedef struct yoke_load_options {
  size_t             size;
  int                n_sets; /* overrides "path=value", e.g. "bodies.upper.mass=3", applied in this order ... */
  const char *const *sets;
  int                n_choices; /* ... followed by these */
  const yoke_choice *choices;
  bool monolithic; /* it will run as a whole: a split that does not fit is left out, with a warning that says why */
} yoke_load_options;

/* Read, check and build the model of `path`, with everything it includes. options NULL: none. Up to 20 mistakes are recorded in
 * `ctx`, each with file, line, column, key, what was found and what was expected. Gives.
 *   YOKE_E_MODEL   a mistake in the file or in an override
 *   YOKE_E_IO      a file cannot be read */
YOKE_API yoke_status yoke_model_load(yoke_context *ctx, const char *path, const yoke_load_options *options,
                                     yoke_model **out);

/* The same from a text of `size` bytes; `name` stands for the file in messages, includes are relative to its folder. */
YOKE_API yoke_status yoke_model_load_text(yoke_context *ctx, const char *name, const char *text, size_t size,
                                          const yoke_load_options *options, yoke_model **out);

YOKE_API void yoke_model_destroy(yoke_model **model);

/* What the file says. Texts belong to the model. */
YOKE_API const char *yoke_model_name(const yoke_model *model);
YOKE_API const char *yoke_model_text(const yoke_model *model);         /* as one file: includes and overrides applied */
YOKE_API double      yoke_model_t_start(const yoke_model *model);      /* [s] */
YOKE_API double      yoke_model_t_end(const yoke_model *model);        /* [s] */
YOKE_API const char *yoke_model_output_file(const yoke_model *model);  /* NULL: none given */
YOKE_API const char *yoke_model_output_csv(const yoke_model *model);   /* NULL: none given */
YOKE_API double      yoke_model_output_every(const yoke_model *model); /* [s]; 0: every accepted step */
YOKE_API const char *yoke_model_solver(const yoke_model *model);       /* `solvers.default.kind` */
YOKE_API int         yoke_model_n_bodies(const yoke_model *model);
YOKE_API int         yoke_model_n_connections(const yoke_model *model);
YOKE_API int         yoke_model_n_loads(const yoke_model *model);
YOKE_API int         yoke_model_n_events(const yoke_model *model);
YOKE_API int         yoke_model_n_parts(const yoke_model *model); /* of the split; 0: none */

/* A small commented model for a new project; runs as it is. */
YOKE_API const char *yoke_model_starter(void);

#ifdef __cplusplus
}
#endif
#endif
