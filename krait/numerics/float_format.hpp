#pragma once

// The float formats of up to 32 bits whose f32 conversions follow one rule, and that rule for
// single values. Internal: vector rows (convert_rows.cpp) have the same bits by other arithmetic.
//
// A code is sign, exponent field, mantissa. Exponent field 0 holds zero and the subnormals.
// Overflow: codes from `ceiling` up all become `ceiling`, which is Inf, or NaN (e4m3fn), or the
// largest finite value (e2m1, which has neither).

#include <algorithm>
#include <bit>
#include <cstdint>

namespace krait::numerics_detail {

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  std::uint32_t ceiling;  ///< magnitude code of every overflow, and of Inf
  std::uint32_t nan;      ///< magnitude code of NaN as we write it
  std::uint32_t
      first_nan;  ///< magnitude codes from here up read as NaN (none, if beyond all codes)
  bool nan_keeps_sign;

  [[nodiscard]] constexpr int sign_shift() const { return exponent_bits + mantissa_bits; }
  [[nodiscard]] constexpr int dropped_bits() const { return 23 - mantissa_bits; }
  [[nodiscard]] constexpr std::uint32_t magnitude_mask() const { return (1U << sign_shift()) - 1; }
  /// Whether Inf is a code of the format (then it is `ceiling`).
  [[nodiscard]] constexpr bool has_infinity() const { return ceiling + 1 == first_nan; }
  /// f32 exponent field of the smallest normal value.
  [[nodiscard]] constexpr int min_normal_field() const { return 128 - bias; }
};

/// Exponent field of all ones is Inf (mantissa 0) or NaN.
constexpr FloatFormat ieee_like(int exponent_bits, int mantissa_bits, int bias) {
  const std::uint32_t infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
  const std::uint32_t quiet = 1U << (mantissa_bits - 1);
  return {exponent_bits, mantissa_bits, bias, infinity, infinity | quiet, infinity + 1, true};
}

inline constexpr FloatFormat kTf32Format = ieee_like(8, 10, 127);
inline constexpr FloatFormat kBf16Format = ieee_like(8, 7, 127);
inline constexpr FloatFormat kF16Format = ieee_like(5, 10, 15);
inline constexpr FloatFormat kF8E4M3Format = ieee_like(4, 3, 7);
inline constexpr FloatFormat kF8E5M2Format = ieee_like(5, 2, 15);
inline constexpr FloatFormat kF8E3M4Format = ieee_like(3, 4, 3);
inline constexpr FloatFormat kF8E4M3FnFormat = {4, 3, 7, 0x7F, 0x7F, 0x7F, true};
// No code for NaN: it becomes +6, as PTX's cvt.rn.satfinite.e2m1x2 has it; Inf becomes 6.
inline constexpr FloatFormat kF4E2M1Format = {2, 1, 1, 7, 7, 16, false};

inline constexpr std::uint32_t kF32Infinity = 0x7F800000;
inline constexpr std::uint32_t kF32Nan = 0x7FC00000;

/// The value of a code as f32 (exact); NaN becomes the canonical quiet NaN, sign kept.
constexpr float decode_float(const FloatFormat& format, std::uint32_t code) {
  const std::uint32_t sign = ((code >> format.sign_shift()) & 1U) << 31;
  const std::uint32_t magnitude = code & format.magnitude_mask();
  if (magnitude >= format.first_nan) return std::bit_cast<float>(sign | kF32Nan);
  if (format.has_infinity() && magnitude == format.ceiling) {
    return std::bit_cast<float>(sign | kF32Infinity);
  }
  if (format.exponent_bits == 8) {
    return std::bit_cast<float>(sign | (magnitude << format.dropped_bits()));
  }
  const auto field = static_cast<int>(magnitude >> format.mantissa_bits);
  const std::uint32_t hidden = field == 0 ? 0U : 1U << format.mantissa_bits;
  const std::uint32_t significand = (magnitude & ((1U << format.mantissa_bits) - 1)) | hidden;
  const int exponent = std::max(field, 1) - format.bias - format.mantissa_bits;  // normal in f32
  const auto unit = std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
  const float value = static_cast<float>(significand) * unit;
  return sign != 0 ? -value : value;
}

/// Encodes by `round_shift(significand, shift)`, which divides by 2^shift and rounds to an integer.
/// The result counts units of the last place upwards from the exponent's start, so a carry out of
/// the mantissa lands in the exponent field by itself.
template <class RoundShift>
constexpr std::uint32_t encode_float(const FloatFormat& format, float value,
                                     RoundShift round_shift) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 31) << format.sign_shift();
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > kF32Infinity) return format.nan | (format.nan_keeps_sign ? sign : 0U);
  if (magnitude == kF32Infinity) return format.ceiling | sign;
  const auto field = static_cast<int>(magnitude >> 23);
  const int exponent = std::max(field, 1);
  const std::uint32_t significand = (magnitude & 0x7FFFFFU) | (field == 0 ? 0U : 0x800000U);
  const int base = std::max(exponent, format.min_normal_field());
  const std::uint64_t units = round_shift(significand, format.dropped_bits() + base - exponent);
  const std::uint64_t start = static_cast<std::uint64_t>(base - format.min_normal_field())
                              << format.mantissa_bits;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(units + start, format.ceiling)) | sign;
}

struct NearestEven {
  constexpr std::uint64_t operator()(std::uint64_t significand, int shift) const {
    if (shift == 0) return significand;
    if (shift > 25) return 0;  // below half a unit, as the significand has 24 bits
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    return (significand + half - 1 + ((significand >> shift) & 1)) >> shift;
  }
};

/// Adds a random fraction of 32 bits to the exact quotient, then truncates. Bits below 2^-32 of a
/// unit are lost, which biases the probability by less than 2^-32.
struct Stochastic {
  std::uint32_t random;
  constexpr std::uint64_t operator()(std::uint64_t significand, int shift) const {
    const std::uint64_t fixed =
        shift <= 32 ? significand << (32 - shift) : significand >> std::min(shift - 32, 63);
    return (fixed + random) >> 32;
  }
};

}  // namespace krait::numerics_detail
