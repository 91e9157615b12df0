/* Options that change a model before it runs: each stands for a key of the model file or for how the run is done. Shared by the
 * commands that run models. */
#ifndef YOKE_CLI_MODEL_OPTIONS_H
#define YOKE_CLI_MODEL_OPTIONS_H

#include "options.h"
#include <yoke/yoke.h>

typedef struct model_arguments {
  text_list   set;
  const char *t_end, *solver, *rtol, *atol;
  const char *scheme, *sequence, *order, *step, *macro_rtol, *estimator, *start, *jacobian, *predictor, *formulation,
      *decomposition, *extension;
  const char *threads, *exec, *trace; /* trace "": to stderr */
  bool        check;
} model_arguments;

/* Entries of an option table; `type` has a member `model` of type model_arguments. */
#define MODEL_OPTION(type, name, kind, member, value, help)                                                            \
  { name, 0, kind, offsetof(type, model.member), value, help }
#define MODEL_OPTIONS(type)                                                                                            \
  MODEL_OPTION(type, "set", OPTION_LIST, set, "KEY=VALUE", "override a key of the model file; repeatable"),            \
      MODEL_OPTION(type, "t-end", OPTION_TEXT, t_end, "T", "end time [s] (key t_end)"),                                \
      MODEL_OPTION(type, "solver", OPTION_TEXT, solver, "NAME",                                                        \
                   "method (key solvers.default.kind); yoke help solvers"),                                            \
      MODEL_OPTION(type, "rtol", OPTION_TEXT, rtol, "R", "relative tolerance (key solvers.default.rtol)"),             \
      MODEL_OPTION(type, "atol", OPTION_TEXT, atol, "A", "absolute tolerance (key solvers.default.atol)"),             \
      MODEL_OPTION(type, "scheme", OPTION_TEXT, scheme, "NAME", "key cosimulation.scheme; yoke help schemes"),         \
      MODEL_OPTION(type, "sequence", OPTION_TEXT, sequence, "WORD",                                                    \
                   "jacobi, gauss-seidel (key cosimulation.sequence)"),                                                \
      MODEL_OPTION(type, "order", OPTION_TEXT, order, "K",                                                             \
                   "polynomial degree, 0 to 5, or auto (key cosimulation.order)"),                                     \
      MODEL_OPTION(type, "step", OPTION_TEXT, step, "H", "macro step [s], or auto (key cosimulation.step)"),           \
      MODEL_OPTION(type, "macro-rtol", OPTION_TEXT, macro_rtol, "R",                                                   \
                   "step control: relative error of one macro step (key cosimulation.step.rtol)"),                     \
      MODEL_OPTION(type, "estimator", OPTION_TEXT, estimator, "WORD",                                                  \
                   "step control: md, cv, le (key cosimulation.step.estimator)"),                                      \
      MODEL_OPTION(type, "start", OPTION_TEXT, start, "WORD",                                                          \
                   "ramp, ramp-low, graded, exact (key cosimulation.start)"),                                          \
      MODEL_OPTION(type, "formulation", OPTION_TEXT, formulation, "NAME",                                              \
                   "key cosimulation.couplings.formulation; yoke help formulations"),                                  \
      MODEL_OPTION(type, "decomposition", OPTION_TEXT, decomposition, "WORD",                                          \
                   "force/force, ... (key cosimulation.couplings.decomposition)"),                                     \
      MODEL_OPTION(type, "extension", OPTION_TEXT, extension, "WORD",                                                  \
                   "none, d, i (key cosimulation.couplings.extension)"),                                               \
      MODEL_OPTION(type, "jacobian", OPTION_TEXT, jacobian, "WORD",                                                    \
                   "finite-difference, analytic, broyden (key cosimulation.jacobian)"),                                \
      MODEL_OPTION(type, "predictor", OPTION_TEXT, predictor, "WORD",                                                  \
                   "extrapolation, ... (key cosimulation.predictor)"),                                                 \
      MODEL_OPTION(type, "check", OPTION_FLAG, check, NULL, "subsystems watch their contract (slower)"),               \
      MODEL_OPTION(type, "trace", OPTION_MAYBE, trace, "FILE",                                                         \
                   "every macro step and call of a subsystem, to stderr or FILE"),                                     \
      MODEL_OPTION(type, "threads", OPTION_TEXT, threads, "N",                                                         \
                   "threads; default: all cores. The result does not depend on it"),                                   \
      MODEL_OPTION(type, "exec", OPTION_TEXT, exec, "WORD",                                                            \
                   "threads, serial, shuffled, eager: who runs the subsystems. The result does not depend on it")

/* Checks the words and numbers, and fills the options. PARSE_DONE, or an exit code after a message. */
int model_options_apply(const command_def *command, const model_arguments *a, yoke_run_options *options);

/* What --trace asks for. */
void trace_apply(const model_arguments *a, yoke_run_options *options);
/* Gives the exit code: `code`, or that of a trace on stderr that could not be written. */
int  trace_end(const model_arguments *a, int code);

#endif
