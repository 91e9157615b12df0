#include "oracle/oracle.h"

#include "integrate/guests.h"

const yoke_integrator_ops *const yoke_guest_integrators[] = {&ida_ops, &cvode_ops, NULL};
