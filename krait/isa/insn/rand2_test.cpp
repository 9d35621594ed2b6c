#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kDst = 0, kMin = 12288, kMax = 12352;

Rand2 insn(const Tile& dst, const Operand& low = 0.0F, const Operand& high = 1.0F) {
  return {.dst = dst, .min = low, .max = high};
}

float uniform(int lane, std::int64_t i) {
  const auto stream = static_cast<std::uint64_t>(4 * lane + i % 4);
  const auto bits = CounterRng(0, stream).bits(static_cast<std::uint64_t>(i / 4)) >> 32;
  return static_cast<float>(bits >> 8) / 16777216.0F;
}

bool takes(DType d) {
  return d != DType::kF8E3M4 && d != DType::kF8E4M3Fn && d != DType::kF8E8M0 && d != DType::kF4E2M1;
}

TEST(Rand2, ScalesTheLanesNumbersForEveryDtype) {
  for (const DType d : chip_dtypes()) {
    if (!takes(d)) continue;
    TestMemory m;
    const Tile dst = sbuf(d, 5, 37, kDst);
    m.run(insn(dst, -3.0F, 40.0F));
    expect_tile(
        m, dst,
        [&](int p, std::int64_t i) {
          const float offset = uniform(p, i) * 43.0F;
          return -3.0F + offset;
        },
        std::string(name(d)));
  }
}

TEST(Rand2, RangesPerPartitionAreKept) {
  TestMemory m;
  const Tile dst = sbuf(DType::kF32, 3, 500, kDst), low = sbuf(DType::kF32, 3, 1, kMin),
             high = sbuf(DType::kF32, 3, 1, kMax);
  const float from[] = {-1, 1e6F, 0.1F}, to[] = {1, 1e6F + 1, 0.3F};
  m.fill(low, [&](int p, std::int64_t) { return from[p]; });
  m.fill(high, [&](int p, std::int64_t) { return to[p]; });
  m.run(insn(dst, low, high));
  for (int p = 0; p < 3; ++p) {
    double mean = 0;
    for (std::int64_t i = 0; i < 500; ++i) {
      ASSERT_GE(m.get(dst, p, i), from[p]);
      ASSERT_LE(m.get(dst, p, i), to[p]);
      mean += double{m.get(dst, p, i)} / 500;
    }
    // Four standard deviations of the mean: 4 * width / sqrt(12 * 500).
    const double width = double{to[p]} - double{from[p]};
    EXPECT_NEAR(mean, double{from[p]} + width / 2, 4 * width / std::sqrt(6000.0));
  }
}

TEST(Rand2, WalksEveryAccessPattern) {
  for (const Tile& dst : layouts(DType::kF32, 2, kDst, false, 0, Space::kPsum)) {
    TestMemory m;
    m.run(insn(dst));
    expect_tile(m, dst, [&](int p, std::int64_t i) { return uniform(p, i); });
  }
}

TEST(Rand2, RulesAndGenerations) {
  const Tile p = psum(DType::kBf16, 64, 32), v = sbuf(DType::kF32, 64, 1);
  EXPECT_THAT(rules(insn(p), trn1()), Contains("generation"));
  EXPECT_THAT(rules(insn(p), trn2()), Contains("generation"));
  EXPECT_THAT(rules(insn(p, v, v), trn3()), IsEmpty());
  for (const DType d : chip_dtypes()) {
    const Rand2 i = insn(sbuf(d, 64, 32));
    if (takes(d))
      EXPECT_THAT(rules(i, trn3()), IsEmpty()) << name(d);
    else
      expect_rule_everywhere(i, "operand-dtype");
  }
  expect_rule_everywhere(insn(p, 1.0F, 1.0F), "rand-range");
  expect_rule_everywhere(insn(p, 0.0F, kNan), "rand-range");
  expect_rule_everywhere(insn(p, sbuf(DType::kF32, 64, 2)), "per-partition-operand");
  expect_rule_everywhere(insn(p, 0.0F, sbuf(DType::kBf16, 64, 1)), "operand-dtype");
  expect_rule_everywhere(insn(hbm(DType::kF32, 64, 32, 32)), "operand-space");
  expect_rule_everywhere(insn(Tile{}), "operand-missing");
}

// A4: four 32-bit values a lane and cycle. trn1 and trn2 have no rand2 and no rate for it.
TEST(Rand2, Cost) {
  const auto cost = [](std::int64_t n) { return cycles(insn(sbuf(DType::kF32, 128, n)), trn3()); };
  EXPECT_EQ(cost(256), elementwise(64));
  EXPECT_EQ(cost(257), elementwise(65));
  EXPECT_EQ(cost(4096), elementwise(1024));
}

}  // namespace
}  // namespace krait::isa::testing
