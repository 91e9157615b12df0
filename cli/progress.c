#include "progress.h"
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void duration_text(double seconds, char *text, int size) {
  const size_t room = (size_t)size;
  if (!isfinite(seconds) || seconds > 3.6e8) {
    snprintf(text, room, "very long");
  } else if (seconds < 60.0) {
    snprintf(text, room, "%.0f s", ceil(seconds));
  } else if (seconds < 3600.0) {
    snprintf(text, room, "%d min %d s", (int)(seconds / 60.0), (int)fmod(seconds, 60.0));
  } else {
    snprintf(text, room, "%d h %d min", (int)(seconds / 3600.0), (int)(fmod(seconds, 3600.0) / 60.0));
  }
}

void progress_start(progress *p, bool is_quiet) {
  *p       = (progress){.is_on = !is_quiet && isatty(STDERR_FILENO) == 1};
  p->begin = p->drawn = clock_now();
}

static void draw(progress *p, double now, double share, const char *what) {
  char left[40];
  duration_text(share > 0.0 ? (now - p->begin) * (1.0 - share) / share : (double)INFINITY, left, (int)sizeof left);
  fprintf(stderr, "\r\033[K%3d %%  %s%s left", (int)(100.0 * share), what, left);
  fflush(stderr);
  p->drawn    = now;
  p->is_shown = true;
}

bool progress_update(void *user, double t, double t_start, double t_end) {
  progress *p = user;
  if (!p->is_on) return true;
  const double now = clock_now();
  if (now - p->drawn < 0.2) return true;
  const double share = t_end > t_start ? (t - t_start) / (t_end - t_start) : 1.0;
  char         what[80];
  snprintf(what, sizeof what, "t = %.6g of %.6g s, ", t, t_end);
  draw(p, now, share, what);
  return true;
}

bool progress_share(void *user, double share) {
  progress    *p   = user;
  const double now = p->is_on ? clock_now() : 0.0;
  if (p->is_on && now - p->drawn >= 0.2) draw(p, now, share, "");
  return true;
}

void progress_clear(progress *p) {
  if (p->is_shown) fputs("\r\033[K", stderr);
  p->is_shown = false;
}
