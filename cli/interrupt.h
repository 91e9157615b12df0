/* Interrupt: Ctrl-C and SIGTERM ask a run to stop after its present step; the second one ends the program at once. */
#ifndef YOKE_CLI_INTERRUPT_H
#define YOKE_CLI_INTERRUPT_H

#include <signal.h>

/* The same from inside the program. */
void interrupt_request(void);

/* Installs the handlers; the flag is set when a signal came. */
const volatile sig_atomic_t *interrupt_watch(void);

#endif
