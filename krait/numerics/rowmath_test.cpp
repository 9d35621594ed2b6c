// Against libm in long double (64-bit mantissa, here good to about 2^-60), which shares no code.
#include "krait/numerics/rowmath.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "krait/base/rng.hpp"
#include "krait/numerics/each_target.hpp"

namespace krait {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::uint32_t bits(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

float apply(UnaryFn fn, float x) {
  float y = 0;
  apply_row(fn, {&x, 1}, {&y, 1});
  return y;
}

/// The definitions of the header, arranged so that nothing cancels.
long double exact(UnaryFn fn, long double x) {
  constexpr long double kRootHalf = 0.707106781186547524400844362104849039L;
  const auto logistic = [x](long double y) { return x / (1 + std::exp(-y)); };
  switch (fn) {
    case UnaryFn::kCopy:
      return x;
    case UnaryFn::kSquare:
      return x * x;
    case UnaryFn::kAbs:
      return std::fabs(x);
    case UnaryFn::kSign:
      return x > 0 ? 1 : (x < 0 ? -1 : 0);
    case UnaryFn::kRelu:
      return x > 0 ? x : 0;
    case UnaryFn::kExp:
      return std::exp(x);
    case UnaryFn::kLog:
      return std::log(x);
    case UnaryFn::kSqrt:
      return std::sqrt(x);
    case UnaryFn::kRsqrt:
      return 1 / std::sqrt(x);
    case UnaryFn::kReciprocal:
      return 1 / x;
    case UnaryFn::kSin:
      return std::sin(x);
    case UnaryFn::kArctan:
      return std::atan(x);
    case UnaryFn::kTanh:
      return std::tanh(x);
    case UnaryFn::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case UnaryFn::kSoftplus:
      return std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x)));
    case UnaryFn::kSilu:
      return logistic(x);
    case UnaryFn::kMish:
      return x * std::tanh(std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x))));
    case UnaryFn::kErf:
      return std::erf(x);
    case UnaryFn::kGelu:
      return x * (std::erfc(-x * kRootHalf) / 2);
    case UnaryFn::kGeluApprxTanh:
      return logistic(1.59576912160573071175978423973752748L * x * (1 + 0.044715L * x * x));
    case UnaryFn::kGeluApprxSigmoid:
      return logistic(1.702L * x);
  }
  return 0;
}

/// f32 values over all exponents, and densely where the functions bend.
std::vector<float> sweep() {
  std::vector<float> values;
  for (std::uint64_t b = 0; b < 1ULL << 32; b += 65521) {  // a prime
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(b));
    if (std::isfinite(x)) values.push_back(x);
  }
  const CounterRng rng(11);
  for (const double reach : {1.0, 4.0, 20.0, 120.0}) {
    for (std::uint64_t i = 0; i < 25000; ++i) {
      values.push_back(static_cast<float>((2 * rng.uniform(values.size()) - 1) * reach));
    }
  }
  return values;
}

/// |got - want| in units of f32's last place at want (2^-149 at the least).
long double ulp_error(float got, long double want) {
  const int exponent = want == 0 ? -149 : std::max(std::ilogb(want) - 23, -149);
  return std::fabs(got - want) / std::ldexp(1.0L, exponent);
}

void expect_rounded(UnaryFn fn, float x, float got) {
  const long double want = exact(fn, x);
  if (std::isnan(want)) {
    ASSERT_TRUE(std::isnan(got)) << name(fn) << " of " << std::hexfloat << x;
  } else if (std::isinf(got) || std::isinf(want)) {
    // Rounding to nearest overflows from half a step beyond the largest finite value on.
    ASSERT_EQ(got, static_cast<float>(want)) << name(fn) << " of " << std::hexfloat << x;
  } else {
    // Half a unit for the one rounding, and 2^-50 relative before it: 2^-26 units, 1.5e-8.
    ASSERT_LE(ulp_error(got, want), 0.5L + 0x1p-26L) << name(fn) << " of " << std::hexfloat << x;
  }
}

TEST(Rowmath, EveryFunctionIsCorrectlyRounded) {
  const std::vector<float> in = sweep();
  std::vector<float> out(in.size());
  for (const UnaryFn fn : unary_fns()) {
    apply_row(fn, in, out);
    for (std::size_t i = 0; i < in.size(); ++i) expect_rounded(fn, in[i], out[i]);
  }
}

// The header promises 2^-50 relative before rounding, wherever the result is a normal f64 that f32
// can tell from zero and Inf. This is what makes f32 results correctly rounded in practice.
TEST(Rowmath, ScalarDefinitionIsWithin2ToTheMinus50) {
  for (const UnaryFn fn : unary_fns()) {
    long double worst = 0;
    float worst_at = 0;
    for (const float x : sweep()) {
      const long double want = exact(fn, x);
      if (!(std::fabs(want) >= 0x1p-150L && std::fabs(want) <= 0x1p128L)) continue;
      const long double error = std::fabs((apply_scalar(fn, static_cast<double>(x)) - want) / want);
      if (error > worst) {
        worst = error;
        worst_at = x;
      }
    }
    EXPECT_LE(worst, 0x1p-50L) << name(fn) << " at " << std::hexfloat << worst_at;
    RecordProperty(std::string(name(fn)), std::to_string(static_cast<double>(std::log2(worst))));
  }
}

TEST(Rowmath, SameBitsOnEveryTarget) {
  std::vector<float> in = sweep();
  for (const std::uint32_t special :
       {0x7F800000U, 0xFF800000U, 0x7FC00001U, 0xFF800001U, 0x80000000U}) {
    in.push_back(std::bit_cast<float>(special));
  }
  for (const UnaryFn fn : unary_fns()) {
    std::vector<float> first(in.size());
    apply_row(fn, in, first);
    for_each_target([&] {
      std::vector<float> out(in.size());
      apply_row(fn, in, out);
      for (std::size_t i = 0; i < in.size(); ++i) {
        ASSERT_EQ(bits(out[i]), bits(first[i])) << name(fn) << " of " << std::hexfloat << in[i];
      }
    });
  }
}

TEST(Rowmath, ScalarDefinitionHasTheSameBitsOnEveryTargetAndRoundsToTheRow) {
  const CounterRng rng(12);
  for (const UnaryFn fn : unary_fns()) {
    for (std::uint64_t i = 0; i < 500; ++i) {
      const auto x = static_cast<float>((2 * rng.uniform(i) - 1) * 30);
      const double want = apply_scalar(fn, static_cast<double>(x));
      for_each_target([&] {
        const double got = apply_scalar(fn, static_cast<double>(x));
        ASSERT_EQ(std::bit_cast<std::uint64_t>(got), std::bit_cast<std::uint64_t>(want))
            << name(fn);
        ASSERT_EQ(bits(static_cast<float>(got)), bits(apply(fn, x))) << name(fn);
      });
    }
  }
}

TEST(Rowmath, AnySizeInPlaceAndNothingBeyond) {
  for_each_target([&] {
    for (const UnaryFn fn : unary_fns()) {
      for (std::size_t n = 0; n <= 67; ++n) {
        std::vector<float> row(n + 2, 0.75F);
        const auto part = std::span(row).subspan(1, n);  // misaligned
        apply_row(fn, part, part);
        ASSERT_EQ(row[0], 0.75F);
        ASSERT_EQ(row[n + 1], 0.75F);
        for (const float y : part) ASSERT_EQ(bits(y), bits(apply(fn, 0.75F))) << name(fn);
      }
    }
  });
}

struct Special {
  UnaryFn fn;
  float x, y;
};

// By bits, so that the sign of zero counts. Where a limit is a zero reached from below, it is -0.
constexpr Special kSpecials[] = {
    {UnaryFn::kSquare, -kInf, kInf},
    {UnaryFn::kSquare, 1e30F, kInf},
    {UnaryFn::kAbs, -0.0F, 0.0F},
    {UnaryFn::kSign, 0.0F, 0.0F},
    {UnaryFn::kSign, -0.0F, 0.0F},
    {UnaryFn::kSign, -0x1p-149F, -1.0F},
    {UnaryFn::kSign, kInf, 1.0F},
    {UnaryFn::kRelu, -0.0F, 0.0F},
    {UnaryFn::kRelu, -kInf, 0.0F},
    {UnaryFn::kRelu, kInf, kInf},
    {UnaryFn::kExp, 0.0F, 1.0F},
    {UnaryFn::kExp, -0.0F, 1.0F},
    {UnaryFn::kExp, kInf, kInf},
    {UnaryFn::kExp, -kInf, 0.0F},
    {UnaryFn::kExp, 88.75F, kInf},
    {UnaryFn::kExp, 3e38F, kInf},
    {UnaryFn::kExp, -3e38F, 0.0F},
    {UnaryFn::kExp, -104.0F, 0.0F},
    {UnaryFn::kExp, -103.0F, 0x1p-149F},
    {UnaryFn::kLog, 0.0F, -kInf},
    {UnaryFn::kLog, -0.0F, -kInf},
    {UnaryFn::kLog, 1.0F, 0.0F},
    {UnaryFn::kLog, kInf, kInf},
    {UnaryFn::kLog, -1.0F, kNaN},
    {UnaryFn::kLog, -kInf, kNaN},
    {UnaryFn::kSqrt, -0.0F, -0.0F},
    {UnaryFn::kSqrt, -1.0F, kNaN},
    {UnaryFn::kSqrt, kInf, kInf},
    {UnaryFn::kRsqrt, 0.0F, kInf},
    {UnaryFn::kRsqrt, -0.0F, -kInf},
    {UnaryFn::kRsqrt, kInf, 0.0F},
    {UnaryFn::kRsqrt, -4.0F, kNaN},
    {UnaryFn::kReciprocal, 0.0F, kInf},
    {UnaryFn::kReciprocal, -0.0F, -kInf},
    {UnaryFn::kReciprocal, -kInf, -0.0F},
    {UnaryFn::kReciprocal, 0x1p-149F, kInf},
    {UnaryFn::kSin, -0.0F, -0.0F},
    {UnaryFn::kSin, kInf, kNaN},
    {UnaryFn::kArctan, -0.0F, -0.0F},
    {UnaryFn::kArctan, kInf, 1.57079637F},
    {UnaryFn::kArctan, -kInf, -1.57079637F},
    {UnaryFn::kTanh, -0.0F, -0.0F},
    {UnaryFn::kTanh, kInf, 1.0F},
    {UnaryFn::kTanh, -kInf, -1.0F},
    {UnaryFn::kSigmoid, 0.0F, 0.5F},
    {UnaryFn::kSigmoid, kInf, 1.0F},
    {UnaryFn::kSigmoid, -kInf, 0.0F},
    {UnaryFn::kSoftplus, kInf, kInf},
    {UnaryFn::kSoftplus, -kInf, 0.0F},
    {UnaryFn::kSoftplus, 3e38F, 3e38F},
    {UnaryFn::kSoftplus, -3e38F, 0.0F},
    {UnaryFn::kErf, -0.0F, -0.0F},
    {UnaryFn::kErf, kInf, 1.0F},
    {UnaryFn::kErf, -kInf, -1.0F},
};

TEST(Rowmath, SpecialValues) {
  for_each_target([&] {
    for (const Special& s : kSpecials) {
      ASSERT_EQ(bits(apply(s.fn, s.x)), bits(s.y)) << name(s.fn) << " of " << s.x;
    }
  });
}

TEST(Rowmath, GatedFunctionsReachTheirLimits) {
  for_each_target([&] {
    for (const UnaryFn fn : {UnaryFn::kSilu, UnaryFn::kMish, UnaryFn::kGelu,
                             UnaryFn::kGeluApprxTanh, UnaryFn::kGeluApprxSigmoid}) {
      for (const float x : {-kInf, -3e38F, -1000.0F, -0.0F}) {
        ASSERT_EQ(bits(apply(fn, x)), bits(-0.0F)) << name(fn) << " of " << x;
      }
      for (const float x : {0.0F, 1000.0F, 3e38F, kInf}) {
        ASSERT_EQ(bits(apply(fn, x)), bits(x)) << name(fn) << " of " << x;
      }
    }
  });
}

TEST(Rowmath, NanPropagatesAsTheCanonicalNan) {
  for (const UnaryFn fn : unary_fns()) {
    if (fn == UnaryFn::kCopy) continue;
    for (const std::uint32_t payload : {0x7FC00001U, 0xFFC00000U, 0x7F800001U}) {
      const float y = apply(fn, std::bit_cast<float>(payload));
      EXPECT_EQ(bits(y), 0x7FC00000U) << name(fn);
    }
    EXPECT_TRUE(std::isnan(apply_scalar(fn, static_cast<double>(kNaN)))) << name(fn);
  }
}

TEST(Rowmath, CopyKeepsEveryBit) {
  for (const std::uint32_t b : {0x7F800001U, 0xFFC12345U, 0x80000000U, 0x00000001U}) {
    EXPECT_EQ(bits(apply(UnaryFn::kCopy, std::bit_cast<float>(b))), b);
  }
}

// The f32 nearest to a multiple of pi/2 relative to its size, and others of the kind; sin or its
// reduction must cancel 30 bits and more here.
TEST(Rowmath, SinReducesHardArguments) {
  for (const float x :
       {16367173.0F * 0x1p72F, 0x1.921fb6p+1F, 0x1.921fb6p+20F, 1048576.0F, 1048577.0F,
        3.4028235e38F, 0x1p127F, 0x1.f9cbe2p+7F, 0x1.b951f2p+15F, 0x1.5f7bb2p+40F}) {
    expect_rounded(UnaryFn::kSin, x, apply(UnaryFn::kSin, x));
    expect_rounded(UnaryFn::kSin, -x, apply(UnaryFn::kSin, -x));
  }
  for (std::uint32_t b = bits(0x1p19F); b < bits(0x1p22F);
       b += 1009) {  // both methods meet at 2^20
    const auto x = std::bit_cast<float>(b);
    expect_rounded(UnaryFn::kSin, x, apply(UnaryFn::kSin, x));
  }
  for (const double x : {0x1.0p1023, 1.7976931348623157e308, 6381956970095103.0 * 0x1p797}) {
    const long double want = std::sin(static_cast<long double>(x));
    EXPECT_LE(std::fabs(apply_scalar(UnaryFn::kSin, x) - want), std::fabs(want) * 0x1p-50L) << x;
  }
}

TEST(Rowmath, NamesParseBack) {
  EXPECT_EQ(unary_fns().size(), static_cast<std::size_t>(UnaryFn::kGeluApprxSigmoid) + 1);
  for (const UnaryFn fn : unary_fns()) EXPECT_EQ(parse_unary_fn(name(fn)), fn);
  EXPECT_EQ(name(UnaryFn::kGeluApprxTanh), "gelu_apprx_tanh");
  EXPECT_FALSE(parse_unary_fn("Exp").has_value());
  EXPECT_FALSE(parse_unary_fn("").has_value());
}

}  // namespace
}  // namespace krait
