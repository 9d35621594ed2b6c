#include "krait/base/error.hpp"
#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

const std::vector<float>& values() {
  static const std::vector<float> kValues = [] {
    std::vector<float> v{0.0F,   -0.0F, 1.0F,   -1.0F, 0.5F,  3.0F, -7.25F,
                         1e-40F, 3e38F, -3e38F, kInf,  -kInf, kNan};
    const CounterRng rng(2);
    for (std::uint64_t i = 0; i < 40; ++i) v.push_back(static_cast<float>(rng.normal(i)));
    return v;
  }();
  return kValues;
}

// The definitions of SH32, written once more.
float plain(AluOp op, float a, float b) {
  switch (op) {
    case AluOp::kBypass:
      return a;
    case AluOp::kAdd:
      return a + b;
    case AluOp::kSubtract:
      return a - b;
    case AluOp::kMultiply:
      return a * b;
    case AluOp::kMax:
      return std::isnan(b) ? a : std::isnan(a) ? b : a > b ? a : b;
    case AluOp::kMin:
      return std::isnan(b) ? a : std::isnan(a) ? b : a < b ? a : b;
    case AluOp::kEqual:
      return a == b ? 1.0F : 0.0F;
    case AluOp::kNotEqual:
      return a == b ? 0.0F : 1.0F;
    case AluOp::kGreaterEqual:
      return a >= b ? 1.0F : 0.0F;
    case AluOp::kGreater:
      return a > b ? 1.0F : 0.0F;
    case AluOp::kLessEqual:
      return a <= b ? 1.0F : 0.0F;
    case AluOp::kLess:
      return a < b ? 1.0F : 0.0F;
    case AluOp::kLogicalAnd:
      return a != 0 && b != 0 ? 1.0F : 0.0F;
    case AluOp::kLogicalOr:
      return a != 0 || b != 0 ? 1.0F : 0.0F;
    case AluOp::kLogicalXor:
      return (a != 0) == (b != 0) ? 0.0F : 1.0F;
    case AluOp::kAbs:
      return std::fabs(a);
    // In long double: 64 bits of mantissa, so that only the last rounding shows.
    case AluOp::kRsqrt:
      return static_cast<float>(1.0L / std::sqrt(static_cast<long double>(a)));
    case AluOp::kReciprocal:
      return static_cast<float>(1.0L / static_cast<long double>(a));
    case AluOp::kSquare:
      return a * a;
    case AluOp::kRelu:
      return std::isnan(a) ? a : a > 0 ? a : 0.0F;
    case AluOp::kAbsMax:
      return std::isnan(b) ? a : std::isnan(a) ? b : std::fabs(a) > std::fabs(b) ? a : b;
    case AluOp::kAbsMin:
      return std::isnan(b) ? a : std::isnan(a) ? b : std::fabs(a) < std::fabs(b) ? a : b;
    default:
      break;
  }
  return 0;
}

TEST(Alu, EveryOperatorOnEveryPairOfValues) {
  for (const AluOp op : alu_ops())
    for (const float a : values())
      for (const float b : values())
        EXPECT_TRUE(same(apply(op, a, b), plain(op, a, b)))
            << name(op) << "(" << a << ", " << b << ") = " << apply(op, a, b);
}

TEST(Alu, RowFormsAgreeWithTheScalarForm) {
  const auto& v = values();
  for (const AluOp op : alu_ops())
    for (std::size_t n = 0; n <= v.size(); ++n) {  // every tail of a vector loop
      const std::vector<float> a(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n));
      const std::vector<float> b(v.rbegin(), v.rbegin() + static_cast<std::ptrdiff_t>(n));
      std::vector<float> out(n);
      apply_rows(op, a, b, out);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_TRUE(same(out[i], apply(op, a[i], b[i]))) << name(op) << " " << i;
      for (const float s : {0.25F, -0.0F, kNan})
        for (const bool reverse : {false, true}) {
          apply_row_scalar(op, a, s, reverse, out);
          for (std::size_t i = 0; i < n; ++i)
            ASSERT_TRUE(same(out[i], reverse ? apply(op, s, a[i]) : apply(op, a[i], s)))
                << name(op) << " " << i;
        }
    }
}

TEST(Alu, RowsMayBeComputedInPlace) {
  std::vector<float> a = values();
  const std::vector<float> b(a.rbegin(), a.rend());
  std::vector<float> want(a.size());
  apply_rows(AluOp::kSubtract, a, b, want);
  apply_rows(AluOp::kSubtract, a, b, a);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same(a[i], want[i]));
}

TEST(Alu, ReductionsFoldLeftToRightFromTheStart) {
  const std::vector<float> x{1e8F, 1, -1e8F, 3};
  EXPECT_EQ(reduce_row(AluOp::kAdd, x, 0), 3) << "1e8 + 1 loses the 1 in f32";
  EXPECT_EQ(reduce_row(AluOp::kSubtract, x, 0), ((0 - 1e8F) - 1 + 1e8F) - 3);
  for (const AluOp op : alu_ops()) {
    float acc = 0.75F;
    for (const float v : values()) acc = plain(op, acc, v);
    EXPECT_TRUE(same(reduce_row(op, values(), 0.75F), acc)) << name(op);
    EXPECT_EQ(reduce_row(op, {}, 0.75F), 0.75F);
  }
}

TEST(Alu, IdentitiesLeaveAValueAlone) {
  for (const AluOp op : {AluOp::kAdd, AluOp::kMultiply, AluOp::kMax, AluOp::kMin})
    for (const float v : values())
      EXPECT_TRUE(std::isnan(v) || apply(op, identity(op), v) == v) << name(op) << " " << v;
  EXPECT_EQ(identity(AluOp::kSubtract), 0);
  EXPECT_EQ(identity(AluOp::kLogicalAnd), 1);
  EXPECT_EQ(identity(AluOp::kLogicalOr), 0);
  EXPECT_EQ(identity(AluOp::kLogicalXor), 0);
  for (const AluOp op : {AluOp::kAbsMax, AluOp::kAbsMin})
    for (const float v : values())
      if (!std::isnan(v) && v != 0) {
        EXPECT_EQ(apply(op, identity(op), v), v) << name(op) << " " << v;
      }
}

TEST(Alu, UnaryOperatorsIgnoreTheirSecondOperand) {
  for (const AluOp op : alu_ops()) {
    bool ignores = true;
    for (const float a : values())
      for (const float b : values())
        ignores = ignores && same(plain(op, a, b), plain(op, a, 0.25F));
    EXPECT_EQ(is_unary(op), ignores) << name(op);
  }
}

TEST(Alu, OnlyTheDocumentedOperatorsReduce) {
  const std::vector<AluOp> kLegal{AluOp::kAdd,       AluOp::kSubtract,  AluOp::kMultiply,
                                  AluOp::kMax,       AluOp::kMin,       AluOp::kLogicalAnd,
                                  AluOp::kLogicalOr, AluOp::kLogicalXor};
  for (const AluOp op : alu_ops())
    EXPECT_EQ(reduces(op), std::find(kLegal.begin(), kLegal.end(), op) != kLegal.end()) << name(op);
}

std::uint64_t plain_bits(AluOp op, std::uint64_t a, std::uint64_t b, int width) {
  switch (op) {
    case AluOp::kBitwiseAnd:
      return a & b;
    case AluOp::kBitwiseOr:
      return a | b;
    case AluOp::kBitwiseXor:
      return a ^ b;
    case AluOp::kInvert:
      return a ^ ((1ULL << width) - 1);
    case AluOp::kLeftShift:
      return b < 32 ? (a << b) % (1ULL << width) : 0;
    default:
      return b < 32 ? a >> b : 0;
  }
}

TEST(Alu, BitOperatorsOnEveryWidth) {
  const CounterRng rng(6);
  for (const int width : {8, 16, 32})
    for (const AluOp op : bit_ops())
      for (std::uint64_t i = 0; i < 300; ++i) {
        const std::uint64_t all = (1ULL << width) - 1;
        const std::uint64_t a = rng.bits(2 * i) & all;
        const std::uint64_t b = i < 100 ? i % 40 : rng.bits(2 * i + 1) & all;  // shifts, then any
        EXPECT_EQ(
            apply_bits(op, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), width),
            plain_bits(op, a, b, width))
            << name(op) << " " << width << " " << a << " " << b;
      }
  EXPECT_EQ(apply_bits(AluOp::kBypass, 7, 9, 8), 7U);
}

TEST(Alu, BitOperatorsAreApart) {
  for (const AluOp op : bit_ops()) {
    EXPECT_TRUE(is_bitwise(op));
    EXPECT_EQ(is_unary(op), op == AluOp::kInvert);
    EXPECT_EQ(reduces(op),
              op == AluOp::kBitwiseAnd || op == AluOp::kBitwiseOr || op == AluOp::kBitwiseXor);
    EXPECT_THROW((void)apply(op, 1, 2), InternalError) << "no f32 form";
  }
  for (const AluOp op : alu_ops()) EXPECT_FALSE(is_bitwise(op)) << name(op);
}

TEST(Alu, NamesReadBack) {
  for (const AluOp op : alu_ops()) EXPECT_EQ(parse_alu_op(name(op)), op);
  for (const AluOp op : bit_ops()) EXPECT_EQ(parse_alu_op(name(op)), op);
  EXPECT_EQ(parse_alu_op("divide"), std::nullopt);
}

}  // namespace
}  // namespace krait::isa::testing
