#pragma once

// Conversions between f32 and the other element types: scalar definitions and bit-identical vector rows.
//
//   f32 -> float   round to nearest even, or stochastic; finite overflow to Inf where the format has
//                  one (e4m3fn: NaN); subnormals kept; NaN stays NaN (quiet, canonical payload)
//   f32 -> int     round to nearest even, then saturate; NaN gives 0
//   int -> f32     round to nearest even (exact up to 2^24)
// Source: neuroncore 6.3; the cases no document gives are marked in docs/sources.md.

#include <cstddef>
#include <cstdint>
#include <span>

#include "krait/numerics/dtype.hpp"

namespace krait {

enum class RoundingMode : std::uint8_t { kNearestEven, kStochastic };

/// How a row is rounded. Stochastic: before truncation a uniform integer below the dropped range is
/// added; element i uses counter `counter + i` of CounterRng(seed), so equal seeds give equal bits.
struct Rounding {
  RoundingMode mode = RoundingMode::kNearestEven;
  std::uint64_t seed = 0;
  std::uint64_t counter = 0;
};

/// The f32 value of an element's bits (its low size_of(dtype)*8 bits). f64 and i64 are rounded to f32.
[[nodiscard]] float decode(DType dtype, std::uint64_t bits);
/// The bits of `value` in `dtype`, rounded to nearest even.
[[nodiscard]] std::uint64_t encode(DType dtype, float value);
/// Stochastic rounding with an explicit 32-bit random word.
[[nodiscard]] std::uint64_t encode_stochastic(DType dtype, float value, std::uint32_t random);
/// decode(encode(value)): the value after one rounding to `dtype`.
[[nodiscard]] float round_to(DType dtype, float value);

/// Widens out.size() elements that lie `stride` elements apart, starting at `in` (any alignment).
void load_row(DType dtype, const std::byte* in, std::ptrdiff_t stride, std::span<float> out);
/// Rounds in.size() values to `dtype` and stores them `stride` elements apart at `out`.
void store_row(DType dtype, std::span<const float> in, std::byte* out, std::ptrdiff_t stride,
               Rounding rounding = {});

}  // namespace krait
