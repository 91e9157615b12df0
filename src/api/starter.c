/* Starter: writes the models of `yoke new`. */
#include <yoke/model.h>
#include <yoke/run.h>
#include "api/templates.h"
#include "base/given.h"
#include "base/text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *yoke_model_starter(void) {
  return yoke_template_at(0)->text;
}

bool yoke_starter_template(int i, const char **name, const char **summary) {
  if (i < 0 || i >= yoke_n_templates()) return false;
  *name    = yoke_template_at(i)->name;
  *summary = yoke_template_at(i)->summary;
  return true;
}

static yoke_status unknown(yoke_context *ctx, const char *name) {
  const char *names[16];
  int         n = 0;
  for (; n < yoke_n_templates() && n < 16; ++n) names[n] = yoke_template_at(n)->name;
  const char *nearest = yoke_text_nearest(name, names, n);
  return yoke_fail(ctx, YOKE_E_USAGE, "there is no template '%s'%s%s%s; yoke new lists them", name,
                   nearest != NULL ? ": did you mean '" : "", nearest != NULL ? nearest : "",
                   nearest != NULL ? "'?" : "");
}

yoke_status yoke_starter_write(yoke_context *ctx, const char *template_name, const char *path) {
  YOKE_TRY(yoke_given(ctx, path, "path of a model file"));
  const yoke_template *model = template_name != NULL ? yoke_template_find(template_name) : yoke_template_at(0);
  if (model == NULL) return unknown(ctx, template_name);
  errno      = 0;
  FILE *file = fopen(path, "wx"); /* x: fails when the file exists, also when another program creates it right now */
  if (!file) {
    return yoke_fail(ctx, YOKE_E_IO, "cannot create '%s': %s", path,
                     errno == EEXIST ? "it exists already and is not overwritten" : strerror(errno));
  }
  const bool written = fputs(model->text, file) >= 0;
  const bool closed  = fclose(file) == 0;
  if (written && closed) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_IO, "cannot write '%s': %s", path, strerror(errno ? errno : EIO));
}
