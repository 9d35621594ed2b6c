#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kData = 0, kDst = 8192, kProb = 12288;

Dropout insn(const Tile& dst, const Tile& data, const Operand& prob) {
  return {.dst = dst, .data = data, .prob = prob};
}

// The numbers a lane draws first, from the generator's definition (engine_state.hpp).
double uniform(int lane, std::int64_t i, std::uint64_t seed = 0) {
  const auto stream = static_cast<std::uint64_t>(4 * lane + i % 4);
  const auto bits = CounterRng(seed, stream).bits(static_cast<std::uint64_t>(i / 4)) >> 32;
  return static_cast<double>(bits >> 8) / 16777216.0;
}

TEST(Dropout, DropsByTheLanesNumbersAndKeepsEveryBitForEveryDtype) {
  for (const DType d : chip_dtypes()) {
    TestMemory m;
    const Tile data = sbuf(d, 5, 37, kData), dst = sbuf(d, 5, 37, kDst);
    const CounterRng rng(3);
    const std::uint64_t all = (1ULL << (8 * size_of(d))) - 1;
    for (int p = 0; p < 5; ++p)
      for (std::int64_t i = 0; i < 37; ++i) m.set_bits(data, p, i, rng.bits(flat(p, 37, i)) & all);
    m.run(insn(dst, data, 0.4F));
    for (int p = 0; p < 5; ++p)
      for (std::int64_t i = 0; i < 37; ++i)
        ASSERT_EQ(m.bits(dst, p, i),
                  uniform(p, i) < double{0.4F} ? encode(d, 0) : m.bits(data, p, i))
            << name(d) << " " << p << "," << i;
  }
}

TEST(Dropout, ProbabilitiesOfZeroAndOneAndPerPartition) {
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 6, 400, kData), dst = sbuf(DType::kF32, 6, 400, kDst),
             prob = sbuf(DType::kBf16, 6, 1, kProb);
  const float p[] = {0, 1, 0.25F, 0.75F, -1, kNan};
  m.fill(data, [](int, std::int64_t) { return 2.0F; });
  m.fill(prob, [&](int lane, std::int64_t) { return p[lane]; });
  m.run(insn(dst, data, prob));
  int dropped[6] = {};
  for (int lane = 0; lane < 6; ++lane)
    for (std::int64_t i = 0; i < 400; ++i) dropped[lane] += m.get(dst, lane, i) == 0;
  EXPECT_EQ(dropped[0], 0);
  EXPECT_EQ(dropped[1], 400);
  // Four standard deviations of 400 draws: 4 * sqrt(400 * 3 / 16) = 35.
  EXPECT_NEAR(dropped[2], 100, 35);
  EXPECT_NEAR(dropped[3], 300, 35);
  EXPECT_EQ(dropped[4], 0);
  EXPECT_EQ(dropped[5], 0) << "NaN drops nothing";
}

TEST(Dropout, ASeedRepeatsTheChoiceAndTheSequenceGoesOn) {
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 2, 100, kData), dst = sbuf(DType::kF32, 2, 100, kDst),
             seed = sbuf(DType::kU32, 1, 1, kProb);
  m.fill(data, [](int, std::int64_t) { return 1.0F; });
  m.set_bits(seed, 0, 0, 1234);
  const auto run = [&] {
    m.run(insn(dst, data, 0.5F));
    return m.values(dst);
  };
  m.run(SetRngSeed{.src_seeds = seed});
  const auto first = run(), second = run();
  EXPECT_NE(first, second);
  m.run(SetRngSeed{.src_seeds = seed});
  EXPECT_EQ(run(), first);
  for (int p = 0; p < 2; ++p)
    for (std::int64_t i = 0; i < 100; ++i)
      EXPECT_EQ(first[flat(p, 100, i)], uniform(p, i, 1234) < 0.5 ? 0 : 1);
}

TEST(Dropout, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& data : layouts(DType::kBf16, 2, kData, true))
    for (const Tile& dst : layouts(DType::kBf16, 2, kDst, false, 0)) {
      TestMemory m;
      m.fill_random(data, 5, false);
      m.run(insn(dst, data, 0.5F));
      expect_tile(m, dst, [&](int p, std::int64_t i) {
        return uniform(p, i) < 0.5 ? 0 : m.get(data, p, i);
      });
    }
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 2, 12, kData);
  m.fill_random(t, 6, false);
  const auto before = m.values(t);
  m.run(insn(t, t, 0.5F));
  expect_tile(m, t, [&](int p, std::int64_t i) {
    return uniform(p, i) < 0.5 ? 0 : before[flat(p, 12, i)];
  });
}

TEST(Dropout, Rules) {
  const Tile s = sbuf(DType::kF32, 64, 32), p = psum(DType::kF32, 64, 32);
  expect_legal_everywhere(insn(s, p, 0.5F));
  expect_legal_everywhere(insn(s, p, sbuf(DType::kF16, 64, 1)));
  const Tile ints = sbuf(DType::kI16, 64, 32);
  expect_legal_everywhere(insn(ints, ints, sbuf(DType::kF32, 64, 1)));
  expect_rule_everywhere(insn(ints, ints, sbuf(DType::kF16, 64, 1)), "operand-dtype");
  expect_rule_everywhere(insn(s, s, sbuf(DType::kI32, 64, 1)), "operand-dtype");
  expect_rule_everywhere(insn(s, s, sbuf(DType::kF32, 64, 2)), "per-partition-operand");
  expect_rule_everywhere(insn(s, sbuf(DType::kBf16, 64, 32), 0.5F), "same-dtype");
  expect_rule_everywhere(insn(s, sbuf(DType::kF32, 64, 31), 0.5F), "same-free-size");
  expect_rule_everywhere(insn(s, hbm(DType::kF32, 64, 32, 32), 0.5F), "operand-space");
  expect_rule_everywhere(insn(s, Tile{}, 0.5F), "operand-missing");
}

TEST(Dropout, Cost) {  // ISA26: max(MIN_II, N)
  for (const MachineSpec* m : machines())
    for (const DType d : {DType::kF32, DType::kBf16}) {
      const auto cost = [&](std::int64_t n) {
        return cycles(insn(sbuf(d, 128, n), sbuf(d, 128, n), 0.5F), *m);
      };
      EXPECT_EQ(cost(64), elementwise(64));
      EXPECT_EQ(cost(65), elementwise(65));
      EXPECT_EQ(cost(512), elementwise(512));
    }
}

}  // namespace
}  // namespace krait::isa::testing
