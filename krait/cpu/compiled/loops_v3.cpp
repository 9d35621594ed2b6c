#if defined(__x86_64__)
#define KRAIT_LOOPS kLoopsV3
#define KRAIT_LEVEL "x86-64-v3"
#include "krait/cpu/compiled/loops_body.inc"
#endif
