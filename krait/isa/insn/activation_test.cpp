#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kData = 0, kDst = 8192, kScale = 12288, kBias = 12352, kSum = 12416;

Activation insn(const Tile& dst, const Tile& data, UnaryFn fn = UnaryFn::kExp) {
  Activation a;
  a.dst = dst, a.data = data, a.fn = fn;
  return a;
}

TEST(Activation, RoundsEveryFunctionOnceToEveryDtype) {
  for (const UnaryFn fn : unary_fns())
    for (const DType out : chip_dtypes()) {
      TestMemory m;
      const Tile data = sbuf(DType::kF32, 2, 37, kData), dst = sbuf(out, 2, 37, kDst);
      m.fill_random(data, 1);
      m.run(insn(dst, data, fn));
      // apply_scalar is the f64 value; apply_row itself is tested in numerics.
      expect_tile(
          m, dst,
          [&](int p, std::int64_t i) {
            const float x = m.get(data, p, i);
            return fn == UnaryFn::kCopy
                       ? x
                       : static_cast<float>(apply_scalar(fn, static_cast<double>(x)));
          },
          std::string(name(fn)));
    }
}

TEST(Activation, ScalesAndBiasesInF32FromConstantsOrPartitions) {
  for (const DType in : chip_dtypes())
    for (int flags = 0; flags < 4; ++flags) {
      const bool vector_scale = flags & 1, vector_bias = flags & 2;
      TestMemory m;
      const Tile data = sbuf(in, 5, 13, kData), dst = sbuf(DType::kF32, 5, 13, kDst);
      const Tile scale = sbuf(DType::kF32, 5, 1, kScale), bias = sbuf(DType::kBf16, 5, 1, kBias);
      m.fill_random(data, 2), m.fill_random(scale, 3, false), m.fill_random(bias, 4, false);
      Activation a = insn(dst, data, UnaryFn::kCopy);
      a.scale = vector_scale ? Operand(scale) : Operand(1.25F);
      a.bias = vector_bias ? Operand(bias) : Operand(-0.75F);
      m.run(a);
      expect_tile(m, dst, [&](int p, std::int64_t i) {
        const float product = m.get(data, p, i) * (vector_scale ? m.get(scale, p, 0) : 1.25F);
        return product + (vector_bias ? m.get(bias, p, 0) : -0.75F);
      });
    }
}

TEST(Activation, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& data : layouts(DType::kBf16, 2, kData, true))
    for (const Tile& dst : layouts(DType::kF32, 2, kDst, false, 0, Space::kPsum)) {
      TestMemory m;
      m.fill_random(data, 5);
      m.run(insn(dst, data, UnaryFn::kSquare));
      expect_tile(m, dst,
                  [&](int p, std::int64_t i) { return m.get(data, p, i) * m.get(data, p, i); });
    }
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 2, 12, kData);
  m.fill_random(t, 6, false);
  const auto before = m.values(t);
  m.run(insn(t, t, UnaryFn::kAbs));
  expect_tile(m, t, [&](int p, std::int64_t i) { return std::fabs(before[flat(p, 12, i)]); });
}

TEST(Activation, SumsTheUnroundedValuesInOrder) {
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 3, 50, kData), dst = sbuf(DType::kF8E4M3, 3, 50, kDst),
             sum = sbuf(DType::kF32, 3, 1, kSum);
  m.fill_random(data, 7, false);
  Activation a = insn(dst, data, UnaryFn::kSquare);
  a.reduce_res = sum, a.scale = 0.3F;
  m.run(a);
  expect_tile(m, sum, [&](int p, std::int64_t) {
    float acc = 0;
    for (std::int64_t i = 0; i < 50; ++i) {
      const float x = m.get(data, p, i) * 0.3F;
      acc += x * x;
    }
    return acc;
  });
}

// reduce_regs: each command, over two instructions, read out by a third that is idle.
TEST(Activation, AccumulatesAsReduceCmdSays) {
  const auto after = [](ReduceCmd first, ReduceCmd second) {
    TestMemory m;
    const Tile data = sbuf(DType::kF32, 2, 3, kData), dst = sbuf(DType::kBf16, 2, 3, kDst),
               sum = sbuf(DType::kF32, 2, 1, kSum);
    m.fill(data, [](int p, std::int64_t i) { return static_cast<float>(i + 1 + 10 * p); });
    Activation a = insn(dst, data, UnaryFn::kCopy);
    a.reduce_cmd = first;
    m.run(a);
    a.reduce_cmd = second;
    m.run(a);
    a.reduce_cmd = ReduceCmd::kIdle, a.reduce_res = sum;
    m.run(a);
    EXPECT_EQ(m.findings().empty(), first != ReduceCmd::kReduce && !std::isnan(m.get(sum, 0, 0)));
    for (const RunFinding& f : m.findings()) EXPECT_EQ(f.kind, "accumulator-unset");
    const float x = m.get(sum, 0, 0);
    EXPECT_TRUE(std::isnan(x) || m.get(sum, 1, 0) == x * 6) << "6 and 36 a row";
    return x;
  };
  using C = ReduceCmd;
  EXPECT_EQ(after(C::kResetReduce, C::kReduce), 12);
  EXPECT_EQ(after(C::kReset, C::kReduce), 6);
  EXPECT_EQ(after(C::kResetReduce, C::kReset), 0);
  EXPECT_EQ(after(C::kReduce, C::kResetReduce), 6) << "the first has found an unset register";
  EXPECT_EQ(after(C::kResetReduce, C::kIdle), 6);
  EXPECT_EQ(after(C::kResetReduce, C::kDefault), 6) << "without reduce_res the default is idle";
  EXPECT_TRUE(std::isnan(after(C::kIdle, C::kIdle)));
  EXPECT_TRUE(std::isnan(after(C::kIdle, C::kReduce)));
}

TEST(Activation, ReduceResMayAliasDstAndLanesFollowTheData) {
  TestMemory m;
  const Tile data = tile(Space::kSbuf, DType::kF32, 32, {{1, 4}}, kData, 32),
             dst = tile(Space::kSbuf, DType::kF32, 32, {{1, 4}}, kDst, 64);
  m.fill(data, [](int p, std::int64_t) { return static_cast<float>(p); });
  Activation a = insn(dst, data, UnaryFn::kCopy);
  a.reduce_res = tile(Space::kSbuf, DType::kF32, 32, {{1, 1}}, kDst + 4, 64);
  m.run(a);
  expect_tile(m, dst, [](int p, std::int64_t i) { return static_cast<float>(i == 1 ? 4 * p : p); });
  EXPECT_EQ(m.accumulator(Engine::kScalar, 32 + 5), 20);
}

TEST(Activation, RulesOfReduceCmd) {
  const Tile s = sbuf(DType::kF32, 64, 32);
  Activation a = insn(s, s);
  for (const ReduceCmd cmd : {ReduceCmd::kDefault, ReduceCmd::kIdle, ReduceCmd::kReset,
                              ReduceCmd::kReduce, ReduceCmd::kResetReduce}) {
    a.reduce_cmd = cmd;
    expect_legal_everywhere(a);
  }
  a.reduce_cmd = ReduceCmd::kLoadReduce;  // VectorE's only
  expect_rule_everywhere(a, "reduce-cmd");
}

TEST(Activation, AConstantBiasNeedsV3) {
  const Tile s = sbuf(DType::kF32, 64, 32);
  Activation a = insn(s, s);
  expect_legal_everywhere(a);
  a.bias = 0.5F;
  EXPECT_THAT(rules(a, trn1()), Contains("activation-bias"));
  EXPECT_THAT(rules(a, trn2()), IsEmpty());
  EXPECT_THAT(rules(a, trn3()), IsEmpty());
  a.bias = sbuf(DType::kF32, 64, 1);
  expect_legal_everywhere(a);
}

TEST(Activation, ReciprocalTakesABiasFromV3On) {
  const Tile s = sbuf(DType::kF32, 64, 32);
  Activation a = insn(s, s, UnaryFn::kReciprocal);
  expect_legal_everywhere(a);
  a.bias = sbuf(DType::kF32, 64, 1);
  EXPECT_THAT(rules(a, trn1()), Contains("activation-bias"));
  EXPECT_THAT(rules(a, trn2()), IsEmpty());
  EXPECT_THAT(rules(a, trn3()), IsEmpty());
}

TEST(Activation, RulesOfOperands) {
  const Tile s = sbuf(DType::kF32, 64, 32), p = psum(DType::kF32, 64, 32),
             c = sbuf(DType::kF32, 64, 1);
  Activation a = insn(p, p);
  a.scale = c, a.bias = psum(DType::kF16, 64, 1), a.reduce_res = psum(DType::kBf16, 64, 1);
  expect_legal_everywhere(a);
  const auto with = [&](auto change) {
    Activation b = insn(s, s);
    change(b);
    return b;
  };
  expect_rule_everywhere(with([](Activation& b) { b.scale = sbuf(DType::kF32, 32, 1); }),
                         "per-partition-operand");
  expect_rule_everywhere(with([](Activation& b) { b.scale = sbuf(DType::kBf16, 64, 1); }),
                         "operand-dtype");
  expect_rule_everywhere(with([](Activation& b) { b.bias = sbuf(DType::kF32, 64, 2); }),
                         "per-partition-operand");
  expect_rule_everywhere(with([](Activation& b) { b.bias = sbuf(DType::kTf32, 64, 1); }),
                         "operand-dtype");
  expect_rule_everywhere(with([](Activation& b) { b.reduce_res = sbuf(DType::kF32, 64, 2); }),
                         "per-partition-operand");
  expect_rule_everywhere(with([](Activation& b) { b.reduce_res = hbm(DType::kF32, 64, 1, 1); }),
                         "operand-space");
  expect_rule_everywhere(with([](Activation& b) { b.data = sbuf(DType::kF32, 64, 31); }),
                         "same-free-size");
  expect_rule_everywhere(with([](Activation& b) { b.data = Tile{}; }), "operand-missing");
  expect_rule_everywhere(with([](Activation& b) { b.data = hbm(DType::kF32, 64, 32, 32); }),
                         "operand-space");
}

// ISA26: max(MIN_II, N), plus MIN_II for the one that stores the row sum; 1x on all generations.
TEST(Activation, Cost) {
  for (const MachineSpec* m : machines()) {
    for (const DType d : {DType::kF32, DType::kBf16}) {
      const auto cost = [&](std::int64_t n) {
        return cycles(insn(sbuf(d, 128, n), sbuf(d, 128, n)), *m);
      };
      EXPECT_EQ(cost(64), elementwise(64));
      EXPECT_EQ(cost(65), elementwise(65));
      EXPECT_EQ(cost(4096), elementwise(4096));
    }
    Activation a = insn(sbuf(DType::kF32, 128, 512), psum(DType::kF32, 128, 512));
    EXPECT_EQ(cycles(a, *m), elementwise(512));
    a.reduce_res = sbuf(DType::kF32, 128, 1);
    EXPECT_EQ(cycles(a, *m), elementwise(512) + 64);
    EXPECT_EQ(
        cycles(insn(sbuf(DType::kF32, 128, 512), stepped(sbuf(DType::kF32, 128, 512), 5)), *m),
        elementwise(1024));
  }
}

TEST(Activation, FunctionsOfOneTableNeedNoLoad) {
  const Tile s = sbuf(DType::kF32, 64, 32);
  for (const UnaryFn fn : unary_fns()) {
    const bool free = fn == UnaryFn::kCopy || fn == UnaryFn::kSquare || fn == UnaryFn::kAbs ||
                      fn == UnaryFn::kRelu || fn == UnaryFn::kSign;
    const Timing t = insn(s, s, fn).time(trn2());
    EXPECT_EQ(t.needs_table, !free) << name(fn);
    EXPECT_EQ(t.table, fn);
  }
}

}  // namespace
}  // namespace krait::isa::testing
