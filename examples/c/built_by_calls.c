/* A model built by calls: a chain of rods of any number, halved into two subsystems, written by a loop and simulated. The model's text, as a file would
 * hold it, can be printed.
 *   usage: built_by_calls [RODS [text]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yoke/yoke.h>

enum { MOST = 200 };

/* Rods of 0.2 m and 0.1 kg, one below the other, the first hinged to the ground; all start level. */
static yoke_status build(yoke_context *ctx, int n, yoke_model **model) {
  static const double gravity[2] = {0.0, -9.81}, l = 0.2, m = 0.1;
  static char         name[MOST][16];
  const char         *names[MOST];
  yoke_draft         *draft = NULL;
  YOKE_TRY(yoke_draft_create(ctx, "rods", &draft));
  yoke_draft_set_text(draft, "name", "rods");
  yoke_draft_set_numbers(draft, "gravity", 2, gravity);
  yoke_draft_set_number(draft, "t_end", 0.5);
  for (int i = 0; i < n; ++i) {
    yoke_draft_body       rod;
    yoke_draft_frame      end;
    yoke_draft_connection hinge;
    char                  joint[16], before[32], top[32];
    snprintf(name[i], sizeof name[i], "rod%d", i + 1);
    snprintf(joint, sizeof joint, "hinge%d", i + 1);
    snprintf(top, sizeof top, "%s.top", name[i]);
    snprintf(before, sizeof before, "%s%s", i > 0 ? name[i - 1] : "ground", i > 0 ? ".tip" : "");
    names[i] = name[i];
    memset(&rod, 0, sizeof rod);
    memset(&end, 0, sizeof end);
    memset(&hinge, 0, sizeof hinge);
    rod.size        = sizeof rod;
    rod.kind        = "planar";
    rod.mass        = m;
    rod.inertia[0]  = m * l * l / 12.0;
    rod.position[0] = (i + 0.5) * l;
    yoke_draft_add_body(draft, name[i], &rod);
    end.size  = sizeof end;
    end.at[0] = -l / 2.0;
    yoke_draft_add_frame(draft, name[i], "top", &end);
    end.at[0] = l / 2.0;
    yoke_draft_add_frame(draft, name[i], "tip", &end);
    hinge.size       = sizeof hinge;
    hinge.kind       = "revolute";
    hinge.between[0] = before;
    hinge.between[1] = top;
    yoke_draft_add_connection(draft, joint, &hinge);
  }
  if (n > 1) {
    yoke_draft_add_part(draft, "upper", n / 2, names);
    yoke_draft_add_part(draft, "lower", n - n / 2, names + n / 2);
    yoke_draft_choose(draft, "step", "1e-3");
  }
  const yoke_status status = yoke_model_build(ctx, draft, NULL, model);
  yoke_draft_destroy(&draft);
  return status;
}

static yoke_status simulate(yoke_context *ctx, const yoke_model *model, int n) {
  yoke_simulation *s = NULL;
  char             last[2][32];
  const char      *names[2] = {last[0], last[1]};
  int              handles[2];
  double           at[2];
  snprintf(last[0], sizeof last[0], "rod%d.tip.x", n);
  snprintf(last[1], sizeof last[1], "rod%d.tip.y", n);
  yoke_status status = yoke_simulation_create(ctx, model, NULL, &s);
  if (status == YOKE_OK) status = yoke_simulation_find(ctx, s, 2, names, handles);
  if (status == YOKE_OK) status = yoke_simulation_run_to(ctx, s, yoke_simulation_t_end(s));
  if (status == YOKE_OK) status = yoke_simulation_get(ctx, s, 2, handles, at);
  if (status == YOKE_OK) printf("%d rods: the last tip is at (%.9f, %.9f) m after 0.5 s\n", n, at[0], at[1]);
  yoke_simulation_destroy(&s);
  return status;
}

int main(int argc, char **argv) {
  const int     n     = argc > 1 ? atoi(argv[1]) : 10;
  yoke_context *ctx   = NULL;
  yoke_model   *model = NULL;
  if (n < 1 || n > MOST) {
    fprintf(stderr, "%d rods, expected 1 to %d\n", n, MOST);
    return 2;
  }
  yoke_status status = yoke_context_create(&ctx);
  if (status == YOKE_OK) status = build(ctx, n, &model);
  if (status == YOKE_OK && argc > 2) fputs(yoke_model_text(model), stdout);
  if (status == YOKE_OK) status = simulate(ctx, model, n);
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) fprintf(stderr, "%s\n", yoke_context_message(ctx, i));
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}
