#pragma once

// The scalar functions of the reference definitions, for f32 and f64.

#include <cmath>

namespace krait::ref {

/// log1p(exp(x)) up to the threshold 20 of the public code, x above it (the jump there is 2.1e-9).
template <class T>
[[nodiscard]] T softplus(T x) {
  return x <= T(20) ? std::log1p(std::exp(x)) : x;
}

/// x * logistic(x).
template <class T>
[[nodiscard]] T silu(T x) {
  return x / (T(1) + std::exp(-x));
}

}  // namespace krait::ref
