#pragma once

// For tests: float formats as a sorted table of values, and rounding by comparison with midpoints.
// It shares nothing with the implementation; all sums and midpoints below are exact in f64.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "krait/numerics/dtype.hpp"

namespace krait {

enum class Top { kInfNan, kNanOnly, kFinite };  // what the highest codes mean

struct OracleFormat {
  DType dtype;
  int exponent_bits, mantissa_bits, bias;
  Top top;
};

// SH32, LIB.
inline constexpr OracleFormat kOracleFormats[] = {
    {DType::kTf32, 8, 10, 127, Top::kInfNan},   {DType::kBf16, 8, 7, 127, Top::kInfNan},
    {DType::kF16, 5, 10, 15, Top::kInfNan},     {DType::kF8E4M3, 4, 3, 7, Top::kInfNan},
    {DType::kF8E5M2, 5, 2, 15, Top::kInfNan},   {DType::kF8E3M4, 3, 4, 3, Top::kInfNan},
    {DType::kF8E4M3Fn, 4, 3, 7, Top::kNanOnly}, {DType::kF4E2M1, 2, 1, 1, Top::kFinite},
};

class Oracle {
 public:
  explicit Oracle(const OracleFormat& format) : format_(format) {
    // One value beyond the last code too: where the format ends, rounding still sees the next step.
    for (std::uint32_t code = 0; code <= (1U << sign_bit()); ++code) values_.push_back(raw(code));
  }

  [[nodiscard]] int sign_bit() const { return format_.exponent_bits + format_.mantissa_bits; }
  [[nodiscard]] std::uint32_t finite_codes() const {
    const std::uint32_t all = 1U << sign_bit();
    if (format_.top == Top::kFinite) return all;
    if (format_.top == Top::kNanOnly) return all - 1;
    return all - (1U << format_.mantissa_bits);
  }
  /// Magnitude of a finite code.
  [[nodiscard]] double value(std::uint32_t code) const { return values_[code]; }

  /// The code of a value that is not NaN, rounded to nearest, ties to the even code.
  [[nodiscard]] std::uint32_t nearest(float x) const {
    const double magnitude = std::fabs(static_cast<double>(x));
    const std::uint32_t sign = std::signbit(x) ? 1U << sign_bit() : 0U;
    const auto after = std::upper_bound(values_.begin(), values_.end(), magnitude);
    if (after == values_.end()) return overflow() | sign;
    const auto below = static_cast<std::uint32_t>(after - values_.begin()) - 1;
    const double middle = (values_[below] + values_[below + 1]) / 2;
    const bool up = magnitude > middle || (magnitude == middle && below % 2 == 1);
    const std::uint32_t code = below + (up ? 1 : 0);
    return (code < finite_codes() ? code : overflow()) | sign;
  }

  [[nodiscard]] std::uint32_t overflow() const {
    if (format_.top == Top::kFinite) return finite_codes() - 1;
    return finite_codes();  // Inf, or e4m3fn's NaN
  }
  [[nodiscard]] bool is_nan(std::uint32_t magnitude_code) const {
    if (format_.top == Top::kNanOnly) return magnitude_code == finite_codes();
    return format_.top == Top::kInfNan && magnitude_code > finite_codes();
  }
  [[nodiscard]] bool is_inf(std::uint32_t magnitude_code) const {
    return format_.top == Top::kInfNan && magnitude_code == finite_codes();
  }

 private:
  [[nodiscard]] double raw(std::uint32_t code) const {
    const auto field = static_cast<int>(code >> format_.mantissa_bits);
    const double fraction = std::ldexp(
        static_cast<double>(code & ((1U << format_.mantissa_bits) - 1)), -format_.mantissa_bits);
    if (field == 0) return std::ldexp(fraction, 1 - format_.bias);
    return std::ldexp(1 + fraction, field - format_.bias);
  }

  OracleFormat format_;
  std::vector<double> values_;
};

}  // namespace krait
