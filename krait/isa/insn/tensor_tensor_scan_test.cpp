#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kA = 0, kB = 4096, kDst = 8192, kInit = 12288;

TensorTensorScan insn(const Tile& dst, const Tile& a, const Tile& b, const Operand& init = 0.0F) {
  return {.dst = dst, .a = a, .b = b, .init = init};
}

// r[i] = a[i] * r[i-1] + b[i] with the state in f32; the product is rounded before the sum.
std::vector<float> plain(TestMemory& m, const Tile& a, const Tile& b, int p, float state) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < a.free_size(); ++i) {
    const float product = m.get(a, p, i) * state;
    out.push_back(state = product + m.get(b, p, i));
  }
  return out;
}

TEST(TensorTensorScan, KeepsTheStateInF32WhateverDstIs) {
  for (const DType in : chip_dtypes())
    for (const DType out : chip_dtypes()) {
      TestMemory m;
      const Tile a = sbuf(in, 3, 21, kA), b = sbuf(DType::kF32, 3, 21, kB),
                 dst = sbuf(out, 3, 21, kDst);
      m.fill_random(a, 1, false), m.fill_random(b, 2, false);
      m.run(insn(dst, a, b, 0.25F));
      for (int p = 0; p < 3; ++p) {
        const auto want = plain(m, a, b, p, 0.25F);
        for (std::int64_t i = 0; i < 21; ++i)
          ASSERT_TRUE(same(m.get(dst, p, i), round_to(out, want[static_cast<std::size_t>(i)])));
      }
    }
}

TEST(TensorTensorScan, StartsEveryPartitionFromItsOwnInit) {
  TestMemory m;
  const Tile a = sbuf(DType::kF32, 5, 7, kA), b = sbuf(DType::kF32, 5, 7, kB),
             dst = sbuf(DType::kF32, 5, 7, kDst);
  const Tile init = sbuf(DType::kF32, 5, 1, kInit);
  m.fill_random(a, 3, false), m.fill_random(b, 4, false), m.fill_random(init, 5, false);
  m.run(insn(dst, a, b, init));
  for (int p = 0; p < 5; ++p) {
    const auto want = plain(m, a, b, p, m.get(init, p, 0));
    for (std::int64_t i = 0; i < 7; ++i)
      EXPECT_TRUE(same(m.get(dst, p, i), want[static_cast<std::size_t>(i)]));
  }
}

// Cutting a scan in two with the last value as init gives the same bits: how chunks are chained.
TEST(TensorTensorScan, TwoHalvesChainToTheWhole) {
  TestMemory m;
  const Tile a = sbuf(DType::kF32, 4, 30, kA), b = sbuf(DType::kF32, 4, 30, kB),
             dst = sbuf(DType::kF32, 4, 30, kDst);
  m.fill_random(a, 6, false), m.fill_random(b, 7, false);
  m.run(insn(dst, a, b, 1.0F));
  const auto whole = m.values(dst);
  const auto part = [](Tile t, std::int64_t start, std::int64_t n) {
    t.offset += 4 * start, t.dims[0].count = n;
    return t;
  };
  m.run(insn(part(dst, 0, 13), part(a, 0, 13), part(b, 0, 13), 1.0F));
  m.run(insn(part(dst, 13, 17), part(a, 13, 17), part(b, 13, 17), part(dst, 12, 1)));
  EXPECT_EQ(m.values(dst), whole);
}

TEST(TensorTensorScan, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& a : layouts(DType::kF32, 2, kA, true))
    for (const Tile& dst : layouts(DType::kF32, 2, kDst, false)) {
      TestMemory m;
      const Tile b = sbuf(DType::kBf16, 2, 12, kB);
      m.fill_random(a, 8), m.fill_random(b, 9);
      m.run(insn(dst, a, b, 0.5F));
      for (int p = 0; p < 2; ++p) {
        const auto want = plain(m, a, b, p, 0.5F);
        for (std::int64_t i = 0; i < 12; ++i)
          ASSERT_TRUE(same(m.get(dst, p, i), want[static_cast<std::size_t>(i)]))
              << to_string(a) << to_string(dst);
      }
    }
  TestMemory m;
  const Tile a = sbuf(DType::kF32, 2, 12, kA), b = sbuf(DType::kF32, 2, 12, kB);
  m.fill_random(a, 10, false), m.fill_random(b, 11, false);
  const auto want = plain(m, a, b, 1, 2.0F);
  m.run(insn(a, a, b, 2.0F));
  for (std::int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(m.get(a, 1, i), want[static_cast<std::size_t>(i)]);
}

TEST(TensorTensorScan, RunsOtherOperators) {
  TestMemory m;
  const Tile a = sbuf(DType::kF32, 1, 5, kA), b = sbuf(DType::kF32, 1, 5, kB),
             dst = sbuf(DType::kF32, 1, 5, kDst);
  const float x[] = {3, -1, 4, 1, -5}, y[] = {9, 2, -6, 5, 3};
  m.fill(a, [&](int, std::int64_t i) { return x[i]; });
  m.fill(b, [&](int, std::int64_t i) { return y[i]; });
  m.run(TensorTensorScan{
      .dst = dst, .a = a, .b = b, .init = 1.0F, .op0 = AluOp::kSubtract, .op1 = AluOp::kMax});
  float state = 1;
  for (std::int64_t i = 0; i < 5; ++i) {
    state = std::max(x[i] - state, y[i]);  // the new value is the left operand
    EXPECT_EQ(m.get(dst, 0, i), state);
  }
}

TEST(TensorTensorScan, ReversesEitherStep) {
  for (int flags = 0; flags < 4; ++flags) {
    const bool reverse0 = flags & 1, reverse1 = flags & 2;
    TestMemory m;
    const Tile a = sbuf(DType::kF32, 2, 9, kA), b = sbuf(DType::kF32, 2, 9, kB),
               dst = sbuf(DType::kF32, 2, 9, kDst);
    m.fill_random(a, 1, false), m.fill_random(b, 2, false);
    TensorTensorScan scan{.dst = dst, .a = a, .b = b, .init = 0.5F};
    scan.op0 = scan.op1 = AluOp::kSubtract, scan.reverse0 = reverse0, scan.reverse1 = reverse1;
    m.run(scan);
    for (int p = 0; p < 2; ++p) {
      float state = 0.5F;
      for (std::int64_t i = 0; i < 9; ++i) {
        const float t = reverse0 ? state - m.get(a, p, i) : m.get(a, p, i) - state;
        state = reverse1 ? m.get(b, p, i) - t : t - m.get(b, p, i);
        EXPECT_EQ(m.get(dst, p, i), state) << flags;
      }
    }
  }
}

TEST(TensorTensorScan, RulesOfShapeAndPsum) {
  const Tile s = sbuf(DType::kF32, 64, 32), p = psum(DType::kF32, 64, 32),
             c = sbuf(DType::kF32, 64, 1);
  expect_legal_everywhere(insn(s, s, p));
  expect_legal_everywhere(insn(p, p, s, c));
  expect_rule_everywhere(insn(s, p, p), "psum-operands");
  expect_rule_everywhere(insn(s, s, sbuf(DType::kF32, 64, 31)), "same-free-size");
  expect_rule_everywhere(insn(s, sbuf(DType::kF32, 63, 32), s), "same-partitions");
  expect_rule_everywhere(insn(s, s, s, sbuf(DType::kF32, 63, 1)), "per-partition-operand");
  expect_rule_everywhere(insn(s, s, s, sbuf(DType::kF32, 64, 2)), "per-partition-operand");
  expect_rule_everywhere(insn(s, s, s, sbuf(DType::kBf16, 64, 1)), "operand-dtype");
  expect_rule_everywhere(insn(s, Tile{}, s), "operand-missing");
  expect_rule_everywhere(insn(hbm(DType::kF32, 64, 32, 32), s, s), "operand-space");
  expect_rule_everywhere(TensorTensorScan{.dst = s, .a = s, .b = s, .op0 = AluOp::kRsqrt},
                         "engine-op");
}

// ISA26: max(MIN_II, 2N), kept for v3 and v4; whatever the dtype or the memory.
TEST(TensorTensorScan, CostsTwoCyclesAnElement) {
  for (const MachineSpec* m : machines()) {
    for (const DType d : {DType::kF32, DType::kBf16}) {
      const auto cost = [&](std::int64_t n) {
        return cycles(insn(sbuf(d, 128, n), sbuf(d, 128, n), sbuf(d, 128, n)), *m);
      };
      EXPECT_EQ(cost(1), elementwise(64));
      EXPECT_EQ(cost(32), elementwise(64));
      EXPECT_EQ(cost(33), elementwise(66));
      EXPECT_EQ(cost(512), elementwise(1024));
    }
    const Tile s = sbuf(DType::kF32, 128, 512);
    EXPECT_EQ(cycles(insn(s, psum(DType::kF32, 128, 512), s), *m), elementwise(1024));
    EXPECT_EQ(cycles(insn(s, stepped(s, 5), s), *m), elementwise(2048));
  }
}

}  // namespace
}  // namespace krait::isa::testing
