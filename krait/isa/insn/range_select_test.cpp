#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kTrue = 0, kDst = 8192, kLow = 12288, kHigh = 12352, kMax = 12416;
constexpr float kFill = -3.4028235e38F;

RangeSelect insn(const Tile& dst, const Tile& x, const Tile& low, const Tile& high) {
  RangeSelect i;
  i.dst = dst, i.on_true = x, i.bound0 = low, i.bound1 = high;
  return i;
}

bool holds(AluOp op, double a, double b) {
  switch (op) {
    case AluOp::kEqual:
      return a == b;
    case AluOp::kLess:
      return a < b;
    case AluOp::kLessEqual:
      return a <= b;
    case AluOp::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

constexpr AluOp kComparisons[] = {AluOp::kEqual, AluOp::kLess, AluOp::kLessEqual, AluOp::kGreater,
                                  AluOp::kGreaterEqual};

TEST(RangeSelect, KeepsWhatLiesBetweenTheBoundsForEveryDtype) {
  for (const DType in : chip_dtypes())
    for (const DType out : chip_dtypes()) {
      if (!is_float(in) || !is_float(out)) continue;
      TestMemory m;
      const Tile x = sbuf(in, 5, 37, kTrue), dst = sbuf(out, 5, 37, kDst),
                 low = sbuf(DType::kF32, 5, 1, kLow), high = sbuf(DType::kF32, 5, 1, kHigh),
                 most = sbuf(DType::kF32, 5, 1, kMax);
      m.fill_random(x, 1);
      m.fill(low, [](int p, std::int64_t) { return static_cast<float>(3 * p); });
      m.fill(high, [](int p, std::int64_t) { return p == 4 ? kNan : static_cast<float>(50 - p); });
      RangeSelect i = insn(dst, x, low, high);
      i.range_start = 20, i.reduce_res = most;
      m.run(i);
      const auto want = [&](int p, std::int64_t k) {
        return 20 + k >= 3 * p && 20 + k < 50 - p && p != 4 ? m.get(x, p, k) : kFill;
      };
      for (std::int64_t k = 0; in == out && k < 30; ++k)
        ASSERT_EQ(m.bits(dst, 0, k), m.bits(x, 0, k)) << name(in);
      expect_tile(m, dst, want, cat(name(in), " to ", name(out)));
      for (int p = 0; p < 5; ++p) {
        float acc = -kInf;
        for (std::int64_t k = 0; k < 37; ++k)
          if (want(p, k) > acc) acc = want(p, k);
        EXPECT_EQ(m.get(most, p, 0), acc) << p;
      }
    }
}

TEST(RangeSelect, EveryPairOfComparisonsWithNegativeStarts) {
  for (const AluOp op0 : kComparisons)
    for (const AluOp op1 : kComparisons) {
      TestMemory m;
      const Tile x = sbuf(DType::kF32, 1, 9, kTrue), dst = sbuf(DType::kF32, 1, 9, kDst),
                 low = sbuf(DType::kF32, 1, 1, kLow), high = sbuf(DType::kF32, 1, 1, kHigh);
      m.fill(x, [](int, std::int64_t k) { return static_cast<float>(k); });
      m.set(low, 0, 0, -1), m.set(high, 0, 0, 1.5F);
      RangeSelect i = insn(dst, x, low, high);
      i.comp0 = op0, i.comp1 = op1, i.range_start = -4;
      m.run(i);
      expect_tile(m, dst, [&](int, std::int64_t k) {
        const auto index = static_cast<double>(k - 4);
        return holds(op0, index, -1) && holds(op1, index, 1.5) ? static_cast<float>(k) : kFill;
      });
    }
}

TEST(RangeSelect, TheFillBecomesMinusInfinityInNarrowTypesButNotInTheMaximum) {
  TestMemory m;
  const Tile x = sbuf(DType::kBf16, 1, 3, kTrue), dst = sbuf(DType::kBf16, 1, 3, kDst),
             low = sbuf(DType::kF32, 1, 1, kLow), most = sbuf(DType::kF32, 1, 1, kMax);
  m.fill_random(x, 3, false), m.set(low, 0, 0, 100);
  RangeSelect i = insn(dst, x, low, low);
  i.reduce_res = most;
  m.run(i);
  for (std::int64_t k = 0; k < 3; ++k) EXPECT_EQ(m.get(dst, 0, k), -kInf);
  EXPECT_EQ(m.get(most, 0, 0), kFill);
}

TEST(RangeSelect, AccumulatesAndWalksEveryAccessPatternAndInPlace) {
  for (const Tile& x : layouts(DType::kF32, 2, kTrue, true))
    for (const Tile& dst : layouts(DType::kF32, 2, kDst, false, 64, Space::kPsum)) {
      TestMemory m;
      const Tile low = sbuf(DType::kF32, 2, 1, kLow), high = sbuf(DType::kF32, 2, 1, kHigh);
      m.fill_random(x, 5), m.set(low, 0, 0, 2), m.set(low, 1, 0, 0), m.set(high, 0, 0, 9);
      m.set(high, 1, 0, 5);
      m.run(insn(dst, x, low, high));
      expect_tile(m, dst, [&](int p, std::int64_t k) {
        return (p == 0 ? k >= 2 && k < 9 : k < 5) ? m.get(x, p, k) : kFill;
      });
    }
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 1, 4, kTrue), low = sbuf(DType::kF32, 1, 1, kLow),
             high = sbuf(DType::kF32, 1, 1, kHigh), r = sbuf(DType::kF32, 1, 1, kMax);
  m.fill(t, [](int, std::int64_t k) { return static_cast<float>(k); });
  m.set(low, 0, 0, 1), m.set(high, 0, 0, 3);
  RangeSelect i = insn(t, t, low, high);
  m.run(i);
  expect_tile(m, t, [](int, std::int64_t k) { return k == 1 || k == 2 ? float(k) : kFill; });
  m.set(t, 0, 1, -8), m.set(t, 0, 2, -9);
  i.reduce_cmd = ReduceCmd::kReduce, i.reduce_res = r;
  m.run(i);
  EXPECT_EQ(m.get(r, 0, 0), 2) << "the maximum of both instructions";
}

TEST(RangeSelect, RulesAndGenerations) {
  using T = RangeSelect;
  const Tile s = sbuf(DType::kF32, 64, 32), v = sbuf(DType::kF32, 64, 1);
  T good = insn(psum(DType::kBf16, 64, 32), s, v, psum(DType::kF32, 64, 1));
  good.reduce_res = v;
  EXPECT_THAT(rules(good, trn1()), Contains("generation"));
  EXPECT_THAT(rules(good, trn2()), IsEmpty());
  EXPECT_THAT(rules(good, trn3()), IsEmpty());
  const auto with = [&](auto change) {
    T i = good;
    change(i);
    return i;
  };
  expect_rule_everywhere(with([](T& i) { i.bound1 = Tile{}; }), "operand-missing");
  expect_rule_everywhere(with([](T& i) { i.on_true = hbm(DType::kF32, 64, 32, 32); }),
                         "operand-space");
  expect_rule_everywhere(with([](T& i) { i.on_true = sbuf(DType::kF32, 64, 31); }),
                         "same-free-size");
  expect_rule_everywhere(with([](T& i) { i.bound0 = sbuf(DType::kF32, 64, 2); }),
                         "per-partition-operand");
  expect_rule_everywhere(with([](T& i) { i.bound0 = sbuf(DType::kBf16, 64, 1); }), "operand-dtype");
  expect_rule_everywhere(with([](T& i) { i.on_true.dtype = DType::kI32; }), "operand-dtype");
  expect_rule_everywhere(with([](T& i) { i.dst.dtype = DType::kU8; }), "operand-dtype");
  for (const AluOp op : alu_ops()) {
    const bool legal =
        std::find(std::begin(kComparisons), std::end(kComparisons), op) != std::end(kComparisons);
    for (const T& i : {with([&](T& t) { t.comp0 = op; }), with([&](T& t) { t.comp1 = op; })})
      if (legal)
        EXPECT_THAT(rules(i, trn2()), IsEmpty());
      else
        EXPECT_THAT(rules(i, trn2()), Contains("alu-op"));
  }
  constexpr std::int32_t kExact = 1 << 24;
  EXPECT_THAT(rules(with([](T& i) { i.range_start = kExact - 32; }), trn2()), IsEmpty());
  expect_rule_everywhere(with([](T& i) { i.range_start = kExact - 31; }), "range-start");
  EXPECT_THAT(rules(with([](T& i) { i.range_start = 1 - kExact; }), trn2()), IsEmpty());
  expect_rule_everywhere(with([](T& i) { i.range_start = -kExact; }), "range-start");
  for (const ReduceCmd cmd : {ReduceCmd::kIdle, ReduceCmd::kReset, ReduceCmd::kLoadReduce})
    expect_rule_everywhere(with([&](T& i) { i.reduce_cmd = cmd; }), "reduce-cmd");
}

// ISA26, printed for v3: max(MIN_II, N), the maximum included.
TEST(RangeSelect, Cost) {
  for (const MachineSpec* m : machines()) {  // v2 has none, but a formula costs nothing
    const auto cost = [&](std::int64_t n) {
      RangeSelect i = insn(sbuf(DType::kBf16, 128, n), sbuf(DType::kBf16, 128, n),
                           sbuf(DType::kF32, 128, 1), sbuf(DType::kF32, 128, 1));
      i.reduce_res = sbuf(DType::kF32, 128, 1);
      return cycles(i, *m);
    };
    EXPECT_EQ(cost(64), elementwise(64));
    EXPECT_EQ(cost(65), elementwise(65));
    EXPECT_EQ(cost(4096), elementwise(4096));
  }
}

}  // namespace
}  // namespace krait::isa::testing
