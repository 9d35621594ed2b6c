#pragma once

// Conversions between f32 and the other element types: scalar definitions, and vector
// rows of the same bits.
//
//   f32 -> float   round to nearest even, or stochastic; finite overflow to Inf where there is one
//                  (e4m3fn: NaN); subnormals kept; NaN stays NaN (quiet, canonical payload, sign
//                  kept); f32 -> f32 copies the bits
//   float -> f32   exact; NaN as above. tf32: the container's 13 unused bits are ignored
//   f32 -> int     round to nearest even, then saturate; NaN gives 0
//   int -> f32     round to nearest even (exact up to 2^24)
// Formats that lack a code:
//   e4m3fn  no Inf: Inf and finite values above 464 give NaN
//   e2m1    no Inf and no NaN: overflow and Inf saturate to +-6, NaN gives +6
//   x4      packs have no value: they decode to NaN, and everything encodes to 0
//   e8m0    2^k only: 0 and all below 2^-127 give 2^-127, negative values and Inf give NaN, ties
//           (1.5 * 2^k) go to the even code
// Source: SH32, the rounding-modes page. No document gives these, they are assumed: NaN -> int, NaN
// payloads, subnormals, e4m3fn overflow (as OCP without saturation), e2m1 NaN (as PTX
// cvt.satfinite), e8m0's edges, tf32's unused bits.

#include <cstddef>
#include <cstdint>
#include <span>

#include "krait/base/rng.hpp"
#include "krait/numerics/dtype.hpp"

namespace krait {

enum class RoundingMode : std::uint8_t { kNearestEven, kStochastic };

/// How a row is rounded. Stochastic: before truncation a uniform integer below the dropped range is
/// added; element i uses stochastic_word(CounterRng(seed), counter + i), so equal seeds give equal
/// bits. Values the type holds exactly, Inf and NaN are as in nearest even; a finite value above
/// the largest finite one overflows with the probability its distance to the next step gives.
struct Rounding {
  RoundingMode mode = RoundingMode::kNearestEven;
  std::uint64_t seed = 0;
  std::uint64_t counter = 0;
};

/// The f32 value of an element's bits (its low size_of(dtype)*8 bits); f64 and i64 are rounded.
[[nodiscard]] float decode(DType dtype, std::uint64_t bits);
/// The bits of `value` in `dtype`, rounded to nearest even.
[[nodiscard]] std::uint64_t encode(DType dtype, float value);
/// The random word that store_row uses for a counter: the upper half of rng.bits(counter).
[[nodiscard]] std::uint32_t stochastic_word(const CounterRng& rng, std::uint64_t counter);
/// Stochastic rounding with an explicit 32-bit random word: word w rounds the magnitude up if w /
/// 2^32 is at least 1 minus the dropped fraction.
[[nodiscard]] std::uint64_t encode_stochastic(DType dtype, float value, std::uint32_t random);
/// decode(encode(value)): the value after one rounding to `dtype`.
[[nodiscard]] float round_to(DType dtype, float value);

/// Widens out.size() elements that lie `stride` elements apart, starting at `in` (any alignment).
void load_row(DType dtype, const std::byte* in, std::ptrdiff_t stride, std::span<float> out);
/// Rounds in.size() values to `dtype` and stores them `stride` elements apart at `out`.
void store_row(DType dtype, std::span<const float> in, std::byte* out, std::ptrdiff_t stride,
               Rounding rounding = {});

}  // namespace krait
