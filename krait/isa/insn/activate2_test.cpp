#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kData = 0, kDst = 8192, kImm0 = 12288, kImm1 = 12352, kSum = 12416;

Activate2 insn(const Tile& dst, const Tile& data, UnaryFn fn = UnaryFn::kCopy) {
  Activate2 a;
  a.dst = dst, a.data = data, a.fn = fn;
  return a;
}

constexpr std::pair<AluOp, AluOp> kPairs[] = {
    {AluOp::kMultiply, AluOp::kAdd},    {AluOp::kMultiply, AluOp::kSubtract},
    {AluOp::kMultiply, AluOp::kBypass}, {AluOp::kAdd, AluOp::kBypass},
    {AluOp::kSubtract, AluOp::kBypass}, {AluOp::kBypass, AluOp::kBypass}};

float plain(AluOp op, float a, float b) {
  switch (op) {
    case AluOp::kMultiply:
      return a * b;
    case AluOp::kAdd:
      return a + b;
    case AluOp::kSubtract:
      return a - b;
    default:
      return a;
  }
}

TEST(Activate2, EveryFunctionAndDtype) {
  for (const UnaryFn fn : unary_fns())
    for (const DType d : chip_dtypes()) {
      TestMemory m;
      const Tile data = sbuf(d, 2, 37, kData), dst = sbuf(d, 2, 37, kDst);
      m.fill_random(data, 1);
      m.run(insn(dst, data, fn));
      expect_tile(
          m, dst,
          [&](int p, std::int64_t i) {
            const float x = m.get(data, p, i);
            return fn == UnaryFn::kCopy
                       ? x
                       : static_cast<float>(apply_scalar(fn, static_cast<double>(x)));
          },
          cat(name(fn), " ", name(d)));
    }
}

TEST(Activate2, EveryPairOfOperatorsWithConstantsOrPartitionsAndReversed) {
  for (const auto& pair : kPairs)
    for (int flags = 0; flags < 8; ++flags) {
      const AluOp op0 = pair.first, op1 = pair.second;
      const bool reverse0 = flags & 1, reverse1 = flags & 2, vectors = flags & 4;
      TestMemory m;
      const Tile data = sbuf(DType::kF32, 5, 9, kData), dst = sbuf(DType::kF32, 5, 9, kDst);
      const Tile v0 = sbuf(DType::kBf16, 5, 1, kImm0), v1 = sbuf(DType::kBf16, 5, 1, kImm1);
      m.fill_random(data, 2), m.fill_random(v0, 3, false), m.fill_random(v1, 4, false);
      Activate2 a = insn(dst, data);
      a.op0 = op0, a.op1 = op1, a.reverse0 = reverse0, a.reverse1 = reverse1;
      a.imm0 = vectors ? Operand(v0) : Operand(1.25F);
      a.imm1 = vectors ? Operand(v1) : Operand(-0.75F);
      m.run(a);
      const auto step = [](AluOp op, float t, float s, bool reverse) {
        return op != AluOp::kBypass && reverse ? plain(op, s, t) : plain(op, t, s);
      };
      expect_tile(
          m, dst,
          [&](int p, std::int64_t i) {
            const float s0 = vectors ? m.get(v0, p, 0) : 1.25F,
                        s1 = vectors ? m.get(v1, p, 0) : -0.75F;
            return step(op1, step(op0, m.get(data, p, i), s0, reverse0), s1, reverse1);
          },
          cat(name(op0), " ", name(op1), " ", flags));
    }
}

TEST(Activate2, ReluWithAParameterIsPrelu) {
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 1, 5, kData), dst = sbuf(DType::kF32, 1, 5, kDst);
  const float x[] = {-4, 4, -kInf, kNan, 0}, want[] = {-1, 4, -kInf, kNan, 0};
  m.fill(data, [&](int, std::int64_t i) { return x[i]; });
  Activate2 a = insn(dst, data, UnaryFn::kRelu);
  a.relu_param = 0.25F;
  m.run(a);
  expect_tile(m, dst, [&](int, std::int64_t i) { return want[i]; });
}

TEST(Activate2, ReducesWithFiveOperatorsAndSharesActivationsRegisters) {
  for (const auto& [op, want] : {std::pair{AluOp::kAdd, -3.0F},
                                 {AluOp::kMax, 3.0F},
                                 {AluOp::kMin, -8.0F},
                                 {AluOp::kAbsMax, -8.0F},
                                 {AluOp::kAbsMin, 2.0F}}) {
    TestMemory m;
    const Tile data = sbuf(DType::kF32, 1, 3, kData), dst = sbuf(DType::kBf16, 1, 3, kDst),
               r = sbuf(DType::kF32, 1, 1, kSum);
    const float x[] = {3, -8, 2};
    m.fill(data, [&](int, std::int64_t i) { return x[i]; });
    Activate2 a = insn(dst, data);
    a.reduce_op = op, a.reduce_cmd = ReduceCmd::kResetReduce;
    m.run(a);
    Activation read;
    read.dst = dst, read.data = data, read.reduce_res = r, read.reduce_cmd = ReduceCmd::kIdle;
    m.run(read);
    EXPECT_EQ(m.get(r, 0, 0), want) << name(op);
    a.reduce_cmd = ReduceCmd::kReduce, a.reduce_res = r;
    m.run(a);
    EXPECT_EQ(m.get(r, 0, 0), op == AluOp::kAdd ? -6 : want) << name(op);
    EXPECT_THAT(m.findings(), IsEmpty());
  }
}

TEST(Activate2, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& data : layouts(DType::kBf16, 2, kData, true))
    for (const Tile& dst : layouts(DType::kF32, 2, kDst, false, 0)) {
      TestMemory m;
      m.fill_random(data, 5);
      m.run(insn(dst, data, UnaryFn::kAbs));
      expect_tile(m, dst, [&](int p, std::int64_t i) { return std::fabs(m.get(data, p, i)); });
    }
  TestMemory m;
  const Tile t = psum(DType::kF32, 2, 12);
  m.fill_random(t, 6, false);
  const auto before = m.values(t);
  m.run(insn(t, t, UnaryFn::kAbs));
  expect_tile(m, t, [&](int p, std::int64_t i) { return std::fabs(before[flat(p, 12, i)]); });
}

TEST(Activate2, RulesAndGenerations) {
  using T = Activate2;
  T good = insn(psum(DType::kBf16, 64, 32), sbuf(DType::kF32, 64, 32), UnaryFn::kRelu);
  good.reduce_res = psum(DType::kF32, 64, 1), good.relu_param = 0.5F;
  good.imm0 = good.imm1 = sbuf(DType::kBf16, 64, 1);
  EXPECT_THAT(rules(good, trn1()), Contains("generation"));
  EXPECT_THAT(rules(good, trn2()), Contains("generation"));
  EXPECT_THAT(rules(good, trn3()), IsEmpty());
  const auto with = [&](auto change) {
    T i = good;
    change(i);
    return i;
  };
  expect_rule_everywhere(with([](T& i) { i.data = Tile{}; }), "operand-missing");
  expect_rule_everywhere(with([](T& i) { i.data = hbm(DType::kF32, 64, 32, 32); }),
                         "operand-space");
  expect_rule_everywhere(with([](T& i) { i.data = sbuf(DType::kF32, 64, 31); }), "same-free-size");
  expect_rule_everywhere(with([](T& i) { i.imm0 = sbuf(DType::kF32, 64, 2); }),
                         "per-partition-operand");
  expect_rule_everywhere(with([](T& i) { i.imm1 = sbuf(DType::kF32, 64, 2); }),
                         "per-partition-operand");
  expect_rule_everywhere(with([](T& i) { i.imm1 = sbuf(DType::kF32, 64, 1); }), "same-dtype");
  expect_rule_everywhere(with([](T& i) { i.fn = UnaryFn::kExp; }), "relu-param");
  for (const AluOp op0 : alu_ops())
    for (const AluOp op1 : alu_ops()) {
      const bool legal =
          std::find(std::begin(kPairs), std::end(kPairs), std::pair{op0, op1}) != std::end(kPairs);
      const T i = with([&](T& t) { t.op0 = op0, t.op1 = op1; });
      if (legal)
        EXPECT_THAT(rules(i, trn3()), IsEmpty()) << name(op0) << " " << name(op1);
      else
        EXPECT_THAT(rules(i, trn3()), Contains("engine-op")) << name(op0) << " " << name(op1);
    }
  expect_rule_everywhere(with([](T& i) { i.reduce_op = AluOp::kMultiply; }), "reduce-op");
  expect_rule_everywhere(with([](T& i) { i.reduce_cmd = ReduceCmd::kLoadReduce; }), "reduce-cmd");
}

// As activation: max(MIN_II, N), plus MIN_II for reading the register; printed for v2's activation.
TEST(Activate2, Cost) {
  for (const MachineSpec* m : machines())  // v4 alone has it, but the formula is the same
    for (const DType d : {DType::kF32, DType::kBf16}) {
      const auto cost = [&](std::int64_t n, bool read) {
        Activate2 a = insn(sbuf(d, 128, n), sbuf(d, 128, n));
        if (read) a.reduce_res = sbuf(DType::kF32, 128, 1);
        return cycles(a, *m);
      };
      EXPECT_EQ(cost(64, false), elementwise(64));
      EXPECT_EQ(cost(65, false), elementwise(65));
      EXPECT_EQ(cost(512, true), elementwise(512) + 64);
    }
}

TEST(Activate2, CostOfTables) {
  const Tile s = sbuf(DType::kF32, 64, 32);
  for (const UnaryFn fn : unary_fns()) {
    Activation a;
    a.dst = s, a.data = s, a.fn = fn;
    EXPECT_EQ(insn(s, s, fn).time(trn3()).needs_table, a.time(trn3()).needs_table) << name(fn);
    EXPECT_EQ(insn(s, s, fn).time(trn3()).table, fn);
  }
}

}  // namespace
}  // namespace krait::isa::testing
