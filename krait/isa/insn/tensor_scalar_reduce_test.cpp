#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kData = 0, kDst = 8192, kSum = 12288, kOp = 12352;

TensorScalarReduce insn(const Tile& dst, const Tile& data, const Operand& s, AluOp op0,
                        AluOp reduce_op = AluOp::kAdd) {
  TensorScalarReduce i;
  i.dst = dst, i.data = data, i.operand0 = s, i.op0 = op0, i.reduce_op = reduce_op;
  return i;
}

TEST(TensorScalarReduce, ReducesTheUnroundedResultsForEveryDtype) {
  for (const DType in : chip_dtypes())
    for (const DType out : chip_dtypes()) {
      TestMemory m;
      const Tile data = sbuf(in, 3, 37, kData), dst = sbuf(out, 3, 37, kDst),
                 sum = sbuf(DType::kF32, 3, 1, kSum);
      m.fill_random(data, 1, false);
      TensorScalarReduce i = insn(dst, data, 1.7F, AluOp::kMultiply);
      i.reduce_res = sum;
      m.run(i);
      expect_tile(m, dst, [&](int p, std::int64_t k) { return m.get(data, p, k) * 1.7F; });
      expect_tile(m, sum, [&](int p, std::int64_t) {
        float acc = 0;
        for (std::int64_t k = 0; k < 37; ++k) {
          const float y = m.get(data, p, k) * 1.7F;
          acc += y;
        }
        return acc;
      });
    }
}

TEST(TensorScalarReduce, TakesFourReductionsAndNegation) {
  for (const bool negate : {false, true}) {
    TestMemory m;
    const Tile data = sbuf(DType::kF32, 1, 3, kData), dst = sbuf(DType::kF32, 1, 3, kDst),
               r = sbuf(DType::kF32, 1, 1, kSum);
    const float x[] = {3, -0.5F, 2};
    m.fill(data, [&](int, std::int64_t k) { return x[k]; });
    for (const auto& [op, want] : {std::pair{AluOp::kAdd, 7.5F},
                                   {AluOp::kMultiply, 4 * 0.5F * 3},
                                   {AluOp::kMax, 4.0F},
                                   {AluOp::kMin, 0.5F}}) {
      TensorScalarReduce i = insn(dst, data, 1.0F, AluOp::kAdd, op);
      i.reduce_res = r, i.negate = negate;
      m.run(i);
      EXPECT_EQ(m.get(r, 0, 0), negate ? -want : want) << name(op);
    }
  }
}

TEST(TensorScalarReduce, AccumulatesOverTilesAndSpecialValues) {
  TestMemory m;
  const Tile a = sbuf(DType::kF32, 2, 5, kData), b = sbuf(DType::kF32, 2, 5, kData + 64),
             dst = sbuf(DType::kF32, 2, 5, kDst), r = psum(DType::kF32, 2, 1),
             scale = sbuf(DType::kF32, 2, 1, kOp);
  m.fill(a, [](int p, std::int64_t k) { return static_cast<float>(k - p); });
  m.fill(b, [](int p, std::int64_t k) { return p == 1 && k == 2 ? kInf : 1.0F; });
  m.fill(scale, [](int p, std::int64_t) { return static_cast<float>(2 + p); });
  TensorScalarReduce i = insn(dst, a, scale, AluOp::kMultiply);
  m.run(i);
  i.data = b, i.reduce_cmd = ReduceCmd::kReduce, i.reduce_res = r;
  m.run(i);
  EXPECT_EQ(m.get(r, 0, 0), 2 * 10 + 2 * 5);
  EXPECT_EQ(m.get(r, 1, 0), kInf);
  EXPECT_THAT(m.findings(), IsEmpty());
  i.reduce_cmd = ReduceCmd::kIdle, i.reduce_res = Tile{};
  m.run(i);
  i.reduce_cmd = ReduceCmd::kReduce, i.reduce_res = r;
  m.run(i);
  EXPECT_TRUE(std::isnan(m.get(r, 0, 0))) << "idle leaves the register undefined";
  ASSERT_EQ(m.findings().size(), 1U);
  EXPECT_EQ(m.findings()[0].kind, "accumulator-unset");
}

TEST(TensorScalarReduce, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& data : layouts(DType::kBf16, 2, kData, true))
    for (const Tile& dst : layouts(DType::kF32, 2, kDst, false)) {
      TestMemory m;
      m.fill_random(data, 5, false);
      TensorScalarReduce i = insn(dst, data, 0.1F, AluOp::kAdd, AluOp::kMax);
      i.reduce_res = sbuf(DType::kF32, 2, 1, kSum);
      m.run(i);
      expect_tile(m, dst, [&](int p, std::int64_t k) { return m.get(data, p, k) + 0.1F; });
      for (int p = 0; p < 2; ++p) {
        float most = -kInf;
        for (std::int64_t k = 0; k < 12; ++k) most = std::max(most, m.get(data, p, k) + 0.1F);
        EXPECT_EQ(m.get(i.reduce_res, p, 0), most);
      }
    }
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 2, 12, kData);
  m.fill_random(t, 6, false);
  const auto before = m.values(t);
  m.run(insn(t, t, 2.0F, AluOp::kMultiply));
  expect_tile(m, t, [&](int p, std::int64_t k) { return before[flat(p, 12, k)] * 2.0F; });
}

TEST(TensorScalarReduce, Rules) {
  const Tile s = sbuf(DType::kF32, 64, 32), p = psum(DType::kF32, 64, 32);
  TensorScalarReduce good = insn(p, s, sbuf(DType::kF32, 64, 1), AluOp::kMax);
  good.reduce_res = psum(DType::kBf16, 64, 1);
  expect_legal_everywhere(good);
  const auto with = [&](auto change) {
    TensorScalarReduce i = good;
    change(i);
    return i;
  };
  using T = TensorScalarReduce;
  expect_rule_everywhere(with([](T& i) { i.data = Tile{}; }), "operand-missing");
  expect_rule_everywhere(with([](T& i) { i.data = hbm(DType::kF32, 64, 32, 32); }),
                         "operand-space");
  expect_rule_everywhere(with([](T& i) { i.data = sbuf(DType::kF32, 64, 31); }), "same-free-size");
  expect_rule_everywhere(with([](T& i) { i.operand0 = sbuf(DType::kF32, 64, 2); }),
                         "per-partition-operand");
  expect_rule_everywhere(with([](T& i) { i.reduce_res = sbuf(DType::kF32, 64, 2); }),
                         "per-partition-operand");
  expect_rule_everywhere(with([](T& i) { i.op0 = AluOp::kRsqrt; }), "engine-op");
  for (const AluOp op : alu_ops()) {
    const bool legal =
        op == AluOp::kAdd || op == AluOp::kMultiply || op == AluOp::kMax || op == AluOp::kMin;
    const T i = with([&](T& t) { t.reduce_op = op; });
    if (legal)
      expect_legal_everywhere(i);
    else
      expect_rule_everywhere(i, "reduce-op");
  }
  for (const ReduceCmd cmd : {ReduceCmd::kDefault, ReduceCmd::kReset, ReduceCmd::kLoadReduce})
    expect_rule_everywhere(with([&](T& i) { i.reduce_cmd = cmd; }), "reduce-cmd");
  expect_rule_everywhere(with([](T& i) { i.reduce_cmd = ReduceCmd::kIdle; }), "reduce-cmd");
  expect_legal_everywhere(
      with([](T& i) { i.reduce_cmd = ReduceCmd::kIdle, i.reduce_res = Tile{}; }));
}

// ISA26: max(MIN_II, N) + MIN_II, the second for the instruction that stores the result.
TEST(TensorScalarReduce, Cost) {
  for (const MachineSpec* m : machines())
    for (const DType d : {DType::kF32, DType::kBf16}) {
      const auto cost = [&](std::int64_t n, bool read) {
        TensorScalarReduce i = insn(sbuf(d, 128, n), sbuf(d, 128, n), 1.0F, AluOp::kAdd);
        if (read) i.reduce_res = sbuf(DType::kF32, 128, 1);
        return cycles(i, *m);
      };
      EXPECT_EQ(cost(64, true), elementwise(64) + 64);
      EXPECT_EQ(cost(65, true), elementwise(65) + 64);
      EXPECT_EQ(cost(512, true), elementwise(512) + 64);
      EXPECT_EQ(cost(512, false), elementwise(512));
    }
}

}  // namespace
}  // namespace krait::isa::testing
