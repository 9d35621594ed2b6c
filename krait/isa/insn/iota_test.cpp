#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

IotaPattern pattern(std::int32_t offset, std::int32_t multiplier, std::initializer_list<Dim> dims) {
  IotaPattern p;
  p.offset = offset, p.multiplier = multiplier, p.rank = static_cast<std::uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), p.dims.begin());
  return p;
}

TEST(Iota, IsAffineInPartitionAndPositionForEveryDtype) {
  for (const DType d : chip_dtypes()) {
    TestMemory m;
    const Tile dst = sbuf(d, 5, 24);
    m.run(Iota{.dst = dst, .pattern = pattern(-3, 7, {{100, 2}, {-10, 3}, {1, 4}})});
    expect_tile(m, dst, [](int p, std::int64_t i) {
      const std::int64_t expected = -3 + 7 * p + 100 * (i / 12) - 10 * (i / 4 % 3) + i % 4;
      return static_cast<float>(expected);
    });
  }
}

TEST(Iota, KeepsThirtyTwoBitIntegersExact) {
  TestMemory m;
  for (const DType d : {DType::kI32, DType::kU32}) {
    const Tile dst = sbuf(d, 2, 3);
    m.run(Iota{.dst = dst, .pattern = pattern(16777217, 1 << 24, {{1, 3}})});
    for (int p = 0; p < 2; ++p)
      for (std::int64_t i = 0; i < 3; ++i)
        EXPECT_EQ(m.bits(dst, p, i), static_cast<std::uint64_t>(16777217 + p * (1 << 24) + i))
            << name(d);
  }
  const Tile i32 = sbuf(DType::kI32, 1, 2), u32 = sbuf(DType::kU32, 1, 2);
  m.run(Iota{.dst = i32, .pattern = pattern(2147483647, 0, {{1, 2}})});
  EXPECT_EQ(m.bits(i32, 0, 1), 0x80000000U) << "32-bit arithmetic wraps";
  m.run(Iota{.dst = u32, .pattern = pattern(-5, 0, {{1, 2}})});
  EXPECT_EQ(m.bits(u32, 0, 0), 0U) << "negative values saturate, as in every conversion to u32";
}

TEST(Iota, WalksEveryAccessPattern) {
  for (const DType d : {DType::kI32, DType::kBf16})
    for (const Tile& dst : layouts(d, 2, 64, false)) {
      TestMemory m;
      m.run(Iota{.dst = dst, .pattern = pattern(1, 20, {{1, 12}})});
      expect_tile(m, dst, [](int p, std::int64_t i) { return static_cast<float>(1 + 20 * p + i); });
    }
}

TEST(Iota, Rules) {
  const Tile s = sbuf(DType::kI32, 64, 12);
  expect_legal_everywhere(Iota{.dst = s, .pattern = pattern(0, 0, {{4, 3}, {1, 4}})});
  expect_rule_everywhere(Iota{.dst = s, .pattern = pattern(0, 0, {{1, 11}})}, "iota-pattern");
  expect_rule_everywhere(Iota{.dst = s, .pattern = pattern(0, 0, {{1, -3}, {1, -4}})},
                         "iota-pattern");
  expect_rule_everywhere(Iota{.dst = s, .pattern = pattern(0, 0, {{std::int64_t{1} << 40, 12}})},
                         "iota-pattern");
  expect_rule_everywhere(
      Iota{.dst = s, .pattern = pattern(0, 0, {{1, std::int64_t{1} << 62}, {1, 4}})},
      "iota-pattern");
  IotaPattern deep = pattern(0, 0, {{1, 12}});
  deep.rank = 9;
  expect_rule_everywhere(Iota{.dst = s, .pattern = deep}, "iota-pattern");
  expect_rule_everywhere(
      Iota{.dst = psum(DType::kI32, 64, 12), .pattern = pattern(0, 0, {{1, 12}})}, "operand-space");
  expect_rule_everywhere(Iota{.pattern = pattern(0, 0, {{1, 1}})}, "operand-missing");
}

TEST(Iota, Cost) {  // ISA26: 150 + N GpSimd cycles
  for (const MachineSpec* m : machines())
    for (const std::int64_t n : {1, 64, 512})
      EXPECT_EQ(
          cycles(Iota{.dst = sbuf(DType::kI32, 128, n), .pattern = pattern(0, 1, {{1, n}})}, *m),
          kGpSimdStart + static_cast<double>(n));
}

}  // namespace
}  // namespace krait::isa::testing
