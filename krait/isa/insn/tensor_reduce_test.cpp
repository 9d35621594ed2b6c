#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kData = 0, kDst = 8192;

TensorReduce insn(const Tile& dst, const Tile& data, AluOp op, int axes = 1, bool negate = false) {
  return {.dst = dst, .data = data, .op = op, .axes = axes, .negate = negate};
}

// Left to right in f32, from the operator's identity.
float plain(AluOp op, const std::vector<float>& x) {
  float acc = op == AluOp::kMultiply || op == AluOp::kLogicalAnd ? 1
              : op == AluOp::kMax                                ? -kInf
              : op == AluOp::kMin                                ? kInf
                                                                 : 0;
  for (const float v : x) {
    switch (op) {
      case AluOp::kAdd:
        acc += v;
        break;
      case AluOp::kSubtract:
        acc -= v;
        break;
      case AluOp::kMultiply:
        acc *= v;
        break;
      case AluOp::kMax:
        acc = acc > v || std::isnan(v) ? acc : v;  // the later of equals
        break;
      case AluOp::kMin:
        acc = acc < v || std::isnan(v) ? acc : v;
        break;
      case AluOp::kLogicalAnd:
        acc = acc != 0 && v != 0;
        break;
      case AluOp::kLogicalOr:
        acc = acc != 0 || v != 0;
        break;
      default:
        acc = (acc != 0) != (v != 0);
    }
  }
  return acc;
}

TEST(TensorReduce, ReducesEveryDtypeInOrder) {
  for (const DType in : chip_dtypes())
    for (const DType out : chip_dtypes())
      for (const AluOp op : {AluOp::kAdd, AluOp::kMax}) {
        TestMemory m;
        const Tile data = tile(Space::kSbuf, in, 3, {{11, 5}, {1, 11}}, kData),
                   dst = sbuf(out, 3, 5, kDst);
        m.fill_random(data, 1, op == AluOp::kMax);
        m.run(insn(dst, data, op));
        expect_tile(
            m, dst,
            [&](int p, std::int64_t j) {
              std::vector<float> x;
              for (std::int64_t i = 0; i < 11; ++i) x.push_back(m.get(data, p, j * 11 + i));
              return plain(op, x);
            },
            cat(name(in), " ", name(op)));
      }
}

TEST(TensorReduce, RunsEveryReductionWithAndWithoutNegation) {
  for (const AluOp op : alu_ops()) {
    if (!reduces(op)) continue;
    for (const bool negate : {false, true}) {
      TestMemory m;
      const Tile data = sbuf(DType::kF32, 4, 7, kData), dst = sbuf(DType::kF32, 4, 1, kDst);
      m.fill(data, [](int p, std::int64_t i) {
        return p == 0 ? 0.0F : static_cast<float>(flat(p, 5, i * 3) % 7) - 2.5F;
      });
      m.run(insn(dst, data, op, 1, negate));
      expect_tile(
          m, dst,
          [&](int p, std::int64_t) {
            std::vector<float> x;
            for (std::int64_t i = 0; i < 7; ++i) x.push_back(m.get(data, p, i));
            return negate ? -plain(op, x) : plain(op, x);
          },
          std::string(name(op)));
    }
  }
}

TEST(TensorReduce, TakesAnyNumberOfTrailingAxesAndPatterns) {
  for (int axes = 1; axes <= 3; ++axes) {
    TestMemory m;
    // [2, 3, 4], permuted.
    const Tile data = tile(Space::kSbuf, DType::kF32, 2, {{1, 2}, {8, 3}, {2, 4}}, kData);
    const std::int64_t inner = axes == 1 ? 4 : axes == 2 ? 12 : 24;
    const Tile dst = stepped(sbuf(DType::kF32, 2, 24 / inner, kDst), 3);
    m.fill_random(data, 2, false);
    m.run(insn(dst, data, AluOp::kAdd, axes));
    expect_tile(m, dst, [&](int p, std::int64_t j) {
      float sum = 0;
      for (std::int64_t i = 0; i < inner; ++i) sum += m.get(data, p, j * inner + i);
      return sum;
    });
  }
}

TEST(TensorReduce, FoldsBitsOfEveryIntegerDtype) {
  for (const DType d : chip_dtypes()) {
    if (is_float(d)) continue;
    for (const AluOp op : {AluOp::kBitwiseAnd, AluOp::kBitwiseOr, AluOp::kBitwiseXor}) {
      TestMemory m;
      const Tile data = tile(Space::kSbuf, d, 2, {{11, 5}, {1, 7}}, kData),
                 dst = sbuf(d, 2, 5, kDst);
      const CounterRng rng(5);
      for (int p = 0; p < 2; ++p)
        for (std::int64_t i = 0; i < 35; ++i) {
          const std::uint64_t odd =
              rng.bits(flat(p, 35, i)) & rng.bits(5000 + flat(p, 35, i)) &
              rng.bits(9000 + flat(p, 35, i));  // few bits, so that all differ
          m.set_bits(data, p, i,
                     (op == AluOp::kBitwiseAnd ? ~odd : odd) & ((1ULL << (8 * size_of(d))) - 1));
        }
      m.run(insn(dst, data, op));
      for (int p = 0; p < 2; ++p)
        for (std::int64_t j = 0; j < 5; ++j) {
          std::uint64_t want = m.bits(data, p, 7 * j);
          for (std::int64_t i = 7 * j + 1; i < 7 * j + 7; ++i) {
            const std::uint64_t x = m.bits(data, p, i);
            want = op == AluOp::kBitwiseAnd  ? want & x
                   : op == AluOp::kBitwiseOr ? want | x
                                             : want ^ x;
          }
          ASSERT_EQ(m.bits(dst, p, j), want) << name(op) << " " << name(d);
        }
    }
  }
}

TEST(TensorReduce, RulesOfBitOperators) {
  const Tile s = sbuf(DType::kI16, 64, 32), one = sbuf(DType::kI16, 64, 1);
  expect_legal_everywhere(insn(one, s, AluOp::kBitwiseXor));
  expect_rule_everywhere(insn(one, s, AluOp::kLeftShift), "reduce-op");
  expect_rule_everywhere(insn(one, s, AluOp::kInvert), "reduce-op");
  expect_rule_everywhere(insn(one, s, AluOp::kBitwiseAnd, 1, true), "reduce-op");
  expect_rule_everywhere(insn(sbuf(DType::kI32, 64, 1), s, AluOp::kBitwiseAnd), "bit-dtype");
  expect_rule_everywhere(
      insn(sbuf(DType::kF32, 64, 1), sbuf(DType::kF32, 64, 32), AluOp::kBitwiseOr), "bit-dtype");
}

TEST(TensorReduce, Rules) {
  const Tile data = tile(Space::kSbuf, DType::kF32, 64, {{8, 4}, {1, 8}}),
             dst = sbuf(DType::kF32, 64, 4, kDst);
  expect_legal_everywhere(insn(dst, data, AluOp::kAdd));
  expect_legal_everywhere(insn(sbuf(DType::kF32, 64, 1), data, AluOp::kMin, 2));
  for (const int axes : {0, -1, 3})
    expect_rule_everywhere(insn(dst, data, AluOp::kAdd, axes), "reduce-axes");
  expect_rule_everywhere(insn(dst, data, AluOp::kAdd, 2), "reduce-shape");
  expect_rule_everywhere(insn(sbuf(DType::kF32, 64, 5), data, AluOp::kAdd), "reduce-shape");
  expect_rule_everywhere(insn(sbuf(DType::kF32, 32, 4), data, AluOp::kAdd), "same-partitions");
  for (const AluOp op : alu_ops())
    if (!reduces(op)) expect_rule_everywhere(insn(dst, data, op), "reduce-op");
  expect_rule_everywhere(insn(dst, Tile{}, AluOp::kAdd), "operand-missing");
  expect_rule_everywhere(insn(dst, hbm(DType::kF32, 64, 4, 4), AluOp::kAdd), "operand-space");
}

// Sizes whose product overflows 64 bits are compared all the same (the sanitizers watch), and an
// operand that is not there is not measured.
TEST(TensorReduce, RulesOfImpossibleSizes) {
  const std::int64_t huge = std::int64_t{1} << 40;
  expect_rule_everywhere(insn(sbuf(DType::kU8, 1, huge), sbuf(DType::kU8, 1, huge), AluOp::kAdd),
                         "reduce-shape");
  Tile absent;
  absent.rank = 9, absent.dims[0].count = 0;
  expect_rule_everywhere(insn(sbuf(DType::kF32, 1, 1), absent, AluOp::kAdd, 9), "operand-missing");
}

// ISA26: N/2 if in and out bf16 and add or max, else N, in input elements.
TEST(TensorReduce, Cost) {
  for (const MachineSpec* m : machines()) {
    const auto cost = [&](DType in, DType out, AluOp op, std::int64_t n) {
      return cycles(insn(sbuf(out, 128, 1), sbuf(in, 128, n), op), *m);
    };
    EXPECT_EQ(cost(DType::kF32, DType::kF32, AluOp::kAdd, 64), elementwise(64));
    EXPECT_EQ(cost(DType::kF32, DType::kF32, AluOp::kAdd, 65), elementwise(65));
    EXPECT_EQ(cost(DType::kBf16, DType::kBf16, AluOp::kAdd, 128), elementwise(64));
    EXPECT_EQ(cost(DType::kBf16, DType::kBf16, AluOp::kMax, 130), elementwise(65));
    EXPECT_EQ(cost(DType::kBf16, DType::kBf16, AluOp::kMin, 512), elementwise(512));
    EXPECT_EQ(cost(DType::kBf16, DType::kF32, AluOp::kAdd, 512), elementwise(512));
    EXPECT_EQ(cost(DType::kF16, DType::kF16, AluOp::kAdd, 512), elementwise(512));
  }
}

}  // namespace
}  // namespace krait::isa::testing
