#define KRAIT_LOOPS kLoopsBaseline
#if defined(__x86_64__)
#define KRAIT_LEVEL "x86-64"
#else
#define KRAIT_LEVEL "baseline"
#endif
#include "krait/cpu/compiled/loops_body.inc"
