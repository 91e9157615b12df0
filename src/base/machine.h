/* Machine: what results depend on in their last bits beyond the program: instructions of the processor that libraries choose by, the library
 * of mathematical functions, the kernel of BLAS. */
#ifndef YOKE_BASE_MACHINE_H
#define YOKE_BASE_MACHINE_H

typedef struct yoke_machine {
  char processor[64];    /* "AMD EPYC 7B13"; "": not known */
  char features[64];     /* "avx avx2 fma avx512f": those that kernels are chosen by */
  char math_library[32]; /* "glibc 2.36" */
  char blas[96];         /* "OpenBLAS 0.3.21 Haswell" */
} yoke_machine;

void yoke_machine_look(yoke_machine *out);

/* What decides bits in one line, "avx2 fma; glibc 2.36; OpenBLAS 0.3.21 Haswell": the same text, the same bits. */
enum { YOKE_MACHINE_SIZE = 208 };
void yoke_machine_text(char text[YOKE_MACHINE_SIZE]);

#endif
