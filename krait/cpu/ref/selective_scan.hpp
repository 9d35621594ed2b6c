#pragma once

// The definition of the selective scan (formula in krait/cpu/selective_scan.hpp): time order, one
// state at a time, all arithmetic in T. For f32 and f64; the oracle of every faster form.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "krait/cpu/ref/scalar.hpp"
#include "krait/cpu/selective_scan.hpp"

namespace krait::ref {

/// One channel of one sequence. `h` [d_state] is read and overwritten.
template <class T>
void selective_scan_channel(const SelectiveScanArgs<T>& s, std::int64_t batch, std::int64_t e,
                            std::span<T> h) {
  const std::int64_t row = (batch * s.dim + e) * s.length;
  const std::int64_t group = e / (s.dim / s.groups);
  const auto bc = [&](BcKind kind, const T* p, std::int64_t n, std::int64_t t) {
    if (kind == BcKind::kConstant) return p[e * s.d_state + n];
    return p[((batch * s.groups + group) * s.d_state + n) * s.length + t];
  };
  for (std::int64_t t = 0; t < s.length; ++t) {
    const T u = s.u[row + t];
    T dt = s.delta[row + t];
    if (s.delta_bias) dt += s.delta_bias[e];
    if (s.delta_softplus) dt = softplus(dt);
    T y = 0;
    for (std::int64_t n = 0; n < s.d_state; ++n) {
      T& state = h[static_cast<std::size_t>(n)];
      state = std::exp(dt * s.a[e * s.d_state + n]) * state + dt * bc(s.b_kind, s.b, n, t) * u;
      y += bc(s.c_kind, s.c, n, t) * state;
    }
    if (s.d) y += s.d[e] * u;
    if (s.z) y *= silu(s.z[row + t]);
    s.out[row + t] = y;
  }
}

/// Runs every channel. Allocates one channel's state.
template <class T>
void selective_scan(const SelectiveScanArgs<T>& s) {
  std::vector<T> h(static_cast<std::size_t>(s.d_state));
  for (std::int64_t batch = 0; batch < s.batch; ++batch) {
    for (std::int64_t e = 0; e < s.dim; ++e) {
      const std::int64_t first = (batch * s.dim + e) * s.d_state;
      for (std::int64_t n = 0; n < s.d_state; ++n)
        h[static_cast<std::size_t>(n)] = s.initial_state ? s.initial_state[first + n] : T(0);
      selective_scan_channel<T>(s, batch, e, h);
      if (s.last_state) std::copy(h.begin(), h.end(), s.last_state + first);
    }
  }
}

}  // namespace krait::ref
