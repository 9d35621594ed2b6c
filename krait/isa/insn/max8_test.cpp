#include <algorithm>

#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kSrc = 0, kDst = 8192;

Max8 insn(const Tile& dst, const Tile& src) {
  return {.dst = dst, .src = src};
}

// A stable sort in descending order, NaN last.
std::vector<float> sorted(TestMemory& m, const Tile& src, int p) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < src.free_size(); ++i) x.push_back(m.get(src, p, i));
  std::stable_sort(x.begin(), x.end(), [](float a, float b) {
    return std::isnan(b) ? !std::isnan(a) : !std::isnan(a) && a > b;
  });
  return x;
}

TEST(Max8, DescendsWithRepeatsForEveryDtypeAndSize) {
  for (const DType in : chip_dtypes())
    for (const DType out : {DType::kF32, DType::kBf16, DType::kI32})
      for (const std::int64_t n : {8, 9, 37, 200}) {
        TestMemory m;
        const Tile src = sbuf(in, 3, n, kSrc), dst = sbuf(out, 3, 8, kDst);
        m.fill_random(src, static_cast<std::uint64_t>(n));
        m.run(insn(dst, src));
        for (int p = 0; p < 3; ++p) {
          const auto want = sorted(m, src, p);
          for (std::int64_t j = 0; j < 8; ++j)
            ASSERT_TRUE(same(m.get(dst, p, j), round_to(out, want[static_cast<std::size_t>(j)])))
                << name(in) << " " << n << " " << j;
        }
      }
}

TEST(Max8, RepeatsAndSpecialValues) {
  TestMemory m;
  const Tile src = sbuf(DType::kF32, 1, 10, kSrc), dst = sbuf(DType::kF32, 1, 8, kDst);
  const float x[] = {kNan, 2, kInf, 2, -kInf, 2, kNan, -0.0F, 0, 7};
  m.fill(src, [&](int, std::int64_t i) { return x[i]; });
  m.run(insn(dst, src));
  const float want[] = {kInf, 7, 2, 2, 2, -0.0F, 0, -kInf};
  expect_tile(m, dst, [&](int, std::int64_t j) { return want[j]; });
}

TEST(Max8, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& src : layouts(DType::kF16, 2, kSrc, true)) {
    TestMemory m;
    const Tile dst = tile(Space::kPsum, DType::kF32, 2, {{20, 2}, {-3, 4}}, 64);
    m.fill_random(src, 4);
    m.run(insn(dst, src));
    for (int p = 0; p < 2; ++p) {
      const auto want = sorted(m, src, p);
      for (std::int64_t j = 0; j < 8; ++j)
        ASSERT_TRUE(same(m.get(dst, p, j), want[static_cast<std::size_t>(j)])) << to_string(src);
    }
  }
  TestMemory m;
  const Tile t = sbuf(DType::kF32, 1, 8, kSrc);
  m.fill(t, [](int, std::int64_t i) { return static_cast<float>(i); });
  m.run(insn(t, t));
  expect_tile(m, t, [](int, std::int64_t i) { return static_cast<float>(7 - i); });
}

TEST(Max8, Rules) {
  const Tile dst = sbuf(DType::kF32, 64, 8), src = psum(DType::kF32, 64, 32);
  expect_legal_everywhere(insn(dst, src));
  expect_legal_everywhere(insn(dst, sbuf(DType::kF32, 64, 8)));
  expect_legal_everywhere(insn(dst, sbuf(DType::kF32, 64, 16384)));
  expect_rule_everywhere(insn(dst, sbuf(DType::kF32, 64, 7)), "search-size");
  expect_rule_everywhere(insn(dst, sbuf(DType::kF32, 64, 16385)), "search-size");
  expect_rule_everywhere(insn(sbuf(DType::kF32, 64, 9), src), "eight-elements");
  expect_rule_everywhere(insn(sbuf(DType::kF32, 32, 8), src), "same-partitions");
  expect_rule_everywhere(insn(dst, hbm(DType::kF32, 64, 32, 32)), "operand-space");
  expect_rule_everywhere(insn(dst, Tile{}), "operand-missing");
}

TEST(Max8, Cost) {  // ISA26: N
  for (const MachineSpec* m : machines())
    for (const DType d : {DType::kF32, DType::kBf16}) {
      const auto cost = [&](std::int64_t n) {
        return cycles(insn(sbuf(d, 128, 8), sbuf(d, 128, n)), *m);
      };
      EXPECT_EQ(cost(64), elementwise(64));
      EXPECT_EQ(cost(65), elementwise(65));
      EXPECT_EQ(cost(4096), elementwise(4096));
    }
}

}  // namespace
}  // namespace krait::isa::testing
