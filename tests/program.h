/* The test programs of a folder in one, which is linked once: bin/model_rod and others are names of bin/tests_model, and the name says what
 * runs. Their `main` is compiled as model_rod_main. */
#ifndef YOKE_TESTS_PROGRAM_H
#define YOKE_TESTS_PROGRAM_H

#include <stddef.h>

typedef struct test_program {
  const char *name;
  int (*run)(void);
} test_program;

/* Written by tests/CMakeLists.txt; ends with name NULL. */
extern const test_program test_programs[];

#endif
