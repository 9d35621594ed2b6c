// The scalar definitions against tables of values, at every rounding boundary.
#include "krait/numerics/convert.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "krait/numerics/convert_oracle.hpp"

namespace krait {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::uint32_t code_of(DType dtype, std::uint64_t bits) {
  return static_cast<std::uint32_t>(dtype == DType::kTf32 ? bits >> 13 : bits);
}
std::uint64_t bits_of(DType dtype, std::uint32_t code) {
  return dtype == DType::kTf32 ? std::uint64_t{code} << 13 : code;
}

TEST(Convert, DecodesEveryCode) {
  for (const OracleFormat& format : kOracleFormats) {
    const Oracle oracle(format);
    for (std::uint32_t code = 0; code < 2U << oracle.sign_bit(); ++code) {
      const std::uint32_t magnitude = code & ((1U << oracle.sign_bit()) - 1);
      const bool negative = code != magnitude;
      const float got = decode(format.dtype, bits_of(format.dtype, code));
      ASSERT_EQ(std::signbit(got), negative) << name(format.dtype) << " " << code;
      if (oracle.is_nan(magnitude)) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got), negative ? 0xFFC00000U : 0x7FC00000U);
      } else {
        const double want = oracle.is_inf(magnitude) ? HUGE_VAL : oracle.value(magnitude);
        ASSERT_EQ(std::fabs(static_cast<double>(got)), want) << name(format.dtype) << " " << code;
      }
    }
  }
}

TEST(Convert, EncodesEveryRepresentableValueToItsCode) {
  for (const OracleFormat& format : kOracleFormats) {
    const Oracle oracle(format);
    for (std::uint32_t code = 0; code < 2U << oracle.sign_bit(); ++code) {
      if (oracle.is_nan(code & ((1U << oracle.sign_bit()) - 1))) continue;
      const std::uint64_t bits = bits_of(format.dtype, code);
      ASSERT_EQ(encode(format.dtype, decode(format.dtype, bits)), bits) << name(format.dtype);
    }
  }
}

void expect_nearest(const OracleFormat& format, const Oracle& oracle, float x) {
  const std::uint32_t got = code_of(format.dtype, encode(format.dtype, x));
  ASSERT_EQ(got, oracle.nearest(x)) << name(format.dtype) << " of " << std::hexfloat << x;
}

TEST(Convert, RoundsAtEveryMidpointAndItsNeighbours) {
  for (const OracleFormat& format : kOracleFormats) {
    const Oracle oracle(format);
    for (std::uint32_t code = 0; code < oracle.finite_codes(); ++code) {
      // The last step leads past the largest finite value: the overflow threshold.
      const double middle = (oracle.value(code) + oracle.value(code + 1)) / 2;
      for (const double at : {oracle.value(code), middle}) {
        // Exact, or Inf above bf16's and tf32's last midpoint.
        const auto x = static_cast<float>(at);
        for (const float y : {x, std::nextafterf(x, 0), std::nextafterf(x, kInf)}) {
          expect_nearest(format, oracle, y);
          expect_nearest(format, oracle, -y);
        }
      }
    }
  }
}

TEST(Convert, RoundsADenseSweepOfAllBitPatterns) {
  for (const OracleFormat& format : kOracleFormats) {
    const Oracle oracle(format);
    for (std::uint64_t bits = 0; bits < 1ULL << 32; bits += 16381) {  // a prime: all low bits vary
      const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      if (!std::isnan(x)) expect_nearest(format, oracle, x);
    }
  }
}

TEST(Convert, NanBecomesTheCanonicalQuietNan) {
  for (const std::uint32_t payload : {0x7FC00000U, 0x7F800001U, 0x7FFFFFFFU, 0x7F802000U}) {
    const auto x = std::bit_cast<float>(payload);
    const auto y = std::bit_cast<float>(payload | 0x80000000U);
    EXPECT_EQ(encode(DType::kBf16, x), 0x7FC0U);
    EXPECT_EQ(encode(DType::kBf16, y), 0xFFC0U);
    EXPECT_EQ(encode(DType::kF16, x), 0x7E00U);
    EXPECT_EQ(encode(DType::kF16, y), 0xFE00U);
    EXPECT_EQ(encode(DType::kTf32, x), 0x7FC00000U);
    EXPECT_EQ(encode(DType::kF8E4M3, x), 0x7CU);
    EXPECT_EQ(encode(DType::kF8E5M2, x), 0x7EU);
    EXPECT_EQ(encode(DType::kF8E3M4, x), 0x78U);
    EXPECT_EQ(encode(DType::kF8E4M3Fn, x), 0x7FU);
    EXPECT_EQ(encode(DType::kF8E4M3Fn, y), 0xFFU);
    EXPECT_EQ(encode(DType::kF4E2M1, x), 7U);
    EXPECT_EQ(encode(DType::kF4E2M1, y), 7U);
    EXPECT_EQ(encode(DType::kF64, y), 0xFFF8000000000000U);
    EXPECT_EQ(encode(DType::kF32, y), payload | 0x80000000U);  // a copy
    // Also where the payload lies only in the bits a tf32 container does not use.
    EXPECT_EQ(std::bit_cast<std::uint32_t>(decode(DType::kTf32, payload)), 0x7FC00000U);
  }
}

TEST(Convert, LargestFiniteValuesAreTheDocumentedOnes) {
  EXPECT_EQ(round_to(DType::kF8E4M3, 240), 240);
  EXPECT_EQ(round_to(DType::kF8E4M3, 248), kInf);
  EXPECT_EQ(round_to(DType::kF8E4M3, std::nextafterf(248, 0)), 240);
  EXPECT_EQ(round_to(DType::kF8E5M2, 57344), 57344);
  EXPECT_EQ(round_to(DType::kF8E5M2, 61440), kInf);
  EXPECT_EQ(round_to(DType::kF8E3M4, 15.5F), 15.5F);
  EXPECT_EQ(round_to(DType::kF8E4M3Fn, 464), 448);
  EXPECT_TRUE(std::isnan(round_to(DType::kF8E4M3Fn, std::nextafterf(464, kInf))));
  EXPECT_TRUE(std::isnan(round_to(DType::kF8E4M3Fn, kInf)));
  EXPECT_EQ(round_to(DType::kF16, std::nextafterf(65520, 0)), 65504);
  EXPECT_EQ(round_to(DType::kF16, 65520), kInf);
  EXPECT_EQ(round_to(DType::kF4E2M1, -kInf), -6);
  EXPECT_EQ(round_to(DType::kF4E2M1, 5), 4);  // the tie between 4 and 6 goes to the even code
  EXPECT_EQ(round_to(DType::kBf16, -3.4028235e38F),
            -kInf);  // FP32_MIN as bf16 (ISA32, range_select)
}

TEST(Convert, Tf32ReadsOnlyTheBitsItHas) {
  EXPECT_EQ(decode(DType::kTf32, 0x3F801FFFU), 1.0F);
  EXPECT_EQ(round_to(DType::kTf32, 1 + 0x1p-11F), 1.0F);
  EXPECT_EQ(round_to(DType::kTf32, 1 + 0x1.8p-10F), 1 + 0x1p-9F);
}

TEST(Convert, E8m0IsAPowerOfTwo) {
  for (std::uint32_t code = 0; code < 255; ++code) {
    const double value = std::ldexp(1.0, static_cast<int>(code) - 127);
    ASSERT_EQ(static_cast<double>(decode(DType::kF8E8M0, code)), value);
    ASSERT_EQ(encode(DType::kF8E8M0, static_cast<float>(value)), code);
    const auto tie = static_cast<float>(1.5 * value);  // at code 254 it leads to NaN, 255
    const std::uint32_t even = code + code % 2;
    EXPECT_EQ(encode(DType::kF8E8M0, tie), even) << code;
    EXPECT_EQ(encode(DType::kF8E8M0, std::nextafterf(tie, 0)), code);
    EXPECT_EQ(encode(DType::kF8E8M0, std::nextafterf(tie, kInf)), code + 1);
  }
  EXPECT_TRUE(std::isnan(decode(DType::kF8E8M0, 255)));
  for (const float x : {kNaN, kInf, -kInf, -1.0F}) EXPECT_EQ(encode(DType::kF8E8M0, x), 255U) << x;
  for (const float x : {0.0F, -0.0F, 0x1p-149F, 0x1p-128F})
    EXPECT_EQ(encode(DType::kF8E8M0, x), 0U) << x;
}

struct IntType {
  DType dtype;
  long double low, high;
};
constexpr IntType kInts[] = {{DType::kI64, -0x1p63L, 0x1p63L - 1},
                             {DType::kI32, -0x1p31L, 0x1p31L - 1},
                             {DType::kU32, 0, 0x1p32L - 1},
                             {DType::kI16, -32768, 32767},
                             {DType::kU16, 0, 65535},
                             {DType::kI8, -128, 127},
                             {DType::kU8, 0, 255}};

/// The stored integer as a number.
long double int_value(const IntType& type, std::uint64_t bits) {
  const auto span = std::ldexp(1.0L, static_cast<int>(8 * size_of(type.dtype)));
  const auto value = static_cast<long double>(bits);
  return type.low < 0 && value >= span / 2 ? value - span : value;
}

TEST(Convert, IntegersRoundToEvenThenSaturate) {
  for (const IntType& type : kInts) {
    const auto check = [&](float x) {
      // |x - n| <= 1/2, ties even, by long double arithmetic that is exact here.
      const long double below = std::floor(static_cast<long double>(x));
      const long double rest = x - below;
      const bool up = rest > 0.5L || (rest == 0.5L && std::fmod(below, 2.0L) != 0);
      const long double want = std::min(std::max(below + (up ? 1 : 0), type.low), type.high);
      ASSERT_EQ(int_value(type, encode(type.dtype, x)), want) << name(type.dtype) << " of " << x;
    };
    for (int i = -70000; i <= 70000; ++i) {
      for (const float x : {static_cast<float>(i), static_cast<float>(i) + 0.5F}) {
        for (const float y : {x, std::nextafterf(x, -kInf), std::nextafterf(x, kInf)}) check(y);
      }
    }
    for (int e = 16; e < 128; ++e) {
      const float x = std::ldexp(1.0F, e);
      for (const float y : {x, std::nextafterf(x, 0), std::nextafterf(x, kInf)}) {
        if (std::isinf(y)) continue;
        check(y);
        check(-y);
      }
    }
    EXPECT_EQ(int_value(type, encode(type.dtype, kInf)), type.high);
    EXPECT_EQ(int_value(type, encode(type.dtype, -kInf)), type.low);
    EXPECT_EQ(encode(type.dtype, kNaN), 0U);
    EXPECT_EQ(encode(type.dtype, -kNaN), 0U);
  }
}

TEST(Convert, IntegersWidenExactlyOrToNearestEven) {
  for (const IntType& type : kInts) {
    const int bits = static_cast<int>(8 * size_of(type.dtype));
    if (bits <= 16) {
      for (std::uint64_t code = 0; code < 1ULL << bits; ++code) {
        ASSERT_EQ(static_cast<long double>(decode(type.dtype, code)), int_value(type, code));
      }
    }
  }
  EXPECT_EQ(decode(DType::kI32, 16777217), 16777216.0F);
  EXPECT_EQ(decode(DType::kI32, 16777219), 16777220.0F);
  EXPECT_EQ(decode(DType::kU32, 0xFFFFFFFF), 0x1p32F);
  EXPECT_EQ(decode(DType::kI32, 0xFFFFFFFF), -1.0F);
  EXPECT_EQ(decode(DType::kI64, 0x8000000000000000ULL), -0x1p63F);
  EXPECT_EQ(decode(DType::kI8, 0xABCD80), -128.0F);  // only the low bits count
}

TEST(Convert, F64RoundsOnceToF32) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  EXPECT_EQ(decode(DType::kF64, bits(1 + 0x1p-24)), 1.0F);
  EXPECT_EQ(decode(DType::kF64, bits(1 + 0x1p-24 + 0x1p-52)), 1 + 0x1p-23F);
  EXPECT_EQ(decode(DType::kF64, bits(1e300)), kInf);
  EXPECT_EQ(decode(DType::kF64, bits(0x1p-149)), 0x1p-149F);
  EXPECT_EQ(encode(DType::kF64, 0x1p-149F), bits(0x1p-149));
  EXPECT_EQ(encode(DType::kF64, 0.1F), bits(static_cast<double>(0.1F)));
}

// A word rounds up exactly when (dropped fraction) + word / 2^32 reaches 1. So the fraction decides
// between the two neighbours at a threshold word, which is checked from both sides.
TEST(ConvertStochastic, RoundsUpFromTheThresholdWordOn) {
  for (const OracleFormat& format : kOracleFormats) {
    const Oracle oracle(format);
    for (std::uint32_t code = 0; code + 1 < oracle.finite_codes(); code += code < 300 ? 1 : 97) {
      const double low = oracle.value(code);
      const double high = oracle.value(code + 1);
      for (const double fraction : {0.0, 0.25, 0.5, 0.75}) {
        const auto x = static_cast<float>(low + (high - low) * fraction);
        const auto got = [&](std::uint32_t word) {
          return code_of(format.dtype, encode_stochastic(format.dtype, x, word));
        };
        // Last below.
        const auto threshold = static_cast<std::uint32_t>((1 - fraction) * 0x1p32 - 1);
        ASSERT_EQ(got(0), code);
        ASSERT_EQ(got(fraction == 0 ? 0xFFFFFFFFU : threshold), code) << name(format.dtype);
        if (fraction != 0) {
          ASSERT_EQ(got(threshold + 1), code + 1) << name(format.dtype);
          ASSERT_EQ(got(0xFFFFFFFFU), code + 1) << name(format.dtype);
        }
      }
    }
  }
}

TEST(Convert, PacksHaveNoValue) {
  for (const DType d : {DType::kF8E5M2x4, DType::kF8E4M3Fnx4, DType::kF4E2M1x4}) {
    EXPECT_TRUE(std::isnan(decode(d, 0)));
    EXPECT_TRUE(std::isnan(decode(d, 0x3C3C3C3C)));
    EXPECT_EQ(encode(d, 1), 0U);
    EXPECT_EQ(encode_stochastic(d, 1.5F, 0xFFFFFFFFU), 0U);
  }
}

TEST(ConvertStochastic, SpecialValuesAreAsInNearestEven) {
  for (const DTypeInfo& type : dtypes()) {
    for (const float x : {kNaN, kInf, -kInf, 0.0F, -0.0F, 1.0F, 2.0F}) {
      for (const std::uint32_t word : {0U, 0x80000000U, 0xFFFFFFFFU}) {
        EXPECT_EQ(encode_stochastic(type.dtype, x, word), encode(type.dtype, x)) << type.name << x;
      }
    }
  }
}

TEST(ConvertStochastic, IntegersAndScales) {
  EXPECT_EQ(encode_stochastic(DType::kI8, 1.25F, 0xBFFFFFFFU), 1U);
  EXPECT_EQ(encode_stochastic(DType::kI8, 1.25F, 0xC0000000U), 2U);
  EXPECT_EQ(encode_stochastic(DType::kI8, -1.25F, 0xC0000000U), 0xFEU);
  EXPECT_EQ(encode_stochastic(DType::kI8, 127.5F, 0xFFFFFFFFU), 127U);
  EXPECT_EQ(encode_stochastic(DType::kU8, -0.5F, 0xFFFFFFFFU), 0U);
  EXPECT_EQ(encode_stochastic(DType::kI32, 3e9F, 0xFFFFFFFFU), 0x7FFFFFFFU);
  EXPECT_EQ(encode_stochastic(DType::kF8E8M0, 1.5F, 0x7FFFFFFFU), 127U);
  EXPECT_EQ(encode_stochastic(DType::kF8E8M0, 1.5F, 0x80000000U), 128U);
  EXPECT_EQ(encode_stochastic(DType::kF8E8M0, 0x1.8p-127F, 0x7FFFFFFFU), 0U);
  EXPECT_EQ(encode_stochastic(DType::kF8E8M0, 0x1.8p-127F, 0x80000000U), 1U);
  // Tiny values round up with the probability of their size: 2^-30 of bf16's smallest step.
  EXPECT_EQ(encode_stochastic(DType::kF16, 0x1p-54F, 0xFFFFFFFBU), 0U);
  EXPECT_EQ(encode_stochastic(DType::kF16, 0x1p-54F, 0xFFFFFFFCU), 1U);
}

}  // namespace
}  // namespace krait
