#include "interrupt.h"
#include <stddef.h>

/* The one variable of the program that is not in an object: a signal handler has no argument of its own. */
static volatile sig_atomic_t interrupted;

static void note_interrupt(int number) {
  (void)number;
  interrupted = 1;
}

void interrupt_request(void) {
  interrupted = 1;
}

const volatile sig_atomic_t *interrupt_watch(void) {
  const int        numbers[] = {SIGINT, SIGTERM};
  struct sigaction action    = {0};
  action.sa_handler          = note_interrupt;
  action.sa_flags            = SA_RESTART | (int)SA_RESETHAND; /* writes of results are not cut short; then as before */
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) sigaction(numbers[i], &action, NULL);
  return &interrupted;
}
