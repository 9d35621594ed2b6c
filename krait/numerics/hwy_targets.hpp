#pragma once

// The instruction sets we compile for. Include it first in every source that uses Highway, so that
// all of them offer the same targets: AVX-512, AVX2 with FMA, SSE4 and scalar. SSSE3 is left out:
// machines that have it without SSE4 are older than anything we run on and would cost a fifth copy
// of all code.

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS HWY_SSSE3
#endif
