#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

TEST(Reciprocal, DividesInF32AndRoundsOnceForEveryDtype) {
  for (const DType in : chip_dtypes())
    for (const DType out : chip_dtypes()) {
      TestMemory m;
      const Tile data = sbuf(in, 3, 37), dst = sbuf(out, 3, 37, 8192);
      m.fill_random(data, 1);
      m.run(Reciprocal{.dst = dst, .data = data});
      expect_tile(m, dst, [&](int p, std::int64_t i) { return 1.0F / m.get(data, p, i); });
    }
}

TEST(Reciprocal, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& data : layouts(DType::kF16, 2, 0, true))
    for (const Tile& dst : layouts(DType::kF32, 2, 8192, false)) {
      TestMemory m;
      m.fill_random(data, 2);
      m.run(Reciprocal{.dst = dst, .data = data});
      expect_tile(m, dst, [&](int p, std::int64_t i) { return 1.0F / m.get(data, p, i); });
    }
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 1, 3);
  const float x[] = {-0.0F, kInf, 8};
  m.fill(t, [&](int, std::int64_t i) { return x[i]; });
  m.run(Reciprocal{.dst = t, .data = t});
  EXPECT_EQ(m.get(t, 0, 0), -kInf);
  EXPECT_EQ(m.get(t, 0, 1), 0);
  EXPECT_EQ(m.get(t, 0, 2), 0.125F);
}

TEST(Reciprocal, Rules) {
  const Tile s = sbuf(DType::kF32, 64, 32), p = psum(DType::kF32, 64, 32);
  expect_legal_everywhere(Reciprocal{.dst = s, .data = p});
  expect_legal_everywhere(Reciprocal{.dst = p, .data = p});
  expect_rule_everywhere(Reciprocal{.dst = s, .data = sbuf(DType::kF32, 64, 31)}, "same-free-size");
  expect_rule_everywhere(Reciprocal{.dst = s, .data = sbuf(DType::kF32, 63, 32)},
                         "same-partitions");
  expect_rule_everywhere(Reciprocal{.dst = s}, "operand-missing");
  expect_rule_everywhere(Reciprocal{.dst = hbm(DType::kF32, 64, 32, 32), .data = s},
                         "operand-space");
}

TEST(Reciprocal, CostsEightCyclesAnElement) {  // ISA26: max(MIN_II, 8N)
  for (const MachineSpec* m : machines()) {
    const auto cost = [&](std::int64_t n) {
      return cycles(
          Reciprocal{.dst = sbuf(DType::kBf16, 128, n), .data = sbuf(DType::kBf16, 128, n)}, *m);
    };
    EXPECT_EQ(cost(1), elementwise(64));
    EXPECT_EQ(cost(8), elementwise(64));
    EXPECT_EQ(cost(9), elementwise(72));
    EXPECT_EQ(cost(512), elementwise(4096));
  }
}

}  // namespace
}  // namespace krait::isa::testing
