#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kData = 0, kOther = 4096, kDst = 8192, kOp0 = 12288;

ScalarTensorTensor insn(const Tile& dst, const Tile& data, const Tile& other,
                        const Operand& a = 2.0F) {
  return {.dst = dst, .data = data, .other = other, .operand0 = a};
}

TEST(ScalarTensorTensor, RoundsOnceAfterBothOperations) {
  for (const DType in : chip_dtypes())
    for (const DType out : chip_dtypes()) {
      TestMemory m;
      const Tile data = sbuf(in, 3, 37, kData), other = sbuf(DType::kBf16, 3, 37, kOther),
                 dst = sbuf(out, 3, 37, kDst);
      m.fill_random(data, 1), m.fill_random(other, 2);
      m.run(insn(dst, data, other, 1.7F));
      expect_tile(m, dst, [&](int p, std::int64_t i) {
        const float product = m.get(data, p, i) * 1.7F;
        return product + m.get(other, p, i);
      });
    }
}

TEST(ScalarTensorTensor, ReversesEitherStep) {
  for (int flags = 0; flags < 8; ++flags) {
    const bool reverse0 = flags & 1, reverse1 = flags & 2, vector = flags & 4;
    TestMemory m;
    const Tile data = sbuf(DType::kF32, 4, 11, kData), other = sbuf(DType::kF32, 4, 11, kOther);
    const Tile dst = sbuf(DType::kF32, 4, 11, kDst), v = sbuf(DType::kF32, 4, 1, kOp0);
    m.fill_random(data, 3, false), m.fill_random(other, 4, false), m.fill_random(v, 5, false);
    ScalarTensorTensor i = insn(dst, data, other, vector ? Operand(v) : Operand(0.75F));
    i.op0 = i.op1 = AluOp::kSubtract, i.reverse0 = reverse0, i.reverse1 = reverse1;
    m.run(i);
    expect_tile(m, dst, [&](int p, std::int64_t k) {
      const float x = m.get(data, p, k), y = m.get(other, p, k),
                  a = vector ? m.get(v, p, 0) : 0.75F;
      const float t = reverse0 ? a - x : x - a;
      return reverse1 ? y - t : t - y;
    });
  }
}

TEST(ScalarTensorTensor, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& data : layouts(DType::kF32, 2, kData, true))
    for (const Tile& dst : layouts(DType::kF32, 2, kDst, false)) {
      TestMemory m;
      const Tile other = sbuf(DType::kF16, 2, 12, kOther);
      m.fill_random(data, 6), m.fill_random(other, 7);
      m.run(insn(dst, data, other));
      expect_tile(m, dst, [&](int p, std::int64_t i) {
        return m.get(data, p, i) * 2.0F + m.get(other, p, i);
      });
    }
  for (const bool first : {true, false}) {
    TestMemory m;
    const Tile data = sbuf(DType::kF32, 2, 12, kData), other = sbuf(DType::kF32, 2, 12, kOther);
    m.fill_random(data, 8, false), m.fill_random(other, 9, false);
    const auto x = m.values(data), y = m.values(other);
    m.run(insn(first ? data : other, data, other));
    expect_tile(m, first ? data : other, [&](int p, std::int64_t i) {
      const auto at = flat(p, 12, i);
      return x[at] * 2.0F + y[at];
    });
  }
}

TEST(ScalarTensorTensor, Rules) {
  const Tile s = sbuf(DType::kF32, 64, 32), p = psum(DType::kF32, 64, 32);
  expect_legal_everywhere(insn(p, p, s));
  expect_legal_everywhere(insn(p, s, p, sbuf(DType::kF32, 64, 1)));
  expect_rule_everywhere(insn(s, p, p), "psum-operands");
  expect_rule_everywhere(insn(s, s, sbuf(DType::kF32, 64, 33)), "same-free-size");
  expect_rule_everywhere(insn(s, sbuf(DType::kF32, 32, 32), s), "same-partitions");
  expect_rule_everywhere(insn(s, s, s, sbuf(DType::kI32, 64, 1)), "operand-dtype");
  expect_rule_everywhere(insn(s, s, s, sbuf(DType::kF32, 1, 1)), "per-partition-operand");
  expect_rule_everywhere(insn(s, s, Tile{}), "operand-missing");
  expect_rule_everywhere(insn(s, s, hbm(DType::kF32, 64, 32, 32)), "operand-space");
  ScalarTensorTensor i = insn(s, s, s);
  i.op1 = AluOp::kRsqrt;
  expect_rule_everywhere(i, "engine-op");
}

// ISA26 (v2): N for bf16 inputs with subtract, multiply and even N; else 2N.
// v3, v4 (derived): N, 16-bit N/2.
TEST(ScalarTensorTensor, Cost) {
  const auto cost = [](DType d, DType x, std::int64_t n, AluOp op0, AluOp op1,
                       const MachineSpec& m) {
    ScalarTensorTensor i = insn(sbuf(d, 128, n), sbuf(x, 128, n), sbuf(x, 128, n));
    i.op0 = op0, i.op1 = op1;
    return cycles(i, m);
  };
  constexpr AluOp kSub = AluOp::kSubtract, kMul = AluOp::kMultiply, kAdd = AluOp::kAdd;
  EXPECT_EQ(cost(DType::kF32, DType::kF32, 32, kMul, kAdd, trn1()), elementwise(64));
  EXPECT_EQ(cost(DType::kF32, DType::kF32, 33, kMul, kAdd, trn1()), elementwise(66));
  EXPECT_EQ(cost(DType::kBf16, DType::kBf16, 512, kSub, kMul, trn1()), elementwise(512));
  EXPECT_EQ(cost(DType::kF32, DType::kBf16, 512, kSub, kMul, trn1()), elementwise(512))
      << "dst does not count";
  EXPECT_EQ(cost(DType::kBf16, DType::kBf16, 511, kSub, kMul, trn1()), elementwise(1022)) << "odd";
  EXPECT_EQ(cost(DType::kBf16, DType::kBf16, 512, kMul, kSub, trn1()), elementwise(1024));
  EXPECT_EQ(cost(DType::kF16, DType::kF16, 512, kSub, kMul, trn1()), elementwise(1024));
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    EXPECT_EQ(cost(DType::kF32, DType::kF32, 64, kMul, kAdd, *m), elementwise(64));
    EXPECT_EQ(cost(DType::kF32, DType::kF32, 65, kMul, kAdd, *m), elementwise(65));
    EXPECT_EQ(cost(DType::kBf16, DType::kF16, 511, kMul, kAdd, *m), elementwise(256));
    EXPECT_EQ(cost(DType::kF32, DType::kBf16, 512, kMul, kAdd, *m), elementwise(512));
  }
}

}  // namespace
}  // namespace krait::isa::testing
