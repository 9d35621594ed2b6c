#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kData = 0, kDst = 8192;

BnAggr insn(const Tile& dst, const Tile& data) {
  return {.dst = dst, .data = data};
}

// Counts 1..4, means and sums of squares of size about 2.
void fill_triples(TestMemory& m, const Tile& data) {
  m.fill_random(data, 6, false);
  for (int p = 0; p < data.partitions; ++p)
    for (std::int64_t k = 0; k < data.free_size(); k += 3) {
      m.set(data, p, k, static_cast<float>(1 + (k / 3 + p) % 4));
      m.set(data, p, k + 2, std::fabs(m.get(data, p, k + 2)));
    }
}

float plain(TestMemory& m, const Tile& data, int p, std::int64_t which) {
  float n = 0, weighted = 0, squares = 0;
  const auto at = [&](std::int64_t k) { return m.get(data, p, k); };
  for (std::int64_t k = 0; k < data.free_size(); k += 3) {
    n += at(k);
    const float part = at(k) * at(k + 1);
    weighted += part;
  }
  const float mean = weighted / n;
  for (std::int64_t k = 0; k < data.free_size(); k += 3) {
    const float off = at(k + 1) - mean, square = off * off, between = at(k) * square,
                both = at(k + 2) + between;
    squares += both;
  }
  return which == 0 ? mean : squares / n;
}

TEST(BnAggr, MergesTriplesOfEveryDtype) {
  for (const DType in : chip_dtypes())
    for (const DType out : {DType::kF32, DType::kF16})
      for (const std::int64_t n : {3, 6, 39}) {
        TestMemory m;
        const Tile data = sbuf(in, 3, n, kData), dst = sbuf(out, 3, 2, kDst);
        fill_triples(m, data);
        m.run(insn(dst, data));
        expect_tile(
            m, dst, [&](int p, std::int64_t k) { return plain(m, data, p, k); },
            cat(name(in), " ", n));
      }
}

// Mean and variance of all elements, from two bn_stats over parts of different sizes. Values are
// about 2 and sums 200, so a hundred roundings of 2^-24 * 800 bound the error of either.
TEST(BnAggr, OfBnStatsIsMeanAndVarianceOfAllElements) {
  TestMemory m;
  const Tile all = sbuf(DType::kF32, 2, 101, kData), stats = sbuf(DType::kF32, 2, 12, 4096),
             dst = sbuf(DType::kF32, 2, 2, kDst);
  m.fill_random(all, 9, false);
  m.run(BnStats{.dst = sbuf(DType::kF32, 2, 6, 4096), .data = sbuf(DType::kF32, 2, 64, kData)});
  m.run(BnStats{.dst = sbuf(DType::kF32, 2, 6, 4096 + 24),
                .data = sbuf(DType::kF32, 2, 37, kData + 256)});
  m.run(insn(dst, stats));
  for (int p = 0; p < 2; ++p) {
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < 101; ++i) mean += double{m.get(all, p, i)} / 101;
    for (std::int64_t i = 0; i < 101; ++i)
      variance += std::pow(double{m.get(all, p, i)} - mean, 2) / 101;
    EXPECT_NEAR(m.get(dst, p, 0), mean, 101 * 0x1p-24 * 8);
    EXPECT_NEAR(m.get(dst, p, 1), variance, 101 * 0x1p-24 * 8);
  }
}

TEST(BnAggr, NothingCountedIsNan) {
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 1, 3, kData), dst = sbuf(DType::kF32, 1, 2, kDst);
  m.fill(data, [](int, std::int64_t) { return 0.0F; });
  m.run(insn(dst, data));
  EXPECT_TRUE(std::isnan(m.get(dst, 0, 0)));
  EXPECT_TRUE(std::isnan(m.get(dst, 0, 1)));
}

TEST(BnAggr, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& data : layouts(DType::kF32, 2, kData, false)) {
    TestMemory m;
    const Tile dst = tile(Space::kPsum, DType::kF32, 2, {{-5, 2}}, 64);
    fill_triples(m, data);
    m.run(insn(dst, data));
    expect_tile(m, dst, [&](int p, std::int64_t k) { return plain(m, data, p, k); });
  }
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 1, 6, kData), dst = sbuf(DType::kF32, 1, 2, kData);
  const float x[] = {1, 10, 0, 3, 2, 8};
  m.fill(data, [&](int, std::int64_t k) { return x[k]; });
  m.run(insn(dst, data));
  EXPECT_EQ(m.get(dst, 0, 0), 4);  // (10 + 3 * 2) / 4
  EXPECT_EQ(m.get(dst, 0, 1), (8 + 36 + 3 * 4) / 4.0F);
}

TEST(BnAggr, Rules) {
  const Tile dst = psum(DType::kF32, 64, 2);
  expect_legal_everywhere(insn(dst, sbuf(DType::kF32, 64, 12)));
  expect_rule_everywhere(insn(dst, sbuf(DType::kF32, 64, 13)), "bn-triples");
  expect_rule_everywhere(insn(sbuf(DType::kF32, 64, 3), sbuf(DType::kF32, 64, 12)), "bn-shape");
  expect_rule_everywhere(insn(dst, sbuf(DType::kF32, 32, 12)), "same-partitions");
  expect_rule_everywhere(insn(dst, hbm(DType::kF32, 64, 12, 12)), "operand-space");
  expect_rule_everywhere(insn(dst, Tile{}), "operand-missing");
}

TEST(BnAggr, Cost) {  // ISA26: max(MIN_II, 13 * (N/3))
  for (const MachineSpec* m : machines()) {
    const auto cost = [&](std::int64_t n) {
      return cycles(insn(sbuf(DType::kF32, 128, 2), sbuf(DType::kF32, 128, n)), *m);
    };
    EXPECT_EQ(cost(12), elementwise(64)) << "13 * 4 = 52";
    EXPECT_EQ(cost(15), elementwise(65)) << "13 * 5";
    EXPECT_EQ(cost(96), elementwise(13 * 32));
  }
}

}  // namespace
}  // namespace krait::isa::testing
