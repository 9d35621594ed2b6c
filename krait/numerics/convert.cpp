#include "krait/numerics/convert.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "krait/base/error.hpp"
#include "krait/base/rng.hpp"
#include "krait/numerics/convert_rows.hpp"
#include "krait/numerics/float_format.hpp"

namespace krait {
namespace {

using numerics_detail::FloatFormat;
using numerics_detail::kF32Infinity;
using numerics_detail::kF32Nan;
using numerics_detail::NearestEven;
using numerics_detail::Stochastic;

/// The format of a float type that follows the common rule; null for f64, f32, e8m0 and integers.
const FloatFormat* format_of(DType dtype) {
  switch (dtype) {
    case DType::kTf32:
      return &numerics_detail::kTf32Format;
    case DType::kBf16:
      return &numerics_detail::kBf16Format;
    case DType::kF16:
      return &numerics_detail::kF16Format;
    case DType::kF8E4M3:
      return &numerics_detail::kF8E4M3Format;
    case DType::kF8E5M2:
      return &numerics_detail::kF8E5M2Format;
    case DType::kF8E3M4:
      return &numerics_detail::kF8E3M4Format;
    case DType::kF8E4M3Fn:
      return &numerics_detail::kF8E4M3FnFormat;
    case DType::kF4E2M1:
      return &numerics_detail::kF4E2M1Format;
    default:
      return nullptr;
  }
}

// A tf32 code stands in the upper 19 bits of its container. The 13 bits below are ignored on
// reading (no document says whether hardware ignores or rounds them); a NaN stays NaN.
std::uint32_t tf32_code(std::uint32_t container) {
  const bool is_nan = (container & 0x7FFFFFFFU) > kF32Infinity;
  return (container | (is_nan ? 1U << 22 : 0U)) >> 13;
}

float decode_f64(std::uint64_t bits) {
  const auto value = std::bit_cast<double>(bits);
  const auto sign = static_cast<std::uint32_t>(bits >> 32) & 0x80000000U;
  if (std::isnan(value)) return std::bit_cast<float>(sign | kF32Nan);
  return static_cast<float>(value);
}

std::uint64_t encode_f64(float value) {
  if (std::isnan(value)) return std::signbit(value) ? 0xFFF8000000000000ULL : 0x7FF8000000000000ULL;
  return std::bit_cast<std::uint64_t>(static_cast<double>(value));
}

float decode_e8m0(std::uint32_t code) {
  if (code == 0xFF) return std::bit_cast<float>(kF32Nan);
  return std::bit_cast<float>(code == 0 ? 0x00400000U : code << 23);  // code 0 is 2^-127, subnormal
}

// A power of two and nothing else: no sign, no zero, no Inf. Negative values and Inf give NaN, zero
// and whatever lies below 2^-127 give 2^-127. Ties between 2^e and 2^(e+1), at 1.5 * 2^e, go to the
// even code. `increment` is what is added below the exponent field before truncation.
template <class Increment>
std::uint64_t encode_e8m0(float value, Increment increment) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude == 0) return 0;
  if (magnitude != bits || magnitude >= kF32Infinity) return 0xFF;
  if (magnitude >= 0x00800000U) return (magnitude + increment(magnitude >> 23)) >> 23;
  if (magnitude <= 0x00400000U) return 0;
  // Between codes 0 and 1 the f32 steps are the subnormal ones: scale the excess to a full field.
  return (((magnitude - 0x00400000U) << 1) + increment(0)) >> 23;
}

struct IntRange {
  double low, high;  // exact in f64, except i64's high, which is one more than the type holds
};

IntRange range_of(DType dtype) {
  switch (dtype) {
    case DType::kI64:
      return {-0x1p63, 0x1p63};
    case DType::kI32:
      return {-0x1p31, 0x1p31 - 1};
    case DType::kU32:
      return {0, 0x1p32 - 1};
    case DType::kI16:
      return {-32768, 32767};
    case DType::kU16:
      return {0, 65535};
    case DType::kI8:
      return {-128, 127};
    default:
      KRAIT_ASSERT(dtype == DType::kU8);
      return {0, 255};
  }
}

std::uint64_t low_bits(std::uint64_t bits, DType dtype) {
  const std::size_t size = size_of(dtype);
  return size == 8 ? bits : bits & ((std::uint64_t{1} << (8 * size)) - 1);
}

/// Saturates an integral (or infinite) value and gives its two's complement; NaN gives 0.
std::uint64_t saturate(DType dtype, double integral) {
  if (std::isnan(integral)) return 0;
  const IntRange range = range_of(dtype);
  if (dtype == DType::kI64 && integral >= range.high) return 0x7FFFFFFFFFFFFFFFULL;
  const double held = std::clamp(integral, range.low, range.high);
  return low_bits(static_cast<std::uint64_t>(static_cast<std::int64_t>(held)), dtype);
}

/// Round half to even, without depending on the rounding mode of the thread.
double nearest_even(double value) {
  const double below = std::floor(value);
  const double rest = value - below;  // exact: value has 24 bits
  if (rest < 0.5) return below;
  if (rest > 0.5) return below + 1;
  return std::fmod(below, 2.0) == 0 ? below : below + 1;
}

float decode_int(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::kI64:
      return static_cast<float>(static_cast<std::int64_t>(bits));
    case DType::kI32:
      return static_cast<float>(static_cast<std::int32_t>(bits));
    case DType::kU32:
      return static_cast<float>(static_cast<std::uint32_t>(bits));
    case DType::kI16:
      return static_cast<float>(static_cast<std::int16_t>(bits));
    case DType::kU16:
      return static_cast<float>(static_cast<std::uint16_t>(bits));
    case DType::kI8:
      return static_cast<float>(static_cast<std::int8_t>(bits));
    default:
      return static_cast<float>(static_cast<std::uint8_t>(bits));
  }
}

constexpr std::size_t kBlock = 256;  // elements staged at a time for strided rows: 2 KiB at most

template <std::size_t kSize>
void copy_strided(const std::byte* in, std::ptrdiff_t in_stride, std::byte* out,
                  std::ptrdiff_t out_stride, std::size_t n) {
  constexpr auto kStep = static_cast<std::ptrdiff_t>(kSize);
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    std::memcpy(out + at * out_stride * kStep, in + at * in_stride * kStep, kSize);
  }
}

void copy_elements(std::size_t size, const std::byte* in, std::ptrdiff_t in_stride, std::byte* out,
                   std::ptrdiff_t out_stride, std::size_t n) {
  if (in_stride == 1 && out_stride == 1) {
    if (n != 0) std::memcpy(out, in, n * size);
  } else if (size == 1) {
    copy_strided<1>(in, in_stride, out, out_stride, n);
  } else if (size == 2) {
    copy_strided<2>(in, in_stride, out, out_stride, n);
  } else if (size == 4) {
    copy_strided<4>(in, in_stride, out, out_stride, n);
  } else {
    copy_strided<8>(in, in_stride, out, out_stride, n);
  }
}

void widen_contiguous(DType dtype, const std::byte* in, std::span<float> out) {
  if (numerics_detail::has_vector_rows(dtype)) {
    numerics_detail::widen_row(dtype, in, out.size(), out.data());
    return;
  }
  const std::size_t size = size_of(dtype);
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, in + i * size, size);  // little-endian, as all our targets
    out[i] = decode(dtype, bits);
  }
}

void narrow_contiguous(DType dtype, std::span<const float> in, std::byte* out,
                       const Rounding& rounding) {
  const bool stochastic = rounding.mode == RoundingMode::kStochastic;
  if (!stochastic && numerics_detail::has_vector_rows(dtype)) {
    numerics_detail::narrow_row(dtype, in.data(), in.size(), out);
    return;
  }
  const std::size_t size = size_of(dtype);
  const CounterRng rng(rounding.seed);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint64_t bits =
        stochastic ? encode_stochastic(dtype, in[i], stochastic_word(rng, rounding.counter + i))
                   : encode(dtype, in[i]);
    std::memcpy(out + i * size, &bits, size);
  }
}

}  // namespace

std::uint32_t stochastic_word(const CounterRng& rng, std::uint64_t counter) {
  return static_cast<std::uint32_t>(rng.bits(counter) >> 32);
}

float decode(DType dtype, std::uint64_t bits) {
  bits = low_bits(bits, dtype);
  const auto word = static_cast<std::uint32_t>(bits);
  if (const FloatFormat* format = format_of(dtype)) {
    return decode_float(*format, dtype == DType::kTf32 ? tf32_code(word) : word);
  }
  if (dtype == DType::kF32) return std::bit_cast<float>(word);
  if (dtype == DType::kF64) return decode_f64(bits);
  if (dtype == DType::kF8E8M0) return decode_e8m0(word);
  if (is_packed(dtype)) return std::bit_cast<float>(kF32Nan);
  return decode_int(dtype, bits);
}

std::uint64_t encode(DType dtype, float value) {
  if (const FloatFormat* format = format_of(dtype)) {
    const std::uint32_t code = encode_float(*format, value, NearestEven{});
    return dtype == DType::kTf32 ? code << 13 : code;
  }
  if (dtype == DType::kF32) return std::bit_cast<std::uint32_t>(value);
  if (dtype == DType::kF64) return encode_f64(value);
  if (dtype == DType::kF8E8M0) {
    return encode_e8m0(value, [](std::uint32_t field) { return 0x3FFFFFU + (field & 1U); });
  }
  if (is_packed(dtype)) return 0;
  return saturate(dtype, nearest_even(value));
}

std::uint64_t encode_stochastic(DType dtype, float value, std::uint32_t random) {
  if (const FloatFormat* format = format_of(dtype)) {
    const std::uint32_t code = encode_float(*format, value, Stochastic{random});
    return dtype == DType::kTf32 ? code << 13 : code;
  }
  if (dtype == DType::kF8E8M0) {
    return encode_e8m0(value, [random](std::uint32_t) { return random >> 9; });
  }
  if (is_float(dtype) || is_packed(dtype) || std::isnan(value) || std::fabs(value) >= 0x1p24F) {
    return encode(dtype, value);  // exact, or nothing to drop
  }
  const auto fixed = static_cast<std::uint64_t>(std::fabs(static_cast<double>(value)) * 0x1p32);
  const auto magnitude = static_cast<double>((fixed + random) >> 32);
  return saturate(dtype, std::signbit(value) ? -magnitude : magnitude);
}

float round_to(DType dtype, float value) {
  return decode(dtype, encode(dtype, value));
}

void load_row(DType dtype, const std::byte* in, std::ptrdiff_t stride, std::span<float> out) {
  const std::size_t size = size_of(dtype);
  if (dtype == DType::kF32) {
    copy_elements(size, in, stride, std::as_writable_bytes(out).data(), 1, out.size());
    return;
  }
  if (stride == 1) {
    widen_contiguous(dtype, in, out);
    return;
  }
  std::array<std::byte, kBlock * 8> staged;
  for (std::size_t i = 0; i < out.size(); i += kBlock) {
    const std::size_t n = std::min(kBlock, out.size() - i);
    const auto offset = static_cast<std::ptrdiff_t>(i * size) * stride;
    copy_elements(size, in + offset, stride, staged.data(), 1, n);
    widen_contiguous(dtype, staged.data(), out.subspan(i, n));
  }
}

void store_row(DType dtype, std::span<const float> in, std::byte* out, std::ptrdiff_t stride,
               Rounding rounding) {
  const std::size_t size = size_of(dtype);
  if (dtype == DType::kF32) {
    copy_elements(size, std::as_bytes(in).data(), 1, out, stride, in.size());
    return;
  }
  if (stride == 1) {
    narrow_contiguous(dtype, in, out, rounding);
    return;
  }
  std::array<std::byte, kBlock * 8> staged;
  for (std::size_t i = 0; i < in.size(); i += kBlock) {
    const std::size_t n = std::min(kBlock, in.size() - i);
    Rounding from_here = rounding;
    from_here.counter += i;
    narrow_contiguous(dtype, in.subspan(i, n), staged.data(), from_here);
    const auto offset = static_cast<std::ptrdiff_t>(i * size) * stride;
    copy_elements(size, staged.data(), 1, out + offset, stride, n);
  }
}

}  // namespace krait
