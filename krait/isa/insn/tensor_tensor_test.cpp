#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kA = 0, kB = 4096, kDst = 8192;  // bytes; 4 KiB hold every layout

float plain(AluOp op, float a, float b) {
  switch (op) {
    case AluOp::kAdd:
      return a + b;
    case AluOp::kSubtract:
      return a - b;
    case AluOp::kMultiply:
      return a * b;
    case AluOp::kMax:
      return std::isnan(b) ? a : std::isnan(a) ? b : a > b ? a : b;
    default:
      ADD_FAILURE() << "no plain form";
      return 0;
  }
}

TensorTensor insn(const Tile& dst, const Tile& a, const Tile& b, AluOp op = AluOp::kAdd) {
  return {.dst = dst, .a = a, .b = b, .op = op};
}

TEST(TensorTensor, ComputesInF32AndRoundsOnceForEveryDtype) {
  for (const DType in : chip_dtypes())
    for (const DType out : chip_dtypes())
      for (const AluOp op : {AluOp::kAdd, AluOp::kSubtract, AluOp::kMultiply, AluOp::kMax}) {
        TestMemory m;
        const Tile a = sbuf(in, 3, 37, kA), b = sbuf(DType::kF32, 3, 37, kB),
                   dst = sbuf(out, 3, 37, kDst);
        m.fill_random(a, 1), m.fill_random(b, 2);
        m.run(insn(dst, a, b, op));
        expect_tile(
            m, dst,
            [&](int p, std::int64_t i) { return plain(op, m.get(a, p, i), m.get(b, p, i)); },
            cat(name(in), " ", name(op)));
      }
}

TEST(TensorTensor, WalksEveryPairOfAccessPatterns) {
  for (const Tile& a : layouts(DType::kBf16, 2, kA, true))
    for (const Tile& b : layouts(DType::kF32, 2, kB, true, 32))
      for (const Tile& dst : layouts(DType::kF16, 2, kDst, false, 64)) {
        TestMemory m;
        m.fill_random(a, 3), m.fill_random(b, 4);
        m.run(insn(dst, a, b));
        expect_tile(m, dst, [&](int p, std::int64_t i) { return m.get(a, p, i) + m.get(b, p, i); });
        EXPECT_THAT(m.findings(), IsEmpty());
      }
}

TEST(TensorTensor, WorksInPlaceOnEitherInput) {
  for (const bool first : {true, false}) {
    TestMemory m;
    const Tile a = sbuf(DType::kF32, 4, 19, kA), b = sbuf(DType::kF32, 4, 19, kB);
    m.fill_random(a, 5, false), m.fill_random(b, 6, false);
    const auto before_a = m.values(a), before_b = m.values(b);
    const Tile dst = first ? a : b;
    m.run(insn(dst, a, b, AluOp::kSubtract));
    expect_tile(m, dst, [&](int p, std::int64_t i) {
      const auto at = flat(p, 19, i);
      return before_a[at] - before_b[at];
    });
  }
}

TEST(TensorTensor, BitOperatorsTakeIntegersAsTheyAre) {
  for (const DType d : chip_dtypes()) {
    if (is_float(d)) continue;
    const std::uint64_t all = (1ULL << (8 * size_of(d))) - 1;
    for (const AluOp op : {AluOp::kBitwiseAnd, AluOp::kBitwiseOr, AluOp::kBitwiseXor,
                           AluOp::kLeftShift, AluOp::kRightShift}) {
      TestMemory m;
      const Tile a = stepped(sbuf(d, 3, 37, 0), 2), b = sbuf(d, 3, 37, 4096),
                 dst = sbuf(d, 3, 37, 8192);
      const CounterRng rng(5);
      for (int p = 0; p < 3; ++p)
        for (std::int64_t i = 0; i < 37; ++i) {
          m.set_bits(a, p, i, rng.bits(flat(p, 37, i)) & all);
          m.set_bits(b, p, i,
                     i % 2 == 0 ? rng.bits(1000 + flat(p, 37, i)) & all
                                : static_cast<std::uint64_t>(i / 2));
        }
      m.run(TensorTensor{.dst = dst, .a = a, .b = b, .op = op});
      for (int p = 0; p < 3; ++p)
        for (std::int64_t i = 0; i < 37; ++i) {
          const std::uint64_t x = m.bits(a, p, i), y = m.bits(b, p, i);
          const bool out = y >= 8 * size_of(d);
          const std::uint64_t want = op == AluOp::kBitwiseAnd   ? x & y
                                     : op == AluOp::kBitwiseOr  ? x | y
                                     : op == AluOp::kBitwiseXor ? x ^ y
                                     : out                      ? 0
                                     : op == AluOp::kLeftShift  ? (x << y) & all
                                                                : x >> y;
          ASSERT_EQ(m.bits(dst, p, i), want) << name(op) << " " << name(d) << " " << x << " " << y;
        }
    }
  }
}

TEST(TensorTensor, RulesOfBitOperators) {
  const auto with = [](DType dst, DType a, DType b, AluOp op = AluOp::kBitwiseXor) {
    return TensorTensor{
        .dst = sbuf(dst, 32, 64), .a = sbuf(a, 32, 64), .b = sbuf(b, 32, 64), .op = op};
  };
  for (const AluOp op : bit_ops())
    if (op == AluOp::kInvert)
      expect_rule_everywhere(with(DType::kU8, DType::kU8, DType::kU8, op), "alu-op");
    else
      expect_legal_everywhere(with(DType::kU8, DType::kU8, DType::kU8, op));
  expect_rule_everywhere(with(DType::kF32, DType::kF32, DType::kF32), "bit-dtype");
  expect_rule_everywhere(with(DType::kU32, DType::kI32, DType::kI32), "bit-dtype");
  expect_rule_everywhere(with(DType::kI32, DType::kI32, DType::kI16), "bit-dtype");
}

TEST(TensorTensor, RulesOneInputMayLieInPsumButNotBoth) {
  const Tile s = sbuf(DType::kF32, 128, 512), p = psum(DType::kF32, 128, 512);
  expect_legal_everywhere(insn(s, s, s));
  expect_legal_everywhere(insn(s, p, s));
  expect_legal_everywhere(insn(p, s, p));
  expect_rule_everywhere(insn(s, p, p), "psum-operands");
}

TEST(TensorTensor, RulesShapesMustAgree) {
  const Tile t = sbuf(DType::kF32, 32, 64);
  expect_rule_everywhere(insn(t, sbuf(DType::kF32, 31, 64), t), "same-partitions");
  expect_rule_everywhere(insn(t, t, sbuf(DType::kF32, 32, 63)), "same-free-size");
  expect_rule_everywhere(insn(Tile{}, t, t), "operand-missing");
  expect_rule_everywhere(insn(t, t, hbm(DType::kF32, 32, 64, 64)), "operand-space");
  // Same count in other dimensions is the same shape.
  expect_legal_everywhere(insn(t, tile(Space::kSbuf, DType::kF32, 32, {{8, 8}, {1, 8}}), t));
}

TEST(TensorTensor, RulesTakeBinaryOperatorsOnly) {
  const Tile t = sbuf(DType::kF32, 32, 64);
  for (const AluOp op : alu_ops()) {
    const bool unary = op == AluOp::kAbs || op == AluOp::kRsqrt || op == AluOp::kReciprocal ||
                       op == AluOp::kBypass || op == AluOp::kSquare || op == AluOp::kRelu;
    if (op == AluOp::kAbsMax || op == AluOp::kAbsMin) {
      EXPECT_THAT(rules(insn(t, t, t, op), trn1()), Contains("alu-generation"));
      EXPECT_THAT(rules(insn(t, t, t, op), trn2()), Contains("alu-generation"));
      EXPECT_THAT(rules(insn(t, t, t, op), trn3()), IsEmpty());
    } else if (unary)
      expect_rule_everywhere(insn(t, t, t, op), "alu-op");
    else
      expect_legal_everywhere(insn(t, t, t, op));
  }
}

// ISA26 (v2): N with one input in PSUM or bf16 arithmetic, else 2N.
// A3 (v3, v4): 16-bit N/2, else N.
TEST(TensorTensor, CostsOneOrTwoCyclesAnElementOnV2) {
  const auto cost = [](DType dtype, std::int64_t n, AluOp op = AluOp::kAdd) {
    return cycles(insn(sbuf(dtype, 128, n), sbuf(dtype, 128, n), sbuf(dtype, 128, n), op), trn1());
  };
  EXPECT_EQ(cost(DType::kF32, 32), elementwise(64));
  EXPECT_EQ(cost(DType::kF32, 33), elementwise(66));
  EXPECT_EQ(cost(DType::kF32, 512), elementwise(1024));
  EXPECT_EQ(cost(DType::kBf16, 512), elementwise(512));
  EXPECT_EQ(cost(DType::kBf16, 64), elementwise(64));
  EXPECT_EQ(cost(DType::kBf16, 65), elementwise(65));
  EXPECT_EQ(cost(DType::kF16, 512), elementwise(1024)) << "the fast case names bf16 only";
  EXPECT_EQ(cost(DType::kBf16, 512, AluOp::kMax), elementwise(1024))
      << "and add, subtract, multiply only";
  const Tile s = sbuf(DType::kF32, 128, 512), p = psum(DType::kF32, 128, 512);
  EXPECT_EQ(cycles(insn(s, p, s), trn1()), elementwise(512));
  EXPECT_EQ(cycles(insn(s, s, p), trn1()), elementwise(512));
}

TEST(TensorTensor, CostsHalfOrOneCycleAnElementOnV3AndV4) {
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    const auto cost = [&](DType d, DType a, DType b, std::int64_t n, AluOp op = AluOp::kMax) {
      return cycles(insn(sbuf(d, 128, n), sbuf(a, 128, n), sbuf(b, 128, n), op), *m);
    };
    EXPECT_EQ(cost(DType::kF32, DType::kF32, DType::kF32, 64), elementwise(64));
    EXPECT_EQ(cost(DType::kF32, DType::kF32, DType::kF32, 65), elementwise(65));
    EXPECT_EQ(cost(DType::kBf16, DType::kF16, DType::kBf16, 512), elementwise(256));
    EXPECT_EQ(cost(DType::kBf16, DType::kF16, DType::kBf16, 129), elementwise(65));
    EXPECT_EQ(cost(DType::kF32, DType::kBf16, DType::kBf16, 512), elementwise(512))
        << "all three count";
    EXPECT_EQ(cycles(insn(sbuf(DType::kBf16, 128, 512), psum(DType::kBf16, 128, 512),
                          sbuf(DType::kBf16, 128, 512)),
                     *m),
              elementwise(512))
        << "one PSUM operand: 1x";
  }
  const Tile f8 = sbuf(DType::kF8E4M3, 128, 512);
  EXPECT_EQ(cycles(insn(f8, f8, f8), trn2()), elementwise(512));
  EXPECT_EQ(cycles(insn(f8, f8, f8), trn3()), elementwise(256)) << "A4 counts fp8 as 16-bit";
}

TEST(TensorTensor, AStrideAbove16BytesDoublesTheBaseRate) {
  const Tile t = sbuf(DType::kF32, 128, 512);
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    EXPECT_EQ(cycles(insn(t, stepped(t, 4), t), *m), elementwise(512)) << "16 B is full rate";
    EXPECT_EQ(cycles(insn(t, stepped(t, 5), t), *m), elementwise(1024));
    EXPECT_EQ(cycles(insn(t, t, stepped(t, -5)), *m), elementwise(1024));
    EXPECT_EQ(cycles(insn(stepped(t, 5), t, t), *m), elementwise(1024));
  }
}

TEST(TensorTensor, ResultsFromPsumAreVisibleLater) {
  const Tile s = sbuf(DType::kF32, 128, 512), p = psum(DType::kF32, 128, 512);
  const auto latency = [](const TensorTensor& i, const MachineSpec& m) {
    return i.time(m).latency.value;
  };
  EXPECT_EQ(latency(insn(s, s, s), trn1()), 150);
  EXPECT_EQ(latency(insn(s, p, s), trn1()), 170);
  EXPECT_EQ(latency(insn(s, s, s), trn2()), 120);
  EXPECT_EQ(latency(insn(s, s, p), trn2()), 150);
}

}  // namespace
}  // namespace krait::isa::testing
