#pragma once

// RMSNorm, plain and gated, in three native forms; ref/rmsnorm.hpp is the definition.
//
//   statistics per group of `group_size` consecutive channels of a row:
//   plain             y = x * (mean(x^2) + eps)^(-1/2) * weight
//   norm_before_gate  y as above, then y * silu(z)                                   (Mamba-3)
//   otherwise         x is first replaced by x * silu(z), then y as above            (Mamba-2)
//
// z = nullptr means no gate. Kernels check nothing and allocate nothing. `out` may be `x` or `z`.
// Results do not depend on the number of threads.
// Source: Zhang and Sennrich 2019, eq. 4; gate variants of the public reference rms_norm_ref.

#include <cstddef>
#include <cstdint>

#include "krait/base/pool.hpp"

namespace krait {

/// Row-major dense arrays; width and group_size are at least 1, group_size divides width.
template <class T>
struct RmsNormArgs {
  std::int64_t rows = 0, width = 1;
  std::int64_t group_size = 1;  ///< width for statistics over the whole row
  T eps = T(1e-5);
  bool norm_before_gate = true;

  const T* x = nullptr;       // [rows, width]
  const T* weight = nullptr;  // [width], optional: ones
  const T* z = nullptr;       // [rows, width], optional
  T* out = nullptr;           // [rows, width]
};

/// The hand-written form: a row is read from memory once and scaled while it is in cache. The sum
/// of squares is 32 partial sums (channel i of a group adds to sum i mod 32, in order, no fused
/// multiply-add), folded 32 -> 16 -> .. -> 1: the same order for every vector width.
/// @return the instruction set that ran, as krait/numerics/cpu_target.hpp names it
const char* rmsnorm(const RmsNormArgs<float>& args, ThreadPool& pool);

/// The compiler form: one plain loop nest, two passes over a row in cache.
/// @return the architecture level of the build that ran: "x86-64", "x86-64-v3" or "x86-64-v4"
const char* rmsnorm_compiled(const RmsNormArgs<float>& args, ThreadPool& pool);

/// Floats of scratch for rmsnorm_naive: two arrays the size of x, and one value a group.
[[nodiscard]] std::size_t rmsnorm_naive_scratch(const RmsNormArgs<float>& args);

/// The naive form: a pass over memory for each elementary operator (list in rmsnorm_plain.cpp).
/// @return as rmsnorm_compiled
const char* rmsnorm_naive(const RmsNormArgs<float>& args, ThreadPool& pool, float* scratch);

}  // namespace krait
