#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kData = 0, kDst = 8192;

BnStats insn(const Tile& dst, const Tile& data) {
  return {.dst = dst, .data = data};
}

// Element k of the six, in f32, sums in order.
float plain(TestMemory& m, const Tile& data, int p, std::int64_t k) {
  float n = 0, sum = 0, squares = 0;
  for (std::int64_t i = k / 3; i < data.free_size(); i += 2) n += 1, sum += m.get(data, p, i);
  const float mean = n == 0 ? 0 : sum / n;
  for (std::int64_t i = k / 3; i < data.free_size(); i += 2) {
    const float off = m.get(data, p, i) - mean;
    squares += off * off;
  }
  return k % 3 == 0 ? n : k % 3 == 1 ? mean : squares;
}

TEST(BnStats, EvenAndOddElementsForEveryDtypeAndSize) {
  for (const DType in : chip_dtypes())
    for (const DType out : {DType::kF32, DType::kBf16})
      for (const std::int64_t n : {1, 2, 3, 37, 512}) {
        TestMemory m;
        const Tile data = sbuf(in, 3, n, kData), dst = sbuf(out, 3, 6, kDst);
        m.fill_random(data, static_cast<std::uint64_t>(n), false);
        m.run(insn(dst, data));
        expect_tile(
            m, dst, [&](int p, std::int64_t k) { return plain(m, data, p, k); },
            cat(name(in), " ", n));
      }
}

// Against f64: each of 256 additions may err by half a unit of its sum, 2^-24 of at most about 600.
TEST(BnStats, AgreesWithTheDefinitionInF64) {
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 4, 512, kData), dst = sbuf(DType::kF32, 4, 6, kDst);
  m.fill_random(data, 1, false);
  m.run(insn(dst, data));
  for (int p = 0; p < 4; ++p)
    for (std::int64_t odd = 0; odd < 2; ++odd) {
      double mean = 0, squares = 0;
      for (std::int64_t i = odd; i < 512; i += 2) mean += double{m.get(data, p, i)} / 256;
      for (std::int64_t i = odd; i < 512; i += 2)
        squares += std::pow(double{m.get(data, p, i)} - mean, 2);
      EXPECT_EQ(m.get(dst, p, 3 * odd), 256);
      EXPECT_NEAR(m.get(dst, p, 3 * odd + 1), mean, 256 * 0x1p-24 * 600 / 256);
      EXPECT_NEAR(m.get(dst, p, 3 * odd + 2), squares, 256 * 0x1p-24 * squares);
    }
}

TEST(BnStats, SpecialValuesStayInTheirHalf) {
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 2, 4, kData), dst = sbuf(DType::kF32, 2, 6, kDst);
  m.fill(data, [](int p, std::int64_t i) { return i != 1 ? 2.0F : p == 0 ? kNan : kInf; });
  m.run(insn(dst, data));
  for (int p = 0; p < 2; ++p) {
    EXPECT_EQ(m.get(dst, p, 1), 2);
    EXPECT_EQ(m.get(dst, p, 2), 0);
    EXPECT_TRUE(std::isnan(m.get(dst, p, 5)));
  }
  EXPECT_TRUE(std::isnan(m.get(dst, 0, 4)));
  EXPECT_EQ(m.get(dst, 1, 4), kInf);
}

TEST(BnStats, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& data : layouts(DType::kBf16, 2, kData, true)) {
    TestMemory m;
    const Tile dst = tile(Space::kPsum, DType::kF32, 2, {{20, 2}, {-3, 3}}, 64);
    m.fill_random(data, 4, false);
    m.run(insn(dst, data));
    expect_tile(m, dst, [&](int p, std::int64_t k) { return plain(m, data, p, k); });
  }
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 1, 6, kData);
  m.fill(t, [](int, std::int64_t i) { return static_cast<float>(i); });
  m.run(insn(t, t));
  const float want[] = {3, 2, 8, 3, 3, 8};
  expect_tile(m, t, [&](int, std::int64_t k) { return want[k]; });
}

TEST(BnStats, Rules) {
  const Tile dst = psum(DType::kF32, 64, 6);
  expect_legal_everywhere(insn(dst, sbuf(DType::kBf16, 64, 512)));
  expect_rule_everywhere(insn(dst, sbuf(DType::kBf16, 64, 513)), "bn-size");
  expect_rule_everywhere(insn(sbuf(DType::kF32, 64, 5), sbuf(DType::kF32, 64, 32)), "bn-shape");
  expect_rule_everywhere(insn(dst, sbuf(DType::kF32, 32, 32)), "same-partitions");
  expect_rule_everywhere(insn(dst, hbm(DType::kF32, 64, 32, 32)), "operand-space");
  expect_rule_everywhere(insn(dst, Tile{}), "operand-missing");
}

TEST(BnStats, Cost) {  // ISA26: max(MIN_II, N)
  for (const MachineSpec* m : machines()) {
    const auto cost = [&](std::int64_t n) {
      return cycles(insn(sbuf(DType::kF32, 128, 6), sbuf(DType::kBf16, 128, n)), *m);
    };
    EXPECT_EQ(cost(64), elementwise(64));
    EXPECT_EQ(cost(65), elementwise(65));
    EXPECT_EQ(cost(512), elementwise(512));
  }
}

}  // namespace
}  // namespace krait::isa::testing
