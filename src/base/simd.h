/* One version of a loop per instruction set, chosen when the program is loaded; the same operations in the same order, so
 * the same bits from each. */
#ifndef YOKE_BASE_SIMD_H
#define YOKE_BASE_SIMD_H

/* The thread sanitizer cannot run the code that chooses. */
#if defined(YOKE_SIMD) /* given by the build */
#elif defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) &&                     \
    !defined(__SANITIZE_THREAD__)
#define YOKE_SIMD __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define YOKE_SIMD
#endif

/* YOKE_APART: rare work that a short function must not grow by. */
#if defined(__GNUC__)
#define YOKE_ALWAYS_INLINE inline __attribute__((always_inline))
#define YOKE_APART __attribute__((noinline))
#else
#define YOKE_ALWAYS_INLINE inline
#define YOKE_APART
#endif

#endif
