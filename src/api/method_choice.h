/* Method choice: a coupling method on top of the options of a run. Public part: yoke/converge.h. */
#ifndef YOKE_API_METHOD_CHOICE_H
#define YOKE_API_METHOD_CHOICE_H

#include <yoke/converge.h>

enum { YOKE_METHOD_CHOICES = 7 };

/* Copies of the n methods that the caller gave; 0: of one that says nothing. Gives (free), also after a failure. */
yoke_status yoke_methods_take(yoke_context *ctx, int n, const yoke_method_choice *given, yoke_method_choice **out);

/* The options with what the method says, and with `step` unless that is NULL. `choices` has room for run->n_choices +
 * YOKE_METHOD_CHOICES. */
yoke_run_options yoke_method_options(const yoke_run_options *run, const yoke_method_choice *method, const char *step,
                                     yoke_choice *choices);

#endif
