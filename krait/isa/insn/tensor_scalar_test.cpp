#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kData = 0, kDst = 8192, kOp0 = 12288, kOp1 = 12352;

TensorScalar insn(const Tile& dst, const Tile& data, const Operand& a, AluOp op0,
                  const Operand& b = 0.0F, AluOp op1 = AluOp::kBypass) {
  return {.dst = dst, .data = data, .operand0 = a, .operand1 = b, .op0 = op0, .op1 = op1};
}

TEST(TensorScalar, RoundsOnceAfterBothOperations) {
  for (const DType in : chip_dtypes())
    for (const DType out : chip_dtypes()) {
      TestMemory m;
      const Tile data = sbuf(in, 3, 37, kData), dst = sbuf(out, 3, 37, kDst);
      m.fill_random(data, 1);
      m.run(insn(dst, data, 1.7F, AluOp::kMultiply, -0.3F, AluOp::kAdd));
      expect_tile(m, dst, [&](int p, std::int64_t i) {
        const float product = m.get(data, p, i) * 1.7F;
        return product + -0.3F;
      });
    }
}

TEST(TensorScalar, OperandsArePerPartitionOrConstantAndReversible) {
  for (int flags = 0; flags < 16; ++flags) {
    const bool reverse0 = flags & 1, reverse1 = flags & 2, tile0 = flags & 4, tile1 = flags & 8;
    TestMemory m;
    const Tile data = sbuf(DType::kF32, 5, 9, kData), dst = sbuf(DType::kF32, 5, 9, kDst);
    const Tile v0 = sbuf(DType::kF32, 5, 1, kOp0), v1 = sbuf(DType::kF32, 5, 1, kOp1);
    m.fill_random(data, 2, false), m.fill_random(v0, 3, false), m.fill_random(v1, 4, false);
    TensorScalar i = insn(dst, data, tile0 ? Operand(v0) : Operand(3.5F), AluOp::kSubtract,
                          tile1 ? Operand(v1) : Operand(-2.0F), AluOp::kSubtract);
    i.reverse0 = reverse0, i.reverse1 = reverse1;
    m.run(i);
    expect_tile(
        m, dst,
        [&](int p, std::int64_t k) {
          const float a = tile0 ? m.get(v0, p, 0) : 3.5F, b = tile1 ? m.get(v1, p, 0) : -2.0F;
          const float x = m.get(data, p, k);
          const float t = reverse0 ? a - x : x - a;
          return reverse1 ? b - t : t - b;
        },
        cat("flags ", flags));
  }
}

TEST(TensorScalar, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& data : layouts(DType::kF32, 2, kData, true))
    for (const Tile& dst : layouts(DType::kBf16, 2, kDst, false, 96)) {
      TestMemory m;
      m.fill_random(data, 5);
      m.run(insn(dst, data, 0.1F, AluOp::kAdd));
      expect_tile(m, dst, [&](int p, std::int64_t i) { return m.get(data, p, i) + 0.1F; });
    }
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 2, 12, kData);
  m.fill_random(t, 6, false);
  const auto before = m.values(t);
  m.run(insn(t, t, 2.0F, AluOp::kMultiply, 1.0F, AluOp::kAdd));
  expect_tile(m, t, [&](int p, std::int64_t i) { return before[flat(p, 12, i)] * 2.0F + 1.0F; });
}

TEST(TensorScalar, UnaryOperatorsIgnoreTheOperand) {
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 1, 4, kData), dst = sbuf(DType::kF32, 1, 4, kDst);
  const float x[] = {-4, 0.5F, 16, -0.0F};
  m.fill(data, [&](int, std::int64_t i) { return x[i]; });
  m.run(insn(dst, data, kNan, AluOp::kAbs));
  expect_tile(m, dst, [&](int, std::int64_t i) { return std::fabs(x[i]); });
  m.run(insn(dst, data, 0.0F, AluOp::kAbs, kNan, AluOp::kReciprocal));
  expect_tile(m, dst, [&](int, std::int64_t i) { return 1.0F / std::fabs(x[i]); });
}

TEST(TensorScalar, BitOperatorsTakeIntegersAsTheyAre) {
  for (const DType d : chip_dtypes()) {
    if (is_float(d)) continue;
    const std::uint64_t all = (1ULL << (8 * size_of(d))) - 1;
    for (int flags = 0; flags < 4; ++flags) {
      const bool reverse0 = flags & 1, vector = flags & 2;
      TestMemory m;
      const Tile data = sbuf(d, 3, 19, kData), dst = sbuf(d, 3, 19, kDst), v = sbuf(d, 3, 1, kOp0);
      const CounterRng rng(5);
      for (int p = 0; p < 3; ++p) {
        m.set_bits(v, p, 0, (0x9ABCDEF1 + static_cast<std::uint64_t>(p)) & all);
        for (std::int64_t i = 0; i < 19; ++i)
          m.set_bits(data, p, i,
                     reverse0 ? static_cast<std::uint64_t>(i) : rng.bits(flat(p, 19, i)) & all);
      }
      // (data >> 3) ^ -2, or with both swapped (operand >> data) ^ -2
      TensorScalar t = insn(dst, data, vector ? Operand(v) : Operand(3.0F), AluOp::kRightShift,
                            -2.0F, AluOp::kBitwiseXor);
      t.reverse0 = reverse0;
      m.run(t);
      for (int p = 0; p < 3; ++p)
        for (std::int64_t i = 0; i < 19; ++i) {
          const std::uint64_t x = m.bits(data, p, i), s = vector ? m.bits(v, p, 0) : 3;
          const std::uint64_t value = reverse0 ? s : x, by = reverse0 ? x : s;
          const std::uint64_t shifted = by < 8 * size_of(d) ? value >> by : 0;
          ASSERT_EQ(m.bits(dst, p, i), shifted ^ (~1ULL & all)) << name(d) << " " << flags;
        }
    }
  }
  TestMemory m;
  const Tile t = sbuf(DType::kU8, 1, 1, kData);
  m.set_bits(t, 0, 0, 1);
  m.run(insn(t, t, 0.0F, AluOp::kInvert));
  EXPECT_EQ(m.bits(t, 0, 0), 254U) << "not the logical not";
}

TEST(TensorScalar, RulesOfBitOperators) {
  const Tile s = sbuf(DType::kI16, 64, 32), v = sbuf(DType::kI16, 64, 1);
  for (const AluOp op : bit_ops())
    expect_legal_everywhere(insn(s, s, v, op, 3.0F, AluOp::kBitwiseAnd));
  expect_legal_everywhere(insn(s, s, 4294967040.0F, AluOp::kBitwiseOr));
  expect_rule_everywhere(insn(s, s, 1.0F, AluOp::kAdd, 1.0F, AluOp::kBitwiseOr), "alu-class");
  expect_rule_everywhere(insn(s, s, 1.0F, AluOp::kBitwiseOr, 1.0F, AluOp::kAdd), "alu-class");
  expect_rule_everywhere(insn(s, sbuf(DType::kU16, 64, 32), 1.0F, AluOp::kBitwiseOr), "bit-dtype");
  const Tile f = sbuf(DType::kF32, 64, 32);
  expect_rule_everywhere(insn(f, f, 1.0F, AluOp::kBitwiseOr), "bit-dtype");
  expect_rule_everywhere(insn(s, s, sbuf(DType::kF32, 64, 1), AluOp::kBitwiseOr), "bit-dtype");
  expect_rule_everywhere(insn(s, s, sbuf(DType::kI16, 64, 2), AluOp::kBitwiseOr),
                         "per-partition-operand");
  for (const float bad : {0.5F, 0x1p32F, -0x1.1p31F, kNan, kInf})
    expect_rule_everywhere(insn(s, s, bad, AluOp::kBitwiseOr), "bit-operand");
  for (const Engine e : {Engine::kScalar, Engine::kGpSimd}) {
    TensorScalar i = insn(s, s, 1.0F, AluOp::kBitwiseOr);
    i.engine = e;
    expect_rule_everywhere(i, "engine-op");
  }
}

TEST(TensorScalar, OperatorsOfV4) {
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 1, 5, kData), dst = sbuf(DType::kF32, 1, 5, kDst);
  const float x[] = {-4, 0.5F, 3, -3, kNan};
  m.fill(data, [&](int, std::int64_t i) { return x[i]; });
  const auto expect = [&](AluOp op, const std::vector<float>& want) {
    m.run(insn(dst, data, 3.0F, op));
    expect_tile(
        m, dst, [&](int, std::int64_t i) { return want[static_cast<std::size_t>(i)]; },
        std::string(name(op)));
  };
  expect(AluOp::kSquare, {16, 0.25F, 9, 9, kNan});
  expect(AluOp::kRelu, {0, 0.5F, 3, 0, kNan});
  expect(AluOp::kAbsMax, {-4, 3, 3, 3, 3});  // a tie gives the operand
  expect(AluOp::kAbsMin, {3, 0.5F, 3, 3, 3});
}

TEST(TensorScalar, RulesOfOperandsAndSpaces) {
  const Tile s = sbuf(DType::kF32, 64, 32), p = psum(DType::kF32, 64, 32);
  expect_legal_everywhere(insn(p, p, 1.0F, AluOp::kMax));
  expect_legal_everywhere(
      insn(s, p, sbuf(DType::kF32, 64, 1), AluOp::kMax, psum(DType::kF32, 64, 1), AluOp::kMin));
  expect_rule_everywhere(insn(s, s, sbuf(DType::kF32, 32, 1), AluOp::kAdd),
                         "per-partition-operand");
  expect_rule_everywhere(insn(s, s, 1.0F, AluOp::kAdd, sbuf(DType::kF32, 64, 3), AluOp::kAdd),
                         "per-partition-operand");
  expect_rule_everywhere(insn(s, s, 1.0F, AluOp::kAdd, sbuf(DType::kF16, 64, 1), AluOp::kAdd),
                         "operand-dtype");
  expect_rule_everywhere(insn(s, hbm(DType::kF32, 64, 32, 32), 1.0F, AluOp::kAdd), "operand-space");
  expect_rule_everywhere(insn(s, s, hbm(DType::kF32, 64, 1, 1), AluOp::kAdd), "operand-space");
  expect_rule_everywhere(insn(s, sbuf(DType::kF32, 64, 31), 1.0F, AluOp::kAdd), "same-free-size");
  expect_rule_everywhere(insn(s, Tile{}, 1.0F, AluOp::kAdd), "operand-missing");
}

TEST(TensorScalar, ScalarEngineTakesThreeFormsFromV3On) {
  const Tile s = sbuf(DType::kF32, 64, 32);
  const auto on = [&](AluOp op0, AluOp op1, bool reverse0 = false) {
    TensorScalar i = insn(s, s, 1.0F, op0, 1.0F, op1);
    i.engine = Engine::kScalar, i.reverse0 = reverse0;
    return i;
  };
  for (const auto& [op0, op1] : {std::pair{AluOp::kMultiply, AluOp::kAdd},
                                 {AluOp::kMultiply, AluOp::kBypass},
                                 {AluOp::kAdd, AluOp::kBypass}}) {
    EXPECT_THAT(rules(on(op0, op1), trn1()), Contains("engine"));
    EXPECT_THAT(rules(on(op0, op1), trn2()), IsEmpty());
    EXPECT_THAT(rules(on(op0, op1), trn3()), IsEmpty());
    EXPECT_THAT(rules(on(op0, op1, true), trn2()), Contains("engine-op"));
  }
  EXPECT_THAT(rules(on(AluOp::kAdd, AluOp::kMultiply), trn2()), Contains("engine-op"));
  EXPECT_THAT(rules(on(AluOp::kSubtract, AluOp::kBypass), trn2()), Contains("engine-op"));
}

TEST(TensorScalar, RsqrtRunsOnGpSimdOnlyAndWithinSbuf) {
  const Tile s = sbuf(DType::kF32, 64, 32), p = psum(DType::kF32, 64, 32);
  TensorScalar i = insn(s, s, 0.0F, AluOp::kRsqrt);
  expect_rule_everywhere(i, "engine-op");
  i.engine = Engine::kGpSimd;
  expect_legal_everywhere(i);
  i.op0 = AluOp::kAdd;
  expect_rule_everywhere(i, "engine-op");
  i.op0 = AluOp::kRsqrt, i.data = p;
  expect_rule_everywhere(i, "operand-space");
  for (const Engine e : {Engine::kTensor, Engine::kSync}) {
    i = insn(s, s, 0.0F, AluOp::kAdd), i.engine = e;
    expect_rule_everywhere(i, "engine");
  }
  EXPECT_EQ(def_of<TensorScalar>().engine(&i), Engine::kSync);
}

TEST(TensorScalar, RulesOfOperatorsThatCameWithV4) {
  const Tile s = sbuf(DType::kF32, 64, 32);
  for (const AluOp op : {AluOp::kSquare, AluOp::kRelu, AluOp::kAbsMax, AluOp::kAbsMin}) {
    const bool one = op == AluOp::kSquare || op == AluOp::kRelu;
    for (const TensorScalar& i : {insn(s, s, 1.0F, op), insn(s, s, 1.0F, AluOp::kAdd, 1.0F, op)}) {
      EXPECT_THAT(rules(i, trn1()), Contains("alu-generation"));
      EXPECT_THAT(rules(i, trn2()), Contains("alu-generation"));
      if (one && i.op1 == op)
        EXPECT_THAT(rules(i, trn3()), Contains("alu-op")) << "as the first operator only";
      else
        EXPECT_THAT(rules(i, trn3()), IsEmpty());
    }
  }
}

// ISA26 (v2): N, two operations as one. A3: 16-bit SBUF to SBUF N/4 dense, N/2 strided or one side
// in PSUM; other types N/2 within SBUF, else N.
TEST(TensorScalar, CostOnVectorEngine) {
  const auto cost = [](const Tile& d, const Tile& x, const MachineSpec& m) {
    return cycles(insn(d, x, 1.0F, AluOp::kAdd, 1.0F, AluOp::kMultiply), m);
  };
  const Tile f = sbuf(DType::kF32, 128, 512), b = sbuf(DType::kBf16, 128, 512),
             h = sbuf(DType::kF16, 128, 512);
  const Tile pf = psum(DType::kF32, 128, 512), pb = psum(DType::kBf16, 128, 512);
  EXPECT_EQ(cost(f, f, trn1()), elementwise(512));
  EXPECT_EQ(cost(b, b, trn1()), elementwise(512));
  EXPECT_EQ(cost(sbuf(DType::kF32, 128, 64), sbuf(DType::kF32, 128, 64), trn1()), elementwise(64));
  EXPECT_EQ(cost(sbuf(DType::kF32, 128, 65), sbuf(DType::kF32, 128, 65), trn1()), elementwise(65));
  for (const MachineSpec* m : {&trn2(), &trn3()}) {
    EXPECT_EQ(cost(b, h, *m), elementwise(128));
    EXPECT_EQ(cost(sbuf(DType::kBf16, 128, 256), sbuf(DType::kBf16, 128, 256), *m),
              elementwise(64));
    EXPECT_EQ(cost(sbuf(DType::kBf16, 128, 257), sbuf(DType::kBf16, 128, 257), *m),
              elementwise(65));
    EXPECT_EQ(cost(b, stepped(b, 2), *m), elementwise(256)) << "not contiguous";
    EXPECT_EQ(cost(b, pb, *m), elementwise(256)) << "one side in PSUM";
    EXPECT_EQ(cost(pb, pb, *m), elementwise(512)) << "both sides in PSUM";
    EXPECT_EQ(cost(b, pf, *m), elementwise(512)) << "f32 from PSUM";
    EXPECT_EQ(cost(f, f, *m), elementwise(256));
    EXPECT_EQ(cost(b, f, *m), elementwise(256));
    EXPECT_EQ(cost(f, pf, *m), elementwise(512));
  }
  EXPECT_TRUE(insn(b, b, 1.0F, AluOp::kAdd).time(trn2()).fast_mode);
  EXPECT_FALSE(insn(pf, f, 1.0F, AluOp::kAdd).time(trn2()).fast_mode);
}

TEST(TensorScalar, CostOnScalarAndGpSimdEngines) {
  const Tile f = sbuf(DType::kF32, 128, 512), b = sbuf(DType::kBf16, 128, 512);
  TensorScalar i = insn(b, b, 1.0F, AluOp::kMultiply);
  i.engine = Engine::kScalar;
  EXPECT_EQ(cycles(i, trn2()), elementwise(512));
  EXPECT_EQ(cycles(i, trn3()), elementwise(256)) << "A4: 2x for 16-bit";
  i.dst = f;
  EXPECT_EQ(cycles(i, trn3()), elementwise(512));
  i = insn(f, f, 0.0F, AluOp::kRsqrt), i.engine = Engine::kGpSimd;
  for (const MachineSpec* m : machines()) EXPECT_EQ(cycles(i, *m), kGpSimdStart + 4 * 512);
}

}  // namespace
}  // namespace krait::isa::testing
