/* SUNDIALS as independent oracle and as baseline of benchmarks: solvers `ida` and `cvode` in programs that link it. */
#ifndef YOKE_TESTS_ORACLE_ORACLE_H
#define YOKE_TESTS_ORACLE_ORACLE_H

#include "integrate/integrator.h"

extern const yoke_integrator_ops ida_ops, cvode_ops;

#endif
