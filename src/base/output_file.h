/* Output file: written beside its target (out.h5 as out.part.h5) and renamed over it when there is something to keep, so that
 * a file that exists is replaced by a better one or not at all.
 *
 * Invariants:
 *   1. Nothing that exists is opened for writing, except special files (devices, FIFOs, descriptors), which are written directly.
 *   2. A file that is being written is locked: a second run with the same target is refused, readers are not. What a killed run
 *      left is not locked; it stays, and the next run writes beside it (out.part2.h5).
 *   3. The target keeps its permissions; a symbolic link stays one. */
#ifndef YOKE_BASE_OUTPUT_FILE_H
#define YOKE_BASE_OUTPUT_FILE_H

#include <yoke/context.h>
#include <stdio.h>

typedef struct yoke_output_file {
  char *name;   /* as it was given, for messages */
  char *path;   /* where it is written */
  char *target; /* what it becomes; NULL: special, written directly */
  int   fd;     /* open for writing; holds the lock */
} yoke_output_file;

/* Gives (end it by keep or drop; nothing to end after a failure). */
yoke_status yoke_output_file_open(yoke_context *ctx, const char *name, yoke_output_file *out);

/* Records that it cannot be written for the reason `error` (errno), and gives the status. */
yoke_status yoke_output_file_fail(yoke_context *ctx, const yoke_output_file *out, int error);

/* A stream into it; close it before the end. NULL: see errno. */
FILE *yoke_output_file_stream(const yoke_output_file *out);

/* The end: it takes the place of its target, or it vanishes. */
yoke_status yoke_output_file_keep(yoke_context *ctx, yoke_output_file *out);
void        yoke_output_file_drop(yoke_output_file *out);

/* `put` writes its contents, and it is ended. */
yoke_status yoke_output_file_put(yoke_context *ctx, yoke_output_file *out, void (*put)(FILE *file, const void *user),
                                 const void *user);

/* All in one for a file that is written at once: `put` writes its contents. */
yoke_status yoke_output_file_write(yoke_context *ctx, const char *name, void (*put)(FILE *file, const void *user),
                                   const void *user);
yoke_status yoke_output_file_write_text(yoke_context *ctx, const char *name, const char *text);

#endif
