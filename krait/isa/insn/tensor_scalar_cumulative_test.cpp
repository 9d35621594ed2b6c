#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kSrc = 0, kDst = 8192, kImm = 12288;

const DType kLegal[] = {DType::kF32,      DType::kBf16, DType::kF16, DType::kF8E4M3, DType::kF8E5M2,
                        DType::kF8E4M3Fn, DType::kI8,   DType::kU8,  DType::kI16,    DType::kU16};

TensorScalarCumulative insn(const Tile& dst, const Tile& src, const Operand& imm0, AluOp op0,
                            AluOp op1) {
  return {.dst = dst, .src = src, .imm0 = imm0, .op0 = op0, .op1 = op1};
}

TEST(TensorScalarCumulative, KeepsTheRegisterInF32ForEveryDtype) {
  for (const DType in : kLegal)
    for (const DType out : kLegal) {
      TestMemory m;
      const Tile src = sbuf(in, 3, 37, kSrc), dst = sbuf(out, 3, 37, kDst);
      m.fill_random(src, 1, false);
      m.run(insn(dst, src, 0.3F, AluOp::kMultiply, AluOp::kAdd));
      expect_tile(m, dst, [&](int p, std::int64_t i) {
        float reg = 0;
        for (std::int64_t k = 0; k <= i; ++k) {
          const float y = m.get(src, p, k) * 0.3F;
          reg = y + reg;
        }
        return reg;
      });
    }
}

// The new value is the left operand: subtract alternates.
TEST(TensorScalarCumulative, TheNewValueIsOnTheLeft) {
  TestMemory m;
  const Tile src = sbuf(DType::kF32, 1, 4, kSrc), dst = sbuf(DType::kF32, 1, 4, kDst);
  const float x[] = {5, 7, 1, -2};
  m.fill(src, [&](int, std::int64_t i) { return x[i]; });
  m.run(insn(dst, src, 1.0F, AluOp::kAdd, AluOp::kSubtract));
  const float want[] = {6 - 0, 8 - 6, 2 - 2, -1 - 0};
  expect_tile(m, dst, [&](int, std::int64_t i) { return want[i]; });
}

TEST(TensorScalarCumulative, StartsFromTheIdentityALoadOrTheRegister) {
  TestMemory m;
  const Tile src = sbuf(DType::kF32, 2, 3, kSrc), dst = sbuf(DType::kF32, 2, 3, kDst),
             load = sbuf(DType::kF32, 2, 1, kImm);
  const float x[] = {2, -3, 4};
  m.fill(src, [&](int, std::int64_t i) { return x[i]; });
  m.fill(load, [](int p, std::int64_t) { return p == 0 ? 10.0F : 3.0F; });
  const auto after = [&](AluOp op1, ReduceCmd cmd) {
    TensorScalarCumulative i = insn(dst, src, 1.0F, AluOp::kMultiply, op1);
    i.reduce_cmd = cmd, i.imm1 = load;
    m.run(i);
    return std::pair{m.get(dst, 0, 0), m.get(dst, 1, 2)};
  };
  EXPECT_EQ(after(AluOp::kAdd, ReduceCmd::kResetReduce), (std::pair{2.0F, 3.0F}));
  EXPECT_EQ(after(AluOp::kAdd, ReduceCmd::kReduce), (std::pair{5.0F, 6.0F}));
  EXPECT_EQ(after(AluOp::kAdd, ReduceCmd::kLoadReduce), (std::pair{12.0F, 6.0F}));
  EXPECT_EQ(after(AluOp::kMultiply, ReduceCmd::kResetReduce), (std::pair{2.0F, -24.0F}));
  EXPECT_EQ(after(AluOp::kMax, ReduceCmd::kResetReduce), (std::pair{2.0F, 4.0F}));
  EXPECT_EQ(after(AluOp::kMax, ReduceCmd::kLoadReduce), (std::pair{10.0F, 4.0F}));
  EXPECT_EQ(after(AluOp::kMin, ReduceCmd::kResetReduce), (std::pair{2.0F, -3.0F}));
}

TEST(TensorScalarCumulative, ReportsARegisterThatWasNeverSet) {
  TestMemory m;
  const Tile src = sbuf(DType::kF32, 1, 3, kSrc), dst = sbuf(DType::kF32, 1, 3, kDst);
  m.fill_random(src, 3, false);
  TensorScalarCumulative i = insn(dst, src, 1.0F, AluOp::kMultiply, AluOp::kAdd);
  i.reduce_cmd = ReduceCmd::kReduce;
  m.run(i);
  ASSERT_EQ(m.findings().size(), 1U);
  EXPECT_EQ(m.findings()[0].kind, "accumulator-unset");
  EXPECT_TRUE(std::isnan(m.get(dst, 0, 2)));
}

TEST(TensorScalarCumulative, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& src : layouts(DType::kBf16, 2, kSrc, true))
    for (const Tile& dst : layouts(DType::kF32, 2, kDst, false, 32, Space::kPsum)) {
      TestMemory m;
      m.fill_random(src, 5);
      m.run(insn(dst, src, 0.0F, AluOp::kMax, AluOp::kMax));
      expect_tile(m, dst, [&](int p, std::int64_t i) {
        float most = 0;  // max ignores NaN, and 0 bounds it from below
        for (std::int64_t k = 0; k <= i; ++k)
          if (m.get(src, p, k) > most) most = m.get(src, p, k);
        return most;
      });
    }
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 2, 12, kSrc);
  m.fill(t, [](int p, std::int64_t i) { return static_cast<float>(i + p); });
  m.run(insn(t, t, 0.0F, AluOp::kAdd, AluOp::kAdd));
  expect_tile(m, t, [](int p, std::int64_t i) {
    return static_cast<float>(i * (i + 1) / 2 + p * (i + 1));
  });
}

TEST(TensorScalarCumulative, Rules) {
  const Tile s = sbuf(DType::kF32, 64, 32), v = sbuf(DType::kF32, 64, 1);
  TensorScalarCumulative good =
      insn(psum(DType::kF32, 64, 32), s, v, AluOp::kMultiply, AluOp::kAdd);
  good.imm1 = v;
  expect_legal_everywhere(good);
  using T = TensorScalarCumulative;
  const auto with = [&](auto change) {
    T i = good;
    change(i);
    return i;
  };
  expect_rule_everywhere(with([](T& i) { i.src = Tile{}; }), "operand-missing");
  expect_rule_everywhere(with([](T& i) { i.src = hbm(DType::kF32, 64, 32, 32); }), "operand-space");
  expect_rule_everywhere(with([](T& i) { i.src = sbuf(DType::kF32, 64, 31); }), "same-free-size");
  expect_rule_everywhere(with([](T& i) { i.imm0 = sbuf(DType::kF32, 64, 2); }),
                         "per-partition-operand");
  expect_rule_everywhere(with([](T& i) { i.imm1 = sbuf(DType::kBf16, 64, 1); }), "operand-dtype");
  expect_rule_everywhere(with([](T& i) { i.op0 = AluOp::kRsqrt; }), "engine-op");
  for (const DType d : chip_dtypes()) {
    const bool legal = std::find(std::begin(kLegal), std::end(kLegal), d) != std::end(kLegal);
    for (const T& i : {with([&](T& t) { t.src.dtype = d; }), with([&](T& t) { t.dst.dtype = d; })})
      if (legal)
        expect_legal_everywhere(i);
      else
        expect_rule_everywhere(i, "operand-dtype");
  }
  for (const AluOp op : alu_ops()) {
    const bool legal = op == AluOp::kAdd || op == AluOp::kSubtract || op == AluOp::kMultiply ||
                       op == AluOp::kMax || op == AluOp::kMin;
    const T i = with([&](T& t) { t.op1 = op; });
    if (legal)
      expect_legal_everywhere(i);
    else
      expect_rule_everywhere(i, "reduce-op");
  }
  for (const ReduceCmd cmd : {ReduceCmd::kDefault, ReduceCmd::kIdle, ReduceCmd::kReset})
    expect_rule_everywhere(with([&](T& i) { i.reduce_cmd = cmd; }), "reduce-cmd");
}

// Never printed: two cycles an element, as the scan.
TEST(TensorScalarCumulative, Cost) {
  for (const MachineSpec* m : machines()) {
    const auto cost = [&](std::int64_t n) {
      return cycles(insn(sbuf(DType::kBf16, 128, n), sbuf(DType::kBf16, 128, n), 1.0F,
                         AluOp::kMultiply, AluOp::kAdd),
                    *m);
    };
    EXPECT_EQ(cost(32), elementwise(64));
    EXPECT_EQ(cost(33), elementwise(66));
    EXPECT_EQ(cost(512), elementwise(1024));
  }
}

}  // namespace
}  // namespace krait::isa::testing
