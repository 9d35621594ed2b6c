#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kData = 0, kVals = 8192, kDst = 12288;

NcFindIndex8 insn(const Tile& dst, const Tile& data, const Tile& vals) {
  return {.dst = dst, .data = data, .vals = vals};
}

// All matches of each value, then one each for its occurrences in vals, in ascending order.
std::vector<std::int64_t> plain(TestMemory& m, const Tile& data, const Tile& vals, int p) {
  std::vector<std::int64_t> out;
  for (std::int64_t j = 0; j < 8; ++j) {
    const float v = m.get(vals, p, j);
    std::int64_t before = 0;
    for (std::int64_t k = 0; k < j; ++k) before += m.get(vals, p, k) == v;
    std::int64_t index = -1;
    for (std::int64_t i = 0; i < data.free_size() && index < 0; ++i)
      if (m.get(data, p, i) == v && before-- == 0) index = i;
    out.push_back(index);
  }
  return out;
}

TEST(NcFindIndex8, FindsFirstMatchesForEveryDtypeAndSize) {
  for (const DType in : chip_dtypes())
    for (const DType out : {DType::kU16, DType::kU32})
      for (const std::int64_t n : {8, 37, 300}) {
        TestMemory m;
        const Tile data = sbuf(in, 3, n, kData), vals = sbuf(in, 3, 8, kVals),
                   dst = sbuf(out, 3, 8, kDst);
        m.fill_random(data, static_cast<std::uint64_t>(n));
        m.fill(vals, [&](int p, std::int64_t j) {  // some of data's, and some that are not there
          return j % 3 == 2 ? 99.0F : m.get(data, p, (j * j + p) % n);
        });
        m.run(insn(dst, data, vals));
        const std::uint64_t none = out == DType::kU16 ? 0xFFFF : 0xFFFFFFFF;
        for (int p = 0; p < 3; ++p) {
          const auto want = plain(m, data, vals, p);
          for (std::size_t j = 0; j < 8; ++j)
            ASSERT_EQ(m.bits(dst, p, static_cast<std::int64_t>(j)),
                      want[j] < 0 ? none : static_cast<std::uint64_t>(want[j]))
                << name(in) << " " << n << " " << j;
        }
      }
}

TEST(NcFindIndex8, DuplicatesAdvanceAndMissingValuesGiveAllOnes) {
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 1, 11, kData), vals = sbuf(DType::kF32, 1, 8, kVals),
             dst = sbuf(DType::kU32, 1, 8, kDst);
  const float x[] = {1, 2, 3, 4, 8, 8, 8, 8, kNan, -0.0F, kInf};
  const float v[] = {3, 8, 8, 1, 8, kNan, 0, 3};
  m.fill(data, [&](int, std::int64_t i) { return x[i]; });
  m.fill(vals, [&](int, std::int64_t i) { return v[i]; });
  m.run(insn(dst, data, vals));
  const std::uint64_t want[] = {2, 4, 5, 0, 6, 0xFFFFFFFF, 9, 0xFFFFFFFF};
  for (std::int64_t j = 0; j < 8; ++j) EXPECT_EQ(m.bits(dst, 0, j), want[j]) << j;
}

TEST(NcFindIndex8, WalksEveryAccessPatternAndInPlace) {
  for (const Tile& data : layouts(DType::kBf16, 2, kData, true)) {
    TestMemory m;
    const Tile vals = stepped(sbuf(DType::kF32, 2, 8, kVals), 2),
               dst = tile(Space::kPsum, DType::kU16, 2, {{9, 2}, {-2, 4}}, 64);
    m.fill_random(data, 3, false);
    m.fill(vals, [&](int p, std::int64_t j) { return m.get(data, p, 11 - j); });
    m.run(insn(dst, data, vals));
    for (int p = 0; p < 2; ++p) {
      const auto want = plain(m, data, vals, p);
      for (std::int64_t j = 0; j < 8; ++j)
        ASSERT_EQ(m.get(dst, p, j), want[static_cast<std::size_t>(j)] < 0
                                        ? 65535.0F
                                        : static_cast<float>(want[static_cast<std::size_t>(j)]));
    }
  }
  TestMemory m;
  const Tile t = sbuf(DType::kU32, 1, 8, kData);
  m.fill(t, [](int, std::int64_t i) { return static_cast<float>(10 * i); });
  m.run(insn(t, t, t));
  expect_tile(m, t, [](int, std::int64_t i) { return static_cast<float>(i); });
}

TEST(NcFindIndex8, Rules) {
  const Tile dst = sbuf(DType::kU32, 64, 8), data = psum(DType::kF32, 64, 32),
             vals = psum(DType::kBf16, 64, 8);
  expect_legal_everywhere(insn(dst, data, vals));
  expect_legal_everywhere(insn(sbuf(DType::kU16, 64, 8), data, vals));
  expect_rule_everywhere(insn(sbuf(DType::kI32, 64, 8), data, vals), "operand-dtype");
  expect_rule_everywhere(insn(sbuf(DType::kU32, 64, 7), data, vals), "eight-elements");
  expect_rule_everywhere(insn(dst, data, sbuf(DType::kF32, 64, 9)), "eight-elements");
  expect_rule_everywhere(insn(dst, sbuf(DType::kF32, 64, 7), vals), "search-size");
  expect_rule_everywhere(insn(dst, sbuf(DType::kF32, 64, 16385), vals), "search-size");
  expect_rule_everywhere(insn(dst, data, sbuf(DType::kF32, 32, 8)), "same-partitions");
  expect_rule_everywhere(insn(dst, hbm(DType::kF32, 64, 32, 32), vals), "operand-space");
  expect_rule_everywhere(insn(dst, data, Tile{}), "operand-missing");
}

TEST(NcFindIndex8, Cost) {  // ISA26: N
  for (const MachineSpec* m : machines()) {
    const auto cost = [&](std::int64_t n) {
      return cycles(
          insn(sbuf(DType::kU32, 128, 8), sbuf(DType::kBf16, 128, n), sbuf(DType::kBf16, 128, 8)),
          *m);
    };
    EXPECT_EQ(cost(64), elementwise(64));
    EXPECT_EQ(cost(65), elementwise(65));
    EXPECT_EQ(cost(4096), elementwise(4096));
  }
}

}  // namespace
}  // namespace krait::isa::testing
