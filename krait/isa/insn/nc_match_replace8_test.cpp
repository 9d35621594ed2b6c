#include "krait/isa/insn_testing.hpp"

namespace krait::isa::testing {
namespace {

constexpr std::int64_t kData = 0, kDst = 4096, kVals = 12288, kIdx = 12352;

NcMatchReplace8 insn(const Tile& dst, const Tile& data, const Tile& vals, const Tile& idx) {
  return {.dst = dst, .data = data, .vals = vals, .dst_idx = idx, .imm = -7};
}

struct Plain {
  std::vector<float> out;
  std::vector<std::int64_t> index = std::vector<std::int64_t>(8, -1);
};

// Crosses matched elements off a list, the last value of vals first.
Plain plain(TestMemory& m, const Tile& data, const Tile& vals, int p) {
  Plain r;
  std::vector<int> left;
  for (std::int64_t i = 0; i < data.free_size(); ++i) {
    r.out.push_back(m.get(data, p, i));
    left.push_back(1);
  }
  for (std::int64_t j = 7; j >= 0; --j)
    for (std::size_t i = 0; i < left.size(); ++i)
      if (left[i] != 0 && r.out[i] == m.get(vals, p, j)) {
        left[i] = 0, r.index[static_cast<std::size_t>(j)] = static_cast<std::int64_t>(i);
        break;
      }
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i] == 0) r.out[i] = -7;
  return r;
}

TEST(NcMatchReplace8, ReplacesForEveryDtypeAndSize) {
  for (const DType d : chip_dtypes())
    for (const DType index : {DType::kU16, DType::kU32})
      for (const std::int64_t n : {8, 37, 300}) {
        TestMemory m;
        const Tile data = sbuf(d, 3, n, kData), dst = sbuf(d, 3, n, kDst),
                   vals = sbuf(d, 3, 8, kVals), idx = sbuf(index, 3, 8, kIdx);
        m.fill_random(data, static_cast<std::uint64_t>(n));
        m.fill(vals, [&](int p, std::int64_t j) {
          return j % 3 == 2 ? 99.0F : m.get(data, p, (j * j + p) % n);
        });
        m.run(insn(dst, data, vals, idx));
        for (int p = 0; p < 3; ++p) {
          const Plain want = plain(m, data, vals, p);
          for (std::size_t i = 0; i < want.out.size(); ++i)
            ASSERT_TRUE(same(m.get(dst, p, static_cast<std::int64_t>(i)), round_to(d, want.out[i])))
                << name(d) << " " << i;
          for (std::size_t j = 0; j < 8; ++j)
            ASSERT_EQ(m.bits(idx, p, static_cast<std::int64_t>(j)),
                      (want.index[j] < 0 ? ~std::uint64_t{0}
                                         : static_cast<std::uint64_t>(want.index[j])) &
                          (index == DType::kU16 ? 0xFFFFU : 0xFFFFFFFFU))
                << name(d) << " " << n << " " << j;
        }
      }
}

// The manual's example: duplicates are matched in the opposite order to nc_find_index8.
TEST(NcMatchReplace8, DuplicatesAreMatchedFromTheLastOn) {
  TestMemory m;
  const Tile data = sbuf(DType::kF32, 1, 11, kData), dst = sbuf(DType::kF32, 1, 11, kDst),
             vals = sbuf(DType::kF32, 1, 8, kVals), idx = sbuf(DType::kU32, 1, 8, kIdx);
  m.fill(data, [](int, std::int64_t i) { return i < 4 ? static_cast<float>(i + 1) : 8.0F; });
  m.fill(vals, [](int, std::int64_t j) { return j == 0 ? 3.0F : 8.0F; });
  m.run(insn(dst, data, vals, idx));
  const std::uint64_t want[] = {2, 10, 9, 8, 7, 6, 5, 4};
  for (std::int64_t j = 0; j < 8; ++j) EXPECT_EQ(m.bits(idx, 0, j), want[j]);
  expect_tile(m, dst, [](int, std::int64_t i) {
    return i == 0 ? 1.0F : i == 1 ? 2.0F : i == 3 ? 4.0F : -7.0F;
  });
}

TEST(NcMatchReplace8, KeepsEveryBitAndNeverMatchesTheConstantItWrote) {
  TestMemory m;
  const Tile data = sbuf(DType::kBf16, 1, 8, kData), dst = sbuf(DType::kBf16, 1, 8, kDst),
             vals = sbuf(DType::kF32, 1, 8, kVals), idx = sbuf(DType::kU32, 1, 8, kIdx);
  for (std::int64_t i = 0; i < 8; ++i) m.set_bits(data, 0, i, 0x7F81 + (i % 3));  // NaN payloads
  m.set(data, 0, 5, 1);
  m.fill(vals, [](int, std::int64_t j) { return j == 7 ? 1.0F : j == 3 ? -7.0F : kNan; });
  m.run(insn(dst, data, vals, idx));
  for (std::int64_t i = 0; i < 8; ++i)
    if (i != 5) {
      EXPECT_EQ(m.bits(dst, 0, i), m.bits(data, 0, i));
    }
  EXPECT_EQ(m.get(dst, 0, 5), -7);
  EXPECT_EQ(m.bits(idx, 0, 7), 5U);
  EXPECT_EQ(m.bits(idx, 0, 3), 0xFFFFFFFFU) << "-7 was not in data";
}

TEST(NcMatchReplace8, WalksEveryAccessPatternAndInPlaceWithoutIndices) {
  for (const Tile& data : layouts(DType::kF16, 2, kData, true))
    for (const Tile& dst : layouts(DType::kF16, 2, kDst, false)) {
      TestMemory m;
      const Tile vals = psum(DType::kF32, 2, 8);
      m.fill_random(data, 3, false);
      m.fill(vals, [&](int p, std::int64_t j) { return m.get(data, p, j); });
      m.run(insn(dst, data, vals, Tile{}));
      for (int p = 0; p < 2; ++p) {
        const Plain want = plain(m, data, vals, p);
        for (std::int64_t i = 0; i < 12; ++i)
          ASSERT_EQ(m.get(dst, p, i), want.out[static_cast<std::size_t>(i)]) << to_string(dst);
      }
    }
  TestMemory m;
  const Tile t = sbuf(DType::kI32, 1, 9, kData), vals = sbuf(DType::kF32, 1, 8, kVals);
  m.fill(t, [](int, std::int64_t i) { return static_cast<float>(i); });
  m.set_bits(t, 0, 8, 16777217);  // not an f32
  m.fill(vals, [](int, std::int64_t j) { return static_cast<float>(j); });
  m.run(insn(t, t, vals, Tile{}));
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(m.get(t, 0, i), -7);
  EXPECT_EQ(m.bits(t, 0, 8), 16777217U);
}

TEST(NcMatchReplace8, Rules) {
  using T = NcMatchReplace8;
  const T good = insn(psum(DType::kF32, 64, 32), sbuf(DType::kF32, 64, 32),
                      psum(DType::kBf16, 64, 8), sbuf(DType::kU16, 64, 8));
  expect_legal_everywhere(good);
  const auto with = [&](auto change) {
    T i = good;
    change(i);
    return i;
  };
  expect_legal_everywhere(with([](T& i) { i.dst_idx = Tile{}; }));
  expect_rule_everywhere(with([](T& i) { i.vals = Tile{}; }), "operand-missing");
  expect_rule_everywhere(with([](T& i) { i.data = hbm(DType::kF32, 64, 32, 32); }),
                         "operand-space");
  expect_rule_everywhere(with([](T& i) { i.dst_idx = hbm(DType::kU16, 64, 8, 8); }),
                         "operand-space");
  expect_rule_everywhere(with([](T& i) { i.dst.dtype = DType::kBf16; }), "same-dtype");
  expect_rule_everywhere(with([](T& i) { i.dst = sbuf(DType::kF32, 64, 31); }), "same-free-size");
  expect_rule_everywhere(with([](T& i) { i.vals.partitions = 32; }), "same-partitions");
  expect_rule_everywhere(with([](T& i) { i.dst_idx.partitions = 32; }), "same-partitions");
  expect_rule_everywhere(with([](T& i) { i.vals.dims[0].count = 7; }), "eight-elements");
  expect_rule_everywhere(with([](T& i) { i.dst_idx.dims[0].count = 9; }), "eight-elements");
  expect_rule_everywhere(with([](T& i) { i.dst_idx.dtype = DType::kI32; }), "operand-dtype");
  expect_rule_everywhere(with([](T& i) { i.data.dims[0].count = i.dst.dims[0].count = 7; }),
                         "search-size");
}

TEST(NcMatchReplace8, Cost) {  // ISA22: N
  for (const MachineSpec* m : machines()) {
    const auto cost = [&](std::int64_t n) {
      const Tile t = sbuf(DType::kF32, 128, n);
      return cycles(insn(t, t, sbuf(DType::kF32, 128, 8), sbuf(DType::kU32, 128, 8)), *m);
    };
    EXPECT_EQ(cost(64), elementwise(64));
    EXPECT_EQ(cost(65), elementwise(65));
    EXPECT_EQ(cost(4096), elementwise(4096));
  }
}

}  // namespace
}  // namespace krait::isa::testing
