#pragma once

// The definition of RMSNorm (formula in krait/cpu/rmsnorm.hpp). Arithmetic in T, channels in order.

#include <cmath>

#include "krait/cpu/ref/scalar.hpp"
#include "krait/cpu/rmsnorm.hpp"

namespace krait::ref {

template <class T>
void rmsnorm(const RmsNormArgs<T>& s) {
  const bool gate_first = s.z && !s.norm_before_gate;
  for (std::int64_t first = 0; first < s.rows * s.width; first += s.group_size) {
    T squares = 0;
    for (std::int64_t i = first; i < first + s.group_size; ++i) {
      const T x = gate_first ? s.x[i] * silu(s.z[i]) : s.x[i];
      squares += x * x;
    }
    const T rstd = T(1) / std::sqrt(squares / static_cast<T>(s.group_size) + s.eps);
    for (std::int64_t i = first; i < first + s.group_size; ++i) {
      T y = (gate_first ? s.x[i] * silu(s.z[i]) : s.x[i]) * rstd;
      if (s.weight) y *= s.weight[i % s.width];
      if (s.z && s.norm_before_gate) y *= silu(s.z[i]);
      s.out[i] = y;
    }
  }
}

}  // namespace krait::ref
