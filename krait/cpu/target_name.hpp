#pragma once

// The names that krait/numerics/cpu_target.hpp gives to Highway's targets, for kernels that report
// what they ran on. Include after a Highway header.

#include <cstdint>

#include "hwy/detect_targets.h"

namespace krait {

/// "avx512", "avx2", "sse4" or "scalar"; "native" off x86.
constexpr const char* target_name(std::int64_t target) {
  if (target == HWY_SCALAR || target == HWY_EMU128) return "scalar";
#if HWY_ARCH_X86
  if (target == HWY_SSE4) return "sse4";
  if (target == HWY_AVX2) return "avx2";
  if (target == HWY_AVX3 || target == HWY_AVX3_DL) return "avx512";
#endif
  return "native";
}

}  // namespace krait
