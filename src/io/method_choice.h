/* Method choice: a coupling method on top of the options of a run. Public part: yoke/converge.h. */
#ifndef YOKE_IO_METHOD_CHOICE_H
#define YOKE_IO_METHOD_CHOICE_H

#include <yoke/converge.h>

/* The options with what the method says, and with `step` unless that is NULL. `index` goes into one more override: sets needs room for
 * run->n_sets + 1 texts, `text` for its words. */
yoke_run_options yoke_method_options(const yoke_run_options *run, const yoke_method_choice *method, const char *step,
                                     const char **sets, char text[64]);

#endif
