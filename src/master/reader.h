/* Reader: outputs of a system by number, at its present time. What an owner shows is asked once and kept until the system moves, so that
 * reading a number again is one look into an array.
 *
 * Numbers of one subsystem are asked together, those of wires together, and the energies; a group that nobody reads costs nothing. */
#ifndef YOKE_MASTER_READER_H
#define YOKE_MASTER_READER_H

#include "master/system.h"

typedef struct yoke_reader yoke_reader;

/* Keeps the system. Gives. */
yoke_status yoke_reader_create(yoke_context *ctx, yoke_system *system, yoke_reader **out);
void        yoke_reader_destroy(yoke_reader **reader);

/* n more outputs, whose numbers go on behind those that are there; the names are kept. After a failure none is there. What cannot be shown
 * fails with its name. */
yoke_status yoke_reader_add(yoke_reader *reader, int n, const yoke_output *list, char *const *names, yoke_context *ctx);
int         yoke_reader_n(const yoke_reader *reader);

/* The system has moved. */
void yoke_reader_forget(yoke_reader *reader);

/* values [n] of the outputs with these numbers. Allocates nothing. YOKE_E_USAGE: no such number. YOKE_E_UNSTABLE: a value is not finite, or
 * cannot be evaluated; values that can be are there. */
yoke_status yoke_reader_get(yoke_reader *reader, int n, const int *numbers, double *values, yoke_context *ctx);

#endif
