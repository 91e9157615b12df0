/* Templates: the models that `yoke new` writes, each with a split. */
#ifndef YOKE_API_TEMPLATES_H
#define YOKE_API_TEMPLATES_H

typedef struct yoke_template {
  const char *name;    /* "pendulum" */
  const char *summary; /* one line */
  const char *text;    /* of the model file */
} yoke_template;

int                  yoke_n_templates(void);
const yoke_template *yoke_template_at(int i);
const yoke_template *yoke_template_find(const char *name); /* NULL: there is none */

#endif
